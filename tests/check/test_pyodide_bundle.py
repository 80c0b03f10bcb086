"""The bundle for the platform's runtime: what is changed in Pyodide, and the message it lies in."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import pyodide_bundle
from pyodide_bundle import DATA, SOURCE, WASM, adapt, make_bundle, pack


def _text(message: bytes, at: int) -> bytes:
    """What a pointer of a Cap'n Proto message leads to."""
    word, size = struct.unpack_from("<iI", message, at)
    assert (word & 3, size & 7) == (1, 2)
    start = at + 8 + (word >> 2) * 8
    return message[start : start + (size >> 3)]


def _read(packed: bytes) -> list[tuple[str, int, int, bytes]]:
    """Name, type, kind and content of each module, read as Cap'n Proto says."""
    segments, words = struct.unpack_from("<II", packed)
    message = packed[8:]
    assert (segments, words * 8) == (0, len(message))
    root, sections = struct.unpack_from("<iI", message)
    assert (root, sections) == (0, 1 << 16)
    offset, size = struct.unpack_from("<iI", message, 8)
    assert (offset, size & 7) == (1, 7)
    count, data, pointers = struct.unpack_from("<iHH", message, 16)
    assert (size >> 3) == (count >> 2) * (data + pointers)
    modules = []
    for number in range(count >> 2):
        at = 24 + number * (data + pointers) * 8
        type_, kind = struct.unpack_from("<HH", message, at)
        name = _text(message, at + data * 8).decode()
        assert name.endswith("\0")
        modules.append((name[:-1], type_, kind, _text(message, at + data * 8 + 8)))
    return modules


def test_message_holds_names_kinds_and_contents() -> None:
    given = [("a:b", SOURCE, b"let x"), ("名", WASM, b""), ("c", DATA, bytes(range(256)))]
    assert _read(pack(given)) == [(name, 2, kind, content) for name, kind, content in given]


def test_bundle_is_pyodide_with_its_ways_out_closed(tmp_path: Path) -> None:
    script, wasm, library = _read(make_bundle(tmp_path / "cache").read_bytes())
    assert [script[0], wasm[0], library[0]] == [
        "pyodideRuntime-internal:pyodide.asm",
        "pyodideRuntime-internal:pyodide.asm.wasm",
        "pyodideRuntime-internal:python_stdlib.zip",
    ]
    assert (wasm[3][:4], library[3][:2]) == (b"\0asm", b"PK")
    text = script[3].decode()
    for way_out in ("eval(func)", "eval(data)", "new WebAssembly.Module", "Date.now"):
        assert way_out not in text
    assert text.startswith("import{")


def test_another_pyodide_is_refused() -> None:
    original = (pyodide_bundle.PYODIDE / "pyodide.asm.mjs").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"Date.*21 times.*not 22"):
        adapt(original.replace("Date.now", "Date.then", 1))
