// What the platform does besides requests: it delivers a queue's messages and runs the schedule.
//
// Miniflare's queue has taken and delivered each message; when, how often and in which order the
// Worker gets it, a test says. Its entrypoint is called through the SDK, as the platform does.

import { ExecutionContext } from "./platform.mjs";

class Message {
  fate = "none";

  constructor({ id, timestamp, body, attempts }) {
    this.id = id;
    this.timestamp = new Date(timestamp);
    this.body = structuredClone(body);
    this.attempts = attempts;
  }

  ack() {
    if (this.fate === "none") this.fate = "ack";
  }

  retry(options) {
    if (this.fate === "none") this.fate = `retry ${options?.delaySeconds ?? 0}`;
  }
}

class MessageBatch {
  constructor(queue, messages) {
    this.queue = queue;
    this.messages = messages;
  }

  ackAll() {
    for (const message of this.messages) message.ack();
  }

  retryAll(options) {
    for (const message of this.messages) message.retry(options);
  }
}

class ScheduledController {
  constructor(cron) {
    this.cron = cron;
    this.scheduledTime = Date.now();
  }

  noRetry() {}
}

/** The platform's events for one Worker: `handlers` are those of `openEvents`. */
export class Events {
  #wires;
  #env;
  #queue;
  #handlers;
  #waiting = [];

  constructor({ wires, env, queue, handlers }) {
    this.#wires = wires;
    this.#env = env;
    this.#queue = queue;
    this.#handlers = handlers;
  }

  /** The messages that were sent and not yet acknowledged. */
  async waiting() {
    if (this.#queue !== undefined) {
      const found = await this.#wires.ask("/queue", { queue: this.#queue });
      this.#waiting.push(...found.value);
    }
    return this.#waiting;
  }

  /**
   * Delivers what waits, in batches of at most `size` (one, as wrangler.toml says): `times` in a row,
   * `isReversed` the last first.
   * Resolves to {body, attempts, fate} of each delivery; what failed waits to come again.
   */
  async deliver({ times = 1, isReversed = false, size = 1 }) {
    const due = (await this.waiting()).splice(0);
    if (isReversed) due.reverse();
    const told = [];
    for (let first = 0; first < due.length; first += size) {
      const part = due.slice(first, first + size);
      let messages = [];
      for (let time = 0; time < times; time += 1) {
        messages = part.map((one) => new Message(one));
        await this.#deliver(new MessageBatch(this.#queue, messages));
        told.push(...messages.map(({ body, attempts, fate }) => ({ body, attempts, fate })));
      }
      const failed = part.filter((_, index) => messages[index].fate !== "ack");
      this.#waiting.push(...failed.map((one) => ({ ...one, attempts: one.attempts + 1 })));
    }
    return told;
  }

  async #deliver(batch) {
    try {
      await this.#run(this.#handlers.queue, batch);
      batch.ackAll();
    } catch (error) {
      console.error(String(error).slice(0, 4_000));
      for (const message of batch.messages) if (message.fate === "none") message.fate = "thrown";
    }
  }

  /** Runs a line of the schedule; resolves to what was thrown, null as a rule. */
  async scheduled(cron) {
    try {
      await this.#run(this.#handlers.scheduled, new ScheduledController(cron));
      return null;
    } catch (error) {
      return String(error).slice(0, 4_000);
    }
  }

  async #run(handler, event) {
    const context = new ExecutionContext();
    this.#wires.meter.begin();
    const work = handler(this.#env, context, event);
    try {
      await work;
    } finally {
      work.destroy();
      await context.settle();
      this.#wires.meter.end();
    }
  }
}
