// Serves a Worker on loopback: node serve.mjs '{"root", "url", "database", "namespace", "bucket",
// "queue", "panel", "hasModels", "variables", "module"}'. A module of the tests may be the Worker; the bundle then has
// the tests, too.
//
// Prints one line of JSON, {"url": …, "control": …}, when it is ready, and ends with its standard
// input. What the second address is for, `control.mjs` says.

import { join } from "node:path";
import { listenForOrders } from "./control.mjs";
import { Events } from "./events.mjs";
import { listen } from "./front.mjs";
import { bindings, ExecutionContext } from "./platform.mjs";
import { BUNDLE, copyFolder, openEvents, openWorker, startPython, wordsOf } from "./python.mjs";

const given = JSON.parse(process.argv[2]);
let unhandled = 0;
process.on("unhandledRejection", (error) => {
  unhandled += 1;
  console.error(`unhandled: ${wordsOf(error)}`);
});

const run = async () => {
  const { env, wires } = bindings(given);
  const py = await startPython({ root: given.root, env });
  if (given.module.startsWith("tests.")) {
    copyFolder(py, join(given.root, "tests"), `${BUNDLE}/tests`);
    copyFolder(py, join(given.root, "migrations"), `${BUNDLE}/remembrancer/migrations`);
  }
  const handle = openWorker(py, given);
  const running = new Set();
  const front = await listen(async (request) => {
    const context = new ExecutionContext();
    const answer = handle(env, context, request);
    try {
      return await answer;
    } finally {
      answer.destroy();
      const settled = context.settle().finally(() => running.delete(settled));
      running.add(settled);
    }
  });
  const settled = async () => {
    while (running.size > 0) await Promise.allSettled(running);
  };
  const events = new Events({ wires, env, queue: given.queue, handlers: openEvents(py) });
  const control = await listenForOrders({ env, wires, events, settled });
  process.stdout.write(`${JSON.stringify({ url: front.url, control: control.url })}\n`);
  process.stdin.resume();
  process.stdin.on("end", async () => {
    front.close();
    control.close();
    await settled();
    process.exit(unhandled === 0 ? 0 : 3);
  });
};

run().catch((error) => {
  console.error(wordsOf(error));
  process.exit(1);
});
