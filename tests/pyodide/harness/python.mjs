// Python as the platform runs it: Pyodide, the bundle's files in memory, the platform's modules.
//
// What is told apart from the platform: there is no snapshot (the bundle is imported at each start),
// and files lie in an ordinary memory file system.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";

/** Where the platform keeps a bundle. */
export const BUNDLE = "/session/metadata";
export const MODULES = `${BUNDLE}/python_modules`;

const COMPATIBILITY_FLAGS = {
  python_workers: true,
  enable_request_signal: true,
  python_request_headers_preserve_commas: true,
};

// How many times randomness may be asked for while a bundle is imported: never. The platform ends
// a Worker that tries, except within modules it knows; those are imported before.
let isRandomForbidden = false;
const getRandomValues = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  if (isRandomForbidden) throw new Error("randomness was asked for while the Worker was imported");
  return getRandomValues(array);
};

const patched = new WeakSet();

/** As the platform's: a Python awaitable is kept until it has ended. */
const patchWaitUntil = (context) => {
  if (patched.has(context)) return;
  const waitUntil = context.waitUntil.bind(context);
  context.waitUntil = (work) => {
    const kept = typeof work?.copy === "function" ? work.copy() : work;
    waitUntil(
      (async () => {
        try {
          await kept;
        } finally {
          kept?.destroy?.();
        }
      })(),
    );
  };
  patched.add(context);
};

/** Copies a folder's files into Python's file system, bytecode left out. */
export const copyFolder = (py, from, to) => {
  py.FS.mkdirTree(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.name === "__pycache__") continue;
    const [source, target] = [join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) copyFolder(py, source, target);
    else if (entry.isFile()) py.FS.writeFile(target, new Uint8Array(readFileSync(source)));
  }
};

/** Starts Python with the bundle of a repository on its path; nothing is imported yet. */
export const startPython = async ({ root, env = {} }) => {
  const py = await loadPyodide({
    stdout: (line) => console.error(line),
    stderr: (line) => console.error(line),
  });
  copyFolder(py, join(root, "src"), BUNDLE);
  copyFolder(py, join(root, "python_modules"), MODULES);
  py.registerJsModule("_cloudflare_compat_flags", COMPATIBILITY_FLAGS);
  py.registerJsModule("_pyodide_entrypoint_helper", {
    cloudflareWorkersModule: { env },
    cloudflareSocketsModule: {},
    doAnImport: (name) => import(name),
    patchWaitUntil,
  });
  py.runPython(`
import sys
sys.path[:0] = ["${BUNDLE}", "${MODULES}"]
sys.dont_write_bytecode = True
`);
  return py;
};

/** Milliseconds of processor time that a piece of Python takes. */
export const timed = (py, code) => {
  const before = process.cpuUsage();
  py.runPython(code);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** Imports the Worker as the platform does, and returns what answers its requests. */
export const openWorker = (py, { module = "worker" } = {}) => {
  py.runPython("import random\nimport pydantic_core\npydantic_core.SchemaValidator({'type': 'any'})");
  isRandomForbidden = true;
  try {
    py.runPython(`import ${module}`);
  } finally {
    isRandomForbidden = false;
  }
  return py.runPython(`
from workers import python_from_rpc, python_to_rpc
from ${module} import Default

async def answer(env, context, request):
    return python_to_rpc(await Default(context, env).fetch(python_from_rpc(request)))

answer
`);
};

/** What answers the events beside requests; the Worker is open already. */
export const openEvents = (py) => {
  const [queue, scheduled] = py.runPython(`
async def queue(env, context, batch):
    await Default(context, env).queue(python_from_rpc(batch), env, context)

async def scheduled(env, context, controller):
    await Default(context, env).scheduled(python_from_rpc(controller), env, context)

queue, scheduled
`);
  return { queue, scheduled };
};

/** A PythonError's own words, without the megabyte of source that Node shows around it. */
export const wordsOf = (error) => String(error?.stack ?? error).slice(0, 20_000);
