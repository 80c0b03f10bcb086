"""Makes the bundle from which the platform's runtime starts Python, out of npm's Pyodide.

The runtime fetches its own from the platform's host and takes no other; only the one that it calls
`dev`, chosen by a compatibility flag, it takes as it lies in its cache. A bundle holds three files
of Pyodide, the JavaScript among them with its ways out of the sandbox closed; all else that makes
a Worker of Python is in the runtime itself. Source: the repository of workerd,
`src/pyodide/helpers.bzl`, `src/pyodide/patch_pyodide_asm.ts` and `src/workerd/jsg/modules.capnp`.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
PYODIDE = ROOT / "node_modules" / "pyodide-of-workerd"
"""The version that the runtime asks for by name; it ends with a sentence when it is another."""
FILE = "pyodide_dev.capnp.bin"
"""What the runtime looks for in its cache."""
WORD = 8
"""Bytes that everything in a Cap'n Proto message is a multiple of."""
MODULE_DATA, MODULE_POINTERS = 1, 3
"""Words of a module: its type and kind; its name, its content and (left empty) its types."""
INTERNAL = 2
"""The type of a module that only the runtime's own modules import."""
SOURCE, WASM, DATA = range(3)
"""The kinds of content."""

GIVEN = (
    "addEventListener",
    "getRandomValues",
    "location",
    "monotonicDateNow",
    "newWasmModule",
    "patchedLoadLibData",
    "wasmInstantiate",
)
"""What the runtime gives Pyodide in place of its host's."""
REFUSAL = '(()=>{throw new Error("eval is not to be had here")})()'
"""What stands where Emscripten would evaluate a text."""
LOADING = (
    "function loadLibData(){"
    "var found=patchedLoadLibData(Module,libName,flags.rpath);"
    "return flags.loadAsync?Promise.resolve(found):found}"
    "function replacedLoadLibData(){"
)
"""What loads a package's compiled parts in place of Emscripten's own way."""
CHANGES = (
    (r"new WebAssembly\.Module\b", "newWasmModule", 4),
    (r"\bWebAssembly\.instantiate\b", "wasmInstantiate", 2),
    (r"\bDate\.now\b", "monotonicDateNow", 22),
    (r"\bcrypto\.getRandomValues\(", "getRandomValues(Module,", 1),
    (r"\beval\((?:func|data|UTF8ToString\(ptr\))\)", REFUSAL, 6),
    (r"(?<![\w.])getMemory\(", "Module.getMemoryPatched(Module,libName,", 1),
    (r"function loadLibData\(\)\{", LOADING, 1),
    (
        r"export default _createPyodideModule;",
        "export default _createPyodideModule;export{_createPyodideModule};",
        1,
    ),
)
"""Pattern, replacement and how often it stands there: another Pyodide may have moved things."""


def adapt(script: str) -> str:
    """Pyodide's JavaScript as the runtime wants it. *Raises:* ValueError."""
    for pattern, replacement, expected in CHANGES:
        script, count = re.subn(pattern, replacement, script)
        if count != expected:
            raise ValueError(f"{pattern} stands {count} times in Pyodide, not {expected}")
    return f'import{{{",".join(GIVEN)}}}from"pyodide-internal:builtin_wrappers";\n{script}'


def pack(modules: list[tuple[str, int, bytes]]) -> bytes:
    """A Cap'n Proto message of one segment that holds a list of internal modules.

    *Shape:* each is a name, the kind of its content, and the content.
    """
    size = MODULE_DATA + MODULE_POINTERS
    message = bytearray()
    # The root: a structure of one pointer, which is that to the list behind it.
    message += struct.pack("<iHH", 0, 0, 1)
    message += struct.pack("<iI", 1, 7 | len(modules) * size << 3)
    message += struct.pack("<iHH", len(modules) << 2, MODULE_DATA, MODULE_POINTERS)
    start = len(message)
    message += bytes(len(modules) * size * WORD)
    for number, (name, kind, content) in enumerate(modules):
        at = start + number * size * WORD
        struct.pack_into("<HH", message, at, INTERNAL, kind)
        for value in (f"{name}\0".encode(), content):
            at += WORD
            # Bytes, so many of them, this many words behind the pointer.
            offset = (len(message) - at) // WORD - 1
            struct.pack_into("<iI", message, at, offset << 2 | 1, 2 | len(value) << 3)
            message += value + bytes(-len(value) % WORD)
    return struct.pack("<II", 0, len(message) // WORD) + message


def make_bundle(folder: Path) -> Path:
    """Writes the bundle into what is to be the runtime's cache. *Raises:* OSError, ValueError."""
    script = adapt((PYODIDE / "pyodide.asm.mjs").read_text(encoding="utf-8"))
    modules = [
        ("pyodide.asm", SOURCE, script.encode()),
        ("pyodide.asm.wasm", WASM, (PYODIDE / "pyodide.asm.wasm").read_bytes()),
        ("python_stdlib.zip", DATA, (PYODIDE / "python_stdlib.zip").read_bytes()),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    bundle = folder / FILE
    prefixed = [(f"pyodideRuntime-internal:{name}", kind, data) for name, kind, data in modules]
    bundle.write_bytes(pack(prefixed))
    return bundle
