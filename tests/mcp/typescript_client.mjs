// Connects an official TypeScript client, lists the tools, makes one call that works and one that
// fails, and prints what came back: node typescript_client.mjs PACKAGE URL CALL-AS-JSON
const [generation, url, text] = process.argv.slice(2);
const { headers, name, good, bad } = JSON.parse(text);

const sdk =
  generation === "v1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");

const options = generation === "v2-modern" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new sdk.Client({ name: "typescript-check", version: "1.0.0" }, options);
await client.connect(
  new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
const { tools } = await client.listTools();
const worked = await client.callTool({ name, arguments: good });
const failed = await client.callTool({ name, arguments: bad });
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), worked, failed }));
