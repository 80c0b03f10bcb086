// Starts a real D1, KV, R2 and Queues (Miniflare, workerd) on loopback for the tests, and ends with
// its standard input.
//
// Prints one line of JSON, {"url": …}, when it is ready. Databases are named db0, db1, …, namespaces
// kv0, kv1, …, buckets r20, r21, …, and queues queue0, queue1, …; each is empty at first. A queue's consumer only keeps
// what the platform delivers to it, for a test to fetch. Not a server for anything but tests.

import { Miniflare } from "miniflare";

// 200 declared databases cost 0.4 s at the start; the client starts a new process after the last.
const DATABASES = 200;

// Runs inside workerd. One request is one call: POST / {database, bookmark, statements},
// POST /kv {namespace, method, arguments}, POST /r2 whose header x-call is {bucket, method, key, sha256}
// and whose body are the bytes to put or the keys to delete, or POST /queue {queue, messages}, which sends a batch, or
// without messages gives what has been delivered since the last time, which is all that was sent: a
// delay that the platform takes is over at once, and one that it does not take is sent to it.
const script = `
const sent = {};
const delivered = {};

const withoutDelay = (message) => {
  const { delaySeconds: delay } = message;
  const isTaken = Number.isInteger(delay) && delay >= 0 && delay <= 86_400;
  return isTaken ? { ...message, delaySeconds: 0 } : message;
};

const callQueue = async (env, { queue, messages }) => {
  if (messages !== undefined) {
    await env[queue].sendBatch(messages.map(withoutDelay));
    sent[queue] = (sent[queue] ?? 0) + messages.length;
    return null;
  }
  for (let waits = 0; waits < 12_000; waits += 1) {
    const found = delivered[queue] ?? [];
    if (found.length >= (sent[queue] ?? 0)) {
      sent[queue] = 0;
      delivered[queue] = [];
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the queue did not deliver what was sent");
};

const callBucket = async (env, request) => {
  const { bucket, method, key, sha256 } = JSON.parse(request.headers.get("x-call"));
  const held = env[bucket];
  if (method === "get") {
    const found = await held.get(key);
    return found === null ? new Response(null, { status: 204 }) : new Response(found.body);
  }
  if (method === "put") await held.put(key, await request.arrayBuffer(), { sha256 });
  if (method === "delete") await held.delete(await request.json());
  const listed = method === "list" ? (await held.list()).objects.map((one) => one.key) : null;
  return Response.json({ value: listed });
};

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
    if (new URL(request.url).pathname === "/r2") {
      try {
        return await callBucket(env, request);
      } catch (error) {
        return Response.json({ error: String(error?.message ?? error) }, { status: 500 });
      }
    }
    if (new URL(request.url).pathname === "/queue") {
      try {
        return Response.json({ value: await callQueue(env, await request.json()) });
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

  async queue(batch) {
    const told = batch.messages.map(({ id, timestamp, body, attempts }) => ({
      id,
      timestamp: timestamp.getTime(),
      body,
      attempts,
    }));
    delivered[batch.queue] = [...(delivered[batch.queue] ?? []), ...told];
  },
};`;

const NAMESPACES = 50;
const BUCKETS = 40;
const QUEUES = 12;

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
  r2Buckets: named("r2", BUCKETS),
  d1Persist: false,
  queueProducers: named("queue", QUEUES),
  queueConsumers: Object.fromEntries(
    Object.keys(named("queue", QUEUES)).map((name) => [
      name,
      { maxBatchSize: 100, maxBatchTimeout: 0 },
    ]),
  ),
});

const url = await miniflare.ready;
const stock = { databases: DATABASES, namespaces: NAMESPACES, buckets: BUCKETS, queues: QUEUES };
process.stdout.write(`${JSON.stringify({ url: url.href, ...stock })}\n`);

process.stdin.resume();
process.stdin.on("end", async () => {
  await miniflare.dispose();
  process.exit(0);
});
