// Starts a real D1 and a real KV (Miniflare, workerd) on loopback for the tests, and ends with its
// standard input.
//
// Prints one line of JSON, {"url": …}, when it is ready. Databases are named db0, db1, …, and
// namespaces kv0, kv1, …; each is empty at first. Not a server for anything but tests.

import { Miniflare } from "miniflare";

// 200 declared databases cost 0.4 s at the start; the client starts a new process after the last.
const DATABASES = 200;

// Runs inside workerd. One request is one call: POST / {database, bookmark, statements}, or
// POST /kv {namespace, method, arguments}.
const script = `
const decoded = (value) =>
  value !== null && typeof value === "object"
    ? Uint8Array.from(atob(value.base64), (sign) => sign.charCodeAt(0))
    : value;

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/kv") {
      const { namespace, method, arguments: given } = await request.json();
      try {
        return Response.json({ value: (await env[namespace][method](...given)) ?? null });
      } catch (error) {
        return Response.json({ error: String(error?.message ?? error) });
      }
    }
    const { database, bookmark, statements } = await request.json();
    try {
      const binding = env[database];
      const caller = bookmark === undefined ? binding : binding.withSession(bookmark ?? "first-primary");
      const prepared = statements.map(([sql, params]) =>
        caller.prepare(sql).bind(...params.map(decoded)),
      );
      const results = await caller.batch(prepared);
      return Response.json({
        outcomes: results.map(({ results, meta }) => ({
          rows: results,
          changes: meta.changes,
          rows_read: meta.rows_read,
          rows_written: meta.rows_written,
        })),
        bookmark: bookmark === undefined ? null : caller.getBookmark(),
      });
    } catch (error) {
      return Response.json({ error: String(error?.message ?? error) });
    }
  },
};`;

const NAMESPACES = 50;

const named = (prefix, count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [prefix + index, prefix + index]));
const miniflare = new Miniflare({
  script,
  modules: true,
  compatibilityDate: "2026-04-01",
  host: "127.0.0.1",
  port: 0,
  d1Databases: named("db", DATABASES),
  kvNamespaces: named("kv", NAMESPACES),
  d1Persist: false,
});

const url = await miniflare.ready;
process.stdout.write(`${JSON.stringify({ url: url.href, databases: DATABASES, namespaces: NAMESPACES })}\n`);

process.stdin.resume();
process.stdin.on("end", async () => {
  await miniflare.dispose();
  process.exit(0);
});
