// Measures the Worker: node bench.mjs '{"root", "url", "database", "namespace", "variables",
// "rounds", "starts", "firsts"}'. Prints one line of JSON. Times are of the processor; each is the
// least of its rounds, since what else the machine does only adds. Imports and first requests have a
// fresh Python in each of their rounds (`starts` and `firsts`), and what is compared takes turns.

import { join } from "node:path";
import { bindings, ExecutionContext } from "./platform.mjs";
import { BUNDLE, copyFolder, openWorker, startPython, timed, wordsOf } from "./python.mjs";

const given = JSON.parse(process.argv[2]);
const MODEL = "from pydantic import BaseModel\nclass Model(BaseModel):\n    field: int\n";
const REQUESTS_PER_ROUND = 15;

const least = (numbers) => Math.min(...numbers);

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Milliseconds of processor time that some work takes. */
const taken = (work) => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

// What is compared is of one and the same Python, so that a slower moment is one for both: pydantic
// comes first, and the Worker, which needs it, has the rest to import.
const measureImports = async () => {
  const [bare, model, worker, ratios, heaps] = [[], [], [], [], []];
  for (let start = 0; start < given.starts; start += 1) {
    const py = await startPython({ root: given.root });
    bare.push(taken(() => py.runPython("import pydantic")));
    model.push(bare.at(-1) + taken(() => py.runPython(MODEL)));
    worker.push(model.at(-1) + taken(() => openWorker(py)));
    ratios.push(worker.at(-1) / model.at(-1));
    heaps.push(py._module.HEAP8.length / 2 ** 20);
  }
  return {
    pydantic_ms: least(bare),
    pydantic_with_a_model_ms: least(model),
    worker_ms: least(worker),
    ratio: middle(ratios),
    heap_mib: Math.max(...heaps),
  };
};

const headers = {
  authorization: `Bearer ${given.variables.CHATBOX_API_KEY}`,
  "content-type": "application/json",
};
let sent = 0;
const get = (path) => () => new Request(`http://bench.example${path}`, { headers });
const post = (path, body) => () => {
  sent += 1;
  const text = JSON.stringify(body(sent));
  return new Request(`http://bench.example${path}`, { method: "POST", headers, body: text });
};
const tool = (name, args) =>
  post("/mcp", (id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args(id) },
  }));

const CASES = [
  ["a bare Starlette route", "bare", get("/")],
  ["the same without the bridge", "bare_without_bridge", get("/")],
  ["cached startup, REST", "worker", get("/v1/context/startup")],
  ["cached startup, MCP", "worker", tool("get_startup_context", () => ({}))],
  [
    "capture, REST",
    "worker",
    post("/v1/items", (n) => ({
      title: `写报告 ${n}`,
      type: "tactical_task",
      tags: ["work", "家"],
    })),
  ],
  [
    "capture, MCP",
    "worker",
    tool("quick_capture", (n) => ({ input: `买牛奶 and bread ${n} #家 #work due:tomorrow` })),
  ],
  [
    "recall without embedding, MCP",
    "worker",
    tool("memory_recall", (n) => ({ query: `小美生日那天我们在哪里吃了火锅？${n}` })),
  ],
  [
    "recall without embedding, REST",
    "worker",
    post("/v1/search/memories", (n) => ({ query: `where did we have hotpot with Mei? ${n}` })),
  ],
  ["list of 50, REST", "worker", get("/v1/items?limit=50")],
  [
    "list of tools, MCP",
    "worker",
    post("/mcp", (id) => ({ jsonrpc: "2.0", id, method: "tools/list" })),
  ],
];

// What a recall looks for, and what it has to tell that from: a few of these are about any question.
const SUBJECTS = [
  ["和小美去城东吃了火锅", "We had hotpot with Mei downtown"],
  ["妈妈对青霉素过敏", "Mother is allergic to penicillin"],
  ["项目的数据库换成了 Postgres", "The project moved to Postgres"],
  ["周三晚上练吉他", "Guitar practice is on Wednesdays"],
  ["房租每月五号交", "Rent is due on the fifth"],
  ["喜欢靠窗的座位", "Prefers a window seat"],
  ["猫叫煤球，三岁", "The cat is called Coal and is three"],
  ["部署前要先跑一遍测试", "Run the tests before a deployment"],
  ["书房的灯坏了", "The lamp in the study is broken"],
  ["护照明年到期", "The passport expires next year"],
];
const MEMORIES = SUBJECTS.flatMap((pair) =>
  pair.flatMap((text) => Array.from({ length: 6 }, (_, n) => `${text}（${n + 1} 月，No. ${n}）`)),
);

/** An isolate: what asks it one request, and its meter. */
const openIsolate = async () => {
  const { env, wires } = bindings(given);
  const py = await startPython({ root: given.root, env });
  copyFolder(py, join(given.root, "tests/pyodide/suites"), `${BUNDLE}/tests/pyodide/suites`);
  const worker = openWorker(py);
  const meter = py.pyimport("tests.pyodide.suites.meter");
  const handlers = { worker, bare: meter.bare, bare_without_bridge: meter.bare_without_bridge };
  const ask = async (handler, make) => {
    const context = new ExecutionContext();
    const answer = handler(env, context, make());
    const response = await answer;
    answer.destroy();
    if (response?.status >= 400) throw new Error(await response.text());
    await response?.arrayBuffer();
    await context.settle();
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  meter.start();
  return { ask: (handler, make) => ask(handlers[handler], make), meter, wires };
};

const measureRequests = async () => {
  const found = {};
  for (const [name] of CASES) found[name] = { first_ms: Infinity, ms: [], round_trips: 0 };
  let isolate = await openIsolate();
  for (const content of MEMORIES) {
    const body = () => ({ content, type: "note" });
    await isolate.ask("worker", post("/v1/memories", body));
  }
  for (let start = 0; start < given.firsts; start += 1) {
    isolate = await openIsolate();
    for (const [name, handler, make] of CASES) {
      isolate.meter.take();
      await isolate.ask(handler, make);
      found[name].first_ms = least([found[name].first_ms, isolate.meter.take()]);
    }
  }
  const { ask, meter, wires } = isolate;
  for (let round = 0; round < given.rounds; round += 1) {
    for (const [name, handler, make] of CASES) {
      await ask(handler, make);
      const times = [];
      const before = wires.counts.d1;
      for (let count = 0; count < REQUESTS_PER_ROUND; count += 1) {
        meter.take();
        await ask(handler, make);
        times.push(meter.take());
      }
      times.sort((a, b) => a - b);
      found[name].ms.push(times[Math.floor(REQUESTS_PER_ROUND / 2)]);
      found[name].round_trips = (wires.counts.d1 - before) / REQUESTS_PER_ROUND;
    }
  }
  for (const each of Object.values(found)) each.ms = least(each.ms);
  return found;
};

const run = async () => {
  const [log, warn] = [console.log, console.warn];
  console.log = console.warn = () => {}; // a line for each request is not what is read here
  const figures = { imports: await measureImports(), requests: await measureRequests() };
  console.log = log;
  console.warn = warn;
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
};

run().catch((error) => {
  console.error(wordsOf(error));
  process.exit(1);
});
