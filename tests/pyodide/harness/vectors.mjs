// A stand-in for Vectorize, which nothing but the platform runs: its limits and its weaknesses.
//
// A write is seen after `lagMs` (null: only once `settle` is called). Only properties with a metadata
// index can be filtered by. Source of the limits: developers.cloudflare.com/vectorize, 2026-11.

const DIMENSIONS = 768;
const INDEXED = new Set(["kind", "project"]);
const ID_BYTES_MAX = 64;
const NAMESPACE_BYTES_MAX = 64;
const INDEXED_BYTES_MAX = 64;
const METADATA_BYTES_MAX = 10_240;
const WRITTEN_MAX = 1_000;
const DELETED_MAX = 100;
const READ_MAX = 20;
const TOP_MAX = 100;
const TOP_MAX_WITH_DETAILS = 20;

const bytesOf = (text) => new TextEncoder().encode(text);
const refuse = (code, words) => {
  throw new Error(`VECTOR_ERROR (code = ${code}): ${words}`);
};

const checkId = (id) => {
  const size = typeof id === "string" ? bytesOf(id).length : 0;
  if (size < 1 || size > ID_BYTES_MAX) refuse(40008, `id is too long; max is ${ID_BYTES_MAX} bytes`);
};

const checkValues = (values, dimensions) => {
  if (!Array.isArray(values) || values.length !== dimensions) {
    refuse(40012, `expected ${dimensions} dimensions, and got ${values?.length} dimensions`);
  }
  if (!values.every(Number.isFinite)) refuse(40012, "a value is not a finite number");
};

const checkCount = (given, most) => {
  if (!Array.isArray(given) || given.length < 1) refuse(40007, "nothing was given");
  if (given.length > most) refuse(40007, `too many: ${given.length}; max is ${most}`);
};

const checkVector = ({ id, values, namespace = "", metadata = {} }, dimensions) => {
  checkId(id);
  checkValues(values, dimensions);
  if (bytesOf(namespace).length > NAMESPACE_BYTES_MAX) refuse(40013, "namespace is too long");
  if (bytesOf(JSON.stringify(metadata)).length > METADATA_BYTES_MAX) {
    refuse(40014, "metadata is too large");
  }
};

// A text is indexed by its first bytes alone.
const indexed = (value) =>
  typeof value === "string" ? String(bytesOf(value).slice(0, INDEXED_BYTES_MAX)) : value;

const OPERATORS = {
  $eq: (found, given) => found === indexed(given),
  $ne: (found, given) => found !== indexed(given),
  $in: (found, given) => given.map(indexed).includes(found),
  $nin: (found, given) => !given.map(indexed).includes(found),
};

const passes = (metadata, filter) =>
  Object.entries(filter).every(([name, wanted]) => {
    if (!INDEXED.has(name)) refuse(40026, `no metadata index for ${name}`);
    const rules = wanted !== null && typeof wanted === "object" ? wanted : { $eq: wanted };
    return Object.entries(rules).every(([operator, given]) => {
      if (!(operator in OPERATORS)) refuse(40026, `unknown operator ${operator}`);
      return OPERATORS[operator](indexed(metadata[name]), given);
    });
  });

const cosine = (one, other) => {
  let [product, first, second] = [0, 0, 0];
  for (let index = 0; index < one.length; index += 1) {
    product += one[index] * other[index];
    first += one[index] ** 2;
    second += other[index] ** 2;
  }
  return product / Math.sqrt(first * second || 1);
};

export class VectorizeIndexImpl {
  #faults;
  #dimensions;
  #visible = new Map();
  #pending = [];
  #mutations = 0;
  lagMs = 0;

  constructor(faults, dimensions = DIMENSIONS) {
    this.#faults = faults;
    this.#dimensions = dimensions;
  }

  /** How many vectors can be seen. */
  get size() {
    this.#catchUp();
    return this.#visible.size;
  }

  /** Makes every write visible. */
  settle() {
    for (const { apply } of this.#pending.splice(0)) apply();
  }

  upsert(vectors) {
    return this.#faults.pass("vectors", async () => {
      checkCount(vectors, WRITTEN_MAX);
      for (const vector of vectors) checkVector(vector, this.#dimensions);
      const kept = structuredClone(vectors);
      return this.#mutate(() => {
        for (const vector of kept) this.#visible.set(vector.id, vector);
      });
    });
  }

  deleteByIds(ids) {
    return this.#faults.pass("vectors", async () => {
      checkCount(ids, DELETED_MAX);
      ids.forEach(checkId);
      const kept = [...ids];
      return this.#mutate(() => {
        for (const id of kept) this.#visible.delete(id);
      });
    });
  }

  getByIds(ids) {
    return this.#faults.pass("vectors", async () => {
      checkCount(ids, READ_MAX);
      ids.forEach(checkId);
      this.#catchUp();
      const found = ids.filter((id) => this.#visible.has(id));
      return found.map((id) => structuredClone(this.#visible.get(id)));
    });
  }

  query(vector, options = {}) {
    return this.#faults.pass("vectors", async () => {
      const { topK = 5, namespace, filter = {}, returnValues, returnMetadata } = options;
      checkValues(vector, this.#dimensions);
      const hasDetails = returnValues === true || ![undefined, "none", false].includes(returnMetadata);
      const most = hasDetails ? TOP_MAX_WITH_DETAILS : TOP_MAX;
      if (!Number.isInteger(topK) || topK < 1 || topK > most) {
        refuse(40025, `top_k must be 1 to ${most}`);
      }
      passes({}, filter);
      this.#catchUp();
      const matches = [...this.#visible.values()]
        .filter((one) => namespace === undefined || one.namespace === namespace)
        .filter((one) => passes(one.metadata ?? {}, filter))
        .map((one) => ({ id: one.id, score: cosine(vector, one.values) }))
        .sort((one, other) => other.score - one.score)
        .slice(0, topK);
      return { count: matches.length, matches };
    });
  }

  describe() {
    return this.#faults.pass("vectors", async () => {
      this.#catchUp();
      return {
        dimensions: this.#dimensions,
        vectorCount: this.#visible.size,
        processedUpToDatetime: Date.now(),
        processedUpToMutation: this.#mutationId(this.#mutations - this.#pending.length),
      };
    });
  }

  #mutate(apply) {
    this.#mutations += 1;
    const atMs = this.lagMs === null ? Infinity : Date.now() + this.lagMs;
    this.#pending.push({ atMs, apply });
    return { mutationId: this.#mutationId(this.#mutations) };
  }

  // One after another: what came later is not seen earlier.
  #catchUp() {
    while (this.#pending.length > 0 && this.#pending[0].atMs <= Date.now()) {
      this.#pending.shift().apply();
    }
  }

  #mutationId(number) {
    return `00000000-0000-0000-0000-${String(number).padStart(12, "0")}`;
  }
}
