// Starts a real D1 (Miniflare, workerd) on loopback for the tests and ends with its standard input.
//
// Prints one line of JSON, {"url": …}, when it is ready. Databases are named db0, db1, …; each is
// empty until its first statement. Not a server for anything but tests.

import { Miniflare } from "miniflare";

// 200 declared databases cost 0.4 s at the start; the client starts a new process after the last.
const DATABASES = 200;

// Runs inside workerd. One request is one D1 call: POST {database, bookmark, statements}.
const script = `
const decoded = (value) =>
  value !== null && typeof value === "object"
    ? Uint8Array.from(atob(value.base64), (sign) => sign.charCodeAt(0))
    : value;

export default {
  async fetch(request, env) {
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

const names = Array.from({ length: DATABASES }, (_, index) => `db${index}`);
const miniflare = new Miniflare({
  script,
  modules: true,
  compatibilityDate: "2026-04-01",
  host: "127.0.0.1",
  port: 0,
  d1Databases: Object.fromEntries(names.map((name) => [name, name])),
  d1Persist: false,
});

const url = await miniflare.ready;
process.stdout.write(`${JSON.stringify({ url: url.href, databases: DATABASES })}\n`);

process.stdin.resume();
process.stdin.on("end", async () => {
  await miniflare.dispose();
  process.exit(0);
});
