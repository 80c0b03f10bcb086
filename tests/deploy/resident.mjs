// Runs wrangler's commands in one process that has loaded it: node resident.mjs SOCKET
//
// Loading wrangler takes a second of a core, and most commands a fifth of that. A connection to the
// socket is one command: JSON {arguments, folder, environment, given} comes, {code, output, errors}
// goes. They run one after another, since a process has one folder and one environment.
//
// Prints a line when it listens, and ends with its standard input.

import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { createServer } from "node:net";
import { Readable } from "node:stream";

const PROGRAM = createRequire(import.meta.url).resolve("wrangler");
// Started as a program it runs itself; loaded as a module it keeps to itself how.
const OFFERED = "\nexports.main = main; exports.FatalError = FatalError;";

const load = () => {
  const module = new Module(PROGRAM);
  module.filename = PROGRAM;
  module.paths = createRequire(PROGRAM).resolve.paths("wrangler");
  module._compile(readFileSync(PROGRAM, "utf8") + OFFERED, PROGRAM);
  return module.exports;
};

/** Keeps what is written to a stream of the process; what is returned lets it be and gives that. */
const listenTo = (stream) => {
  const { write } = stream;
  const pieces = [];
  stream.write = (piece, ...more) => {
    pieces.push(Buffer.from(piece));
    const done = more.findLast((one) => typeof one === "function");
    if (done !== undefined) process.nextTick(done);
    return true;
  };
  return () => {
    stream.write = write;
    return Buffer.concat(pieces).toString("utf8");
  };
};

const { main, FatalError } = load();

/** Resolves to the code with which the process would have ended. */
const codeOf = (given) =>
  new Promise((resolve) => {
    process.exit = (code) => {
      resolve(code ?? process.exitCode ?? 0);
      throw new Error("the command has ended");
    };
    main(given).then(
      () => resolve(process.exitCode ?? 0),
      (error) => resolve((error instanceof FatalError && error.code) || 1),
    );
  });

const run = async ({ arguments: given, folder, environment, given: input }) => {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv = [process.execPath, PROGRAM, ...given];
  process.exitCode = undefined;
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  const [output, errors] = [listenTo(process.stdout), listenTo(process.stderr)];
  const code = await codeOf(given);
  process.exitCode = undefined;
  return { code, output: output(), errors: errors() };
};

let turn = Promise.resolve();
const server = createServer({ allowHalfOpen: true }, (connection) => {
  const pieces = [];
  connection.on("data", (piece) => pieces.push(piece));
  connection.on("end", () => {
    const command = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    turn = turn.then(async () => connection.end(JSON.stringify(await run(command))));
  });
});

const { stdin, reallyExit } = process;
// Of a command that has ended by `process.exit`, whose stack is nobody's.
process.on("unhandledRejection", () => {});
stdin.resume();
stdin.on("end", () => reallyExit.call(process, 0));
server.listen(process.argv[2], () => process.stdout.write("ready\n"));
