// Runs tests on the edge's Python: node inside.mjs '{"root", "packages", "databases", "namespaces",
// "buckets", "queues", "url", "suite": "contract" | "core", "paths": […]}'
//
// Prints one line of JSON: [[test, "passed" | "failed" | "skipped", words], …].

import { join } from "node:path";
import { bindings } from "./platform.mjs";
import { VectorizeIndexImpl } from "./vectors.mjs";
import { copyFolder, startPython, wordsOf } from "./python.mjs";

const given = JSON.parse(process.argv[2]);
const REPOSITORY = "/repository";

const run = async () => {
  const py = await startPython({ root: given.root });
  copyFolder(py, join(given.root, "tests"), `${REPOSITORY}/tests`);
  copyFolder(py, given.packages, "/packages");
  py.FS.writeFile(`${REPOSITORY}/pytest.ini`, "[pytest]\naddopts = --import-mode=importlib -q\n");
  const queue = given.queues?.pop();
  const { env, wires } = bindings({ url: given.url, queue });
  py.registerJsModule("_harness", {
    queue: () => env,
    freshIndex: (dimensions) => ({ VECTORS: new VectorizeIndexImpl(wires.faults, dimensions) }),
    delivered: async () => JSON.stringify((await wires.ask("/queue", { queue })).value),
    freshDatabase: () => bindings({ url: given.url, database: given.databases.pop() }).env,
    freshBucket: () => bindings({ url: given.url, bucket: given.buckets.pop() }).env,
    freshNamespace: () => bindings({ url: given.url, namespace: given.namespaces.pop() }).env,
  });
  py.runPython(`
import os, sys
sys.path[:0] = ["${REPOSITORY}", "/packages"]
os.chdir("${REPOSITORY}")
os.environ["HYPOTHESIS_PROFILE"] = "edge"
`);
  const suite = py.pyimport(`tests.pyodide.suites.${given.suite}`);
  const outcomes = await suite.run(py.toPy(given.paths));
  process.stdout.write(`${outcomes}\n`, () => process.exit(0));
};

run().catch((error) => {
  console.error(wordsOf(error));
  process.exit(1);
});
