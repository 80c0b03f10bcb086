// Plays a day's session with an official TypeScript client and prints what was listed and answered:
// node product_session.mjs GENERATION PLACE STEPS (both JSON)
// PLACE is {url, headers} or {command, args, env}; a text "$name/a/0/b" in the arguments of a step
// stands for what an earlier step answered there.
const [generation, placeText, stepsText] = process.argv.slice(2);
const place = JSON.parse(placeText);

const sdk =
  generation === "v1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
        ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
      }
    : {
        ...(await import("@modelcontextprotocol/client")),
        ...(await import("@modelcontextprotocol/client/stdio")),
      };

const transport = place.url
  ? new sdk.StreamableHTTPClientTransport(new URL(place.url), {
      requestInit: { headers: place.headers },
    })
  : new sdk.StdioClientTransport({ ...place, stderr: "inherit" });
const options = generation === "v2-modern" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new sdk.Client({ name: "day-session", version: "1.0.0" }, options);
await client.connect(transport);

const answers = {};
const resolve = (value) => {
  if (Array.isArray(value)) return value.map(resolve);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
  }
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  return String(value.slice(1).split("/").reduce((found, key) => found[key], answers));
};

const { tools, nextCursor } = await client.listTools();
if (nextCursor) throw new Error("the tools come on more than one page");
for (const step of JSON.parse(stepsText)) {
  const call = { name: step.tool, arguments: resolve(step.arguments) };
  answers[step.name] = (await client.callTool(call)).structuredContent;
}
await client.close();
console.log(JSON.stringify({ tools, answers }));
