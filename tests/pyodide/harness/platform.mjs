// The platform's objects as a Worker sees them, over a real D1 and KV that another process runs.
//
// The SDK knows a binding by the name of its class, so these have the names of the platform's own.
// A call is one request to `tests/d1/bridge.mjs`, where Miniflare's D1 or KV does the work; what the
// platform refuses before sending is refused here in the same words.

const encoded = (value) => {
  if (value instanceof ArrayBuffer) value = new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return { base64: Buffer.from(value).toString("base64") };
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported for value '${value}'`);
};

/** Calls the bridge, and counts the calls. */
class Wires {
  constructor(url) {
    this.url = url;
    this.counts = { d1: 0, kv: 0 };
  }

  async call(kind, path, body) {
    this.counts[kind] += 1;
    const answer = await fetch(new URL(path, this.url), {
      method: "POST",
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

  constructor(wires, database, bookmark) {
    this.#wires = wires;
    this.#database = database;
    this.#bookmark = bookmark;
  }

  prepare(sql) {
    return new D1PreparedStatement(sql);
  }

  async batch(statements) {
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

/** The bindings of one Worker: `given` is {url, database, namespace, variables}. */
export const bindings = ({ url, database, namespace, variables }) => {
  const wires = new Wires(url);
  const env = {
    ...variables,
    DB: new D1Database(wires, database),
    KV: new KvNamespace(wires, namespace),
  };
  return { env, wires };
};
