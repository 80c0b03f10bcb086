// A stand-in for Workers AI: embeddings that follow from the text alone, and chats by a script.
//
// Texts are near each other when they share signs, and nearer when the script says that they mean
// the same; a reranker goes by the same nearness. Errors have the platform's codes and statuses; a stream has one of its two forms, or is
// none although one was asked for. Source: workerd's `ai-api.ts`, and what its users met, 2026-11.

const DIMENSIONS = 768;
const TEXTS_MAX = 100;

const STATUSES = { 3036: 429, 3040: 429, 5004: 400, 5007: 400, 3007: 408, 3042: 404 };
const WORDS = {
  3036: "you have used up your daily free allocation of 10,000 neurons",
  3040: "capacity temporarily exceeded, please try again",
  5004: "invalid input",
  5007: "no such model",
  3007: "request timeout",
  3042: "model not found",
};

// FNV-1a: the same text gives the same numbers, on every machine.
const hashed = (text) => {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
};

const direction = (vector, text, weight) => {
  let state = hashed(text) || 1;
  for (let step = 0; step < 12; step += 1) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    state >>>= 0;
    vector[state % DIMENSIONS] += state & 0x10000 ? weight : -weight;
  }
};

const vectorOf = (text, meanings) => {
  const vector = new Array(DIMENSIONS).fill(0);
  const signs = [...text.toLowerCase()].filter((sign) => /[\p{L}\p{N}]/u.test(sign));
  for (let index = 0; index + 1 < signs.length; index += 1) {
    direction(vector, signs[index] + signs[index + 1], 1);
  }
  meanings.forEach((words, number) => {
    if (words.some((word) => text.includes(word))) direction(vector, `meaning ${number}`, 40);
  });
  if (vector.every((value) => value === 0)) direction(vector, text, 1);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

const nearness = (one, other) => one.reduce((sum, value, index) => sum + value * other[index], 0);

const failure = (code) =>
  Response.json(
    { internalCode: code, name: "AiError", message: WORDS[code], description: WORDS[code] },
    { status: STATUSES[code] },
  );

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

const streamOf = (events) => {
  const encoder = new TextEncoder();
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
  const body = new ReadableStream({
    pull(controller) {
      const line = lines.shift();
      if (line === undefined) return controller.close();
      controller.enqueue(encoder.encode(`data: ${line}\n\n`));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const piecesOf = (text) => text.match(/[^]{1,4}/gu) ?? [];

// The two forms of an answer, whole and in pieces.
const FORMS = {
  workers: {
    whole: (text) => ({ response: text, tool_calls: [], usage: USAGE }),
    events: (text) => [
      ...piecesOf(text).map((response) => ({ response, p: "abcd" })),
      { response: "", tool_calls: null, usage: USAGE },
    ],
  },
  openai: {
    whole: (text) => ({
      id: "chatcmpl-1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: USAGE,
    }),
    events: (text) => [
      ...piecesOf(text).map((content) => ({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      })),
      { id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "chatcmpl-1", choices: [], usage: USAGE },
    ],
  },
};

const waited = (latencyMs, signal) =>
  new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(new DOMException("The operation was aborted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, latencyMs);
    if (signal?.aborted) leave();
    signal?.addEventListener("abort", leave, { once: true });
  });

export class Ai {
  #faults;
  calls = [];
  aborted = 0;
  /**
   * What it does: `code` an error for every call, `form` "workers", "openai" or "json"; `replies`
   * one after another, then `usual`.
   */
  script = { code: null, latencyMs: 0, form: "workers", replies: [], usual: null, meanings: [] };

  constructor(faults) {
    this.#faults = faults;
  }

  run(model, inputs, options = {}) {
    return this.#faults.pass("ai", async () => {
      this.calls.push({ model, inputs });
      if (this.script.latencyMs > 0 || options.signal?.aborted) await this.#wait(options.signal);
      const answer = this.#answer(model, inputs);
      return options.returnRawResponse ? answer : this.#parsed(answer);
    });
  }

  async #wait(signal) {
    try {
      await waited(this.script.latencyMs, signal);
    } catch (error) {
      this.aborted += 1;
      throw error;
    }
  }

  #answer(model, inputs) {
    if (!model.startsWith("@cf/") && !model.startsWith("@hf/")) return failure(5007);
    if (this.script.code !== null) return failure(this.script.code);
    if (inputs.contexts !== undefined) return this.#ranking(inputs);
    return inputs.text === undefined ? this.#chat(inputs) : this.#embedding(inputs);
  }

  // Without `returnRawResponse` an error's status is lost, and only JSON is read.
  async #parsed(answer) {
    if (!answer.ok) {
      const { internalCode, description, name } = await answer.json();
      throw Object.assign(new Error(`${internalCode}: ${description}`), { name });
    }
    const isJson = answer.headers.get("content-type") === "application/json";
    return isJson ? answer.json() : answer.body;
  }

  #embedding({ text }) {
    const texts = Array.isArray(text) ? text : [text];
    if (texts.length > TEXTS_MAX || texts.some((one) => one === "")) return failure(5004);
    const data = texts.map((one) => vectorOf(one, this.script.meanings));
    return Response.json({ shape: [texts.length, DIMENSIONS], data, pooling: "mean" });
  }

  #ranking({ query, contexts, top_k: most = contexts.length }) {
    const asked = vectorOf(query, this.script.meanings);
    const response = contexts
      .map(({ text }, id) => ({ id, score: nearness(asked, vectorOf(text, this.script.meanings)) }))
      .map(({ id, score }) => ({ id, score: Math.min(1, Math.max(0, score)) }))
      .sort((one, other) => other.score - one.score)
      .slice(0, most);
    return Response.json({ response });
  }

  #chat({ messages, stream }) {
    if (!Array.isArray(messages) || messages.some(({ content }) => content === null)) {
      return failure(5004);
    }
    const { form, replies, usual } = this.script;
    const last = messages.findLast(({ role }) => role === "user")?.content;
    const text = replies.shift() ?? usual ?? `you said: ${last}`;
    const shape = FORMS[form] ?? FORMS.workers;
    if (stream && form !== "json") return streamOf(shape.events(text));
    return Response.json(shape.whole(text));
  }
}
