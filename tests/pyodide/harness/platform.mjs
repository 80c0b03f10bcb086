// The platform's objects as a Worker sees them, over a real D1, KV, R2 and Queue that another process
// runs, and stand-ins for Vectorize and Workers AI, which there are nowhere but on the platform, and
// for static assets.
//
// The SDK knows a binding by the name of its class, so these have the names of the platform's own.
// A call is one request to `tests/d1/bridge.mjs`, where Miniflare does the work; what the platform
// refuses before sending is refused here in the same words. Any call can be told to fail.

import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { Ai } from "./models.mjs";
import { VectorizeIndexImpl } from "./vectors.mjs";

// The bridge ends a connection that was idle for five seconds, and Python may keep this process busy
// for as long: a kept connection could be gone by the time it is used again.
const FRESH = { connection: "close" };

const encoded = (value) => {
  if (value instanceof ArrayBuffer) value = new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return { base64: Buffer.from(value).toString("base64") };
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported for value '${value}'`);
};

/**
 * Counts the calls of each kind of binding, and makes those fail that are told to.
 *
 * A plan is {kind: {at: [n, …], text, isDone}}: which calls since the plan was made (every one
 * without `at`), with which words, and whether the platform has done the work all the same.
 */
export class Faults {
  #plan = {};
  counts = { d1: 0, kv: 0, queue: 0, vectors: 0, ai: 0, r2: 0, assets: 0 };

  set plan(plan) {
    this.#plan = plan;
    for (const kind of Object.keys(this.counts)) this.counts[kind] = 0;
  }

  async pass(kind, work) {
    this.counts[kind] += 1;
    const planned = this.#plan[kind];
    const isHit = planned !== undefined && (planned.at?.includes(this.counts[kind]) ?? true);
    if (!isHit) return work();
    if (planned.isDone) await work();
    throw new Error(planned.text);
  }
}

/**
 * Counts the statements of one request, as its session sends them, or of one event of the queue or the
 * schedule; keeps the most that any has sent.
 */
export class Meter {
  most = 0;
  #event = null;

  begin() {
    this.#event = { statements: 0 };
  }

  end() {
    this.#event = null;
  }

  add(own, statements) {
    const counted = this.#event ?? own;
    counted.statements += statements;
    this.most = Math.max(this.most, counted.statements);
  }
}

/** Calls the bridge, and counts the calls. */
class Wires {
  meter = new Meter();

  constructor(url) {
    this.url = url;
    this.faults = new Faults();
    this.counts = this.faults.counts;
  }

  pass(kind, work) {
    return this.faults.pass(kind, work);
  }

  call(kind, path, body) {
    return this.pass(kind, () => this.ask(path, body));
  }

  async ask(path, body) {
    const answer = await fetch(new URL(path, this.url), {
      method: "POST",
      headers: FRESH,
      body: JSON.stringify(body),
    });
    const found = await answer.json();
    if (found.error !== undefined) throw new Error(found.error);
    return found;
  }
}

export class D1PreparedStatement {
  constructor(sql, params = []) {
    this.sql = sql;
    this.params = params;
  }

  bind(...params) {
    return new D1PreparedStatement(this.sql, params.map(encoded));
  }
}

export class D1DatabaseSession {
  #wires;
  #database;
  #bookmark;
  #isUsed = false;
  #sent = { statements: 0 };

  constructor(wires, database, bookmark) {
    this.#wires = wires;
    this.#database = database;
    this.#bookmark = bookmark;
  }

  prepare(sql) {
    return new D1PreparedStatement(sql);
  }

  async batch(statements) {
    this.#wires.meter.add(this.#sent, statements.length);
    const found = await this.#wires.call("d1", "/", {
      database: this.#database,
      bookmark: this.#bookmark,
      statements: statements.map(({ sql, params }) => [sql, params]),
    });
    this.#bookmark = found.bookmark;
    this.#isUsed = true;
    return found.outcomes.map(({ rows, changes, rows_read, rows_written }) => ({
      success: true,
      meta: { changes, rows_read, rows_written },
      results: rows,
    }));
  }

  getBookmark() {
    return this.#isUsed ? this.#bookmark : null;
  }
}

export class D1Database {
  #wires;
  #name;

  constructor(wires, name) {
    this.#wires = wires;
    this.#name = name;
  }

  withSession(bookmark) {
    return new D1DatabaseSession(this.#wires, this.#name, bookmark);
  }
}

export class KvNamespace {
  #wires;
  #name;

  constructor(wires, name) {
    this.#wires = wires;
    this.#name = name;
  }

  async #call(method, ...given) {
    const body = { namespace: this.#name, method, arguments: given };
    return (await this.#wires.call("kv", "/kv", body)).value;
  }

  get(key) {
    return this.#call("get", key);
  }

  put(key, value, options) {
    return this.#call("put", key, value, options);
  }

  delete(key) {
    return this.#call("delete", key);
  }
}

export class WorkerQueue {
  #wires;
  #name;

  constructor(wires, name) {
    this.#wires = wires;
    this.#name = name;
  }

  async sendBatch(messages) {
    const body = { queue: this.#name, messages: [...messages] };
    await this.#wires.call("queue", "/queue", body);
  }
}

export class R2Bucket {
  #wires;
  #name;

  constructor(wires, name) {
    this.#wires = wires;
    this.#name = name;
  }

  #call(method, given, body) {
    return this.#wires.pass("r2", () => this.#ask(method, given, body));
  }

  async #ask(method, given, body) {
    const call = JSON.stringify({ bucket: this.#name, method, ...given });
    const answer = await fetch(new URL("/r2", this.#wires.url), {
      method: "POST",
      // A header holds no more than Latin.
      headers: { ...FRESH, "x-call": call.replace(/[^\x20-\x7e]/g, escapedUnit) },
      body,
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer;
  }

  async put(key, value, options) {
    await this.#call("put", { key, ...options }, value);
  }

  async get(key) {
    const found = await this.#call("get", { key });
    return found.status === 204 ? null : found;
  }

  async delete(keys) {
    await this.#call("delete", {}, JSON.stringify([...keys]));
  }

  /** Every key, for a test to see. */
  async keys() {
    return (await (await this.#ask("list")).json()).value;
  }
}

const escapedUnit = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

const MEDIA_TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Static assets of a folder, with HTML handling off and nothing in place of what is not there. */
export class Fetcher {
  #faults;
  #folder;

  constructor(faults, folder) {
    this.#faults = faults;
    this.#folder = folder;
  }

  fetch(address) {
    return this.#faults.pass("assets", async () => {
      // As an address it has lost whatever led upwards.
      const path = decodeURIComponent(new URL(address).pathname);
      try {
        const body = await readFile(join(this.#folder, path));
        const type = MEDIA_TYPES[extname(path)];
        return new Response(body, { headers: type === undefined ? {} : { "content-type": type } });
      } catch {
        return new Response(null, { status: 404 });
      }
    });
  }
}

/** What a handler is given besides its event; `settle` waits for all work that it registered. */
export class ExecutionContext {
  #promises = [];

  get [Symbol.toStringTag]() {
    return "ExecutionContext";
  }

  waitUntil(promise) {
    this.#promises.push(promise);
  }

  async settle() {
    while (this.#promises.length > 0) await this.#promises.shift();
  }
}

/**
 * The bindings of one Worker: `given` is {url, database, namespace, bucket, queue, panel, hasModels,
 * variables}; `panel` is the folder of the panel's files.
 *
 * What is not named is not bound.
 */
export const bindings = (given) => {
  const { url, database, namespace, bucket, queue, panel, hasModels, variables } = given;
  const wires = new Wires(url);
  const env = {
    ...variables,
    DB: new D1Database(wires, database),
    KV: new KvNamespace(wires, namespace),
  };
  if (queue !== undefined) env.JOBS = new WorkerQueue(wires, queue);
  if (bucket !== undefined) env.ARTIFACTS = new R2Bucket(wires, bucket);
  if (panel !== undefined) env.ASSETS = new Fetcher(wires.faults, panel);
  if (hasModels) {
    env.AI = new Ai(wires.faults);
    env.VECTORS = new VectorizeIndexImpl(wires.faults);
  }
  return { env, wires };
};
