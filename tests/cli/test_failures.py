"""What goes wrong at the command line: exit codes, one line and a hint, JSON for programs."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from tests.cli.running import Program

from remembrancer.cli import main
from remembrancer.cli.output import print_error
from remembrancer.core.errors import CODES, RemembrancerError
from remembrancer.core.product import VERSION

_START = "from remembrancer.cli.main import main; main()"


def _spawn(*arguments: str, data: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _START, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={**os.environ, "REMEMBRANCER_DATA": str(data), "PYTHONUTF8": "1", **environ},
    )


@pytest.mark.parametrize("code", CODES)
def test_every_error_code_has_its_exit_code(
    program: Program, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    def refuse(_: object) -> int:
        raise RemembrancerError("没有办法", hint="try again", code=code)

    monkeypatch.setattr(main, "_invoke", refuse)
    ran = program.bare("tasks")
    assert ran.code == CODES[code].exit
    assert ran.err == "error: 没有办法\nhint: try again\n"
    assert ran.out == ""
    told = program.bare("tasks", "--json")
    assert told.error == {"code": code, "message": "没有办法", "hint": "try again"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("frobnicate",), 2, id="unknown-command"),
        pytest.param(("tasks", "frobnicate"), 2, id="unknown-subcommand"),
        pytest.param(("tasks", "--frob"), 2, id="unknown-option"),
        pytest.param(("tasks", "add"), 2, id="missing-argument"),
        pytest.param(("tasks", "--limit", "0"), 2, id="out-of-range"),
        pytest.param(("tasks", "--limit", "x"), 2, id="no-number"),
        pytest.param(("tasks", "show", "itm_1"), 4, id="unknown-id"),
        pytest.param(("tasks", "add", "x", "--due", "2026-02-30"), 2, id="impossible-date"),
        pytest.param(("tasks", "add", "x", "--due", "随便哪天"), 2, id="no-date"),
        pytest.param(("tasks", "add", "x", "--startup", "11"), 2, id="eleventh-startup"),
        pytest.param(("tasks", "add", "   "), 2, id="empty-title"),
        pytest.param(("tasks", "--namespace", "no space"), 2, id="bad-namespace"),
        pytest.param(("tasks", "--cursor", "x"), 2, id="bad-cursor"),
        pytest.param(("tasks", "--url", "ftp://x"), 2, id="bad-address"),
        pytest.param(("tasks", "--url", "http://user:pw@host"), 2, id="key-in-address"),
        pytest.param(("tasks", "--url", "http://h", "--token", "令牌"), 2, id="bad-token"),
        pytest.param(("context", "project", "不存在"), 4, id="unknown-project"),
        pytest.param(("mcp", "--tools", "nothing"), 2, id="unknown-toolset"),
        pytest.param(("serve", "--url", "http://elsewhere"), 2, id="serve-elsewhere"),
    ],
)
def test_wrong_commands_end_with_their_code_and_one_sentence(
    program: Program, arguments: tuple[str, ...], code: int
) -> None:
    ran = program(*arguments)
    assert ran.code == code, ran
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err
    assert "pw" not in ran.err
    assert program(*arguments, "--json").error["message"]


def test_wrong_setting_stops_with_a_sentence_that_names_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAM_TIME_ZONE", "Mars/Olympus")
    ran = program("tasks")
    assert ran.code == 2
    assert "DREAM_TIME_ZONE" in ran.err


def test_defect_shows_where_but_not_what(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("我的秘密")

    monkeypatch.setattr(main, "_invoke", fail)
    ran = program.bare("tasks")
    assert ran.code == 1
    assert "ZeroDivisionError" in ran.err
    assert "秘密" not in ran.err


def test_interrupt_ends_with_the_shells_code(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_invoke", interrupt)
    assert program.bare("tasks").code == 130


def test_error_texts_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(RemembrancerError("a\x1b[2Jb\u202e", hint="\x9b31m"), as_json=False)
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown


def test_interrupt_while_a_client_is_silent_ends_with_the_shells_code(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _START, "mcp", "--data", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["result"] == {}
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr.read() == b""


def test_version_and_help_are_told(program: Program) -> None:
    assert program.bare("--version").out == f"Remembrancer {VERSION}\n"
    for arguments in ((), ("--help",), ("tasks", "--help"), ("tasks", "add", "--help")):
        assert program.bare(*arguments).code == 0
        assert "Usage" in program.bare(*arguments).out
    assert "--url" in program.bare("serve", "--help").out


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as output:
        done = subprocess.run(
            [sys.executable, "-c", _START, "tasks", "--json"],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "REMEMBRANCER_DATA": str(tmp_path)},
        )
    assert done.stderr == ""


def test_terminal_without_a_sign_shows_another_and_what_was_asked_is_done(tmp_path: Path) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    shown = _spawn("remember", "拿铁 café", data=tmp_path, **ascii_only)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("created: ?? caf?")
    listed = _spawn("search", "拿铁", "--json", data=tmp_path, **ascii_only)
    assert json.loads(listed.stdout)["matches"][0]["item"]["title"] == "拿铁 café"
    wrong = _spawn("tasks", "show", "没有", "--json", data=tmp_path, **ascii_only)
    assert "没有" in json.loads(wrong.stderr)["error"]["message"]


def test_export_to_a_terminal_without_a_sign_keeps_every_byte(tmp_path: Path) -> None:
    _spawn("remember", "拿铁 café", data=tmp_path)
    whole = tmp_path / "whole.jsonl"
    assert _spawn("export", str(whole), data=tmp_path).returncode == 0
    shown = subprocess.run(
        [sys.executable, "-c", _START, "export", "-", "--data", str(tmp_path)],
        capture_output=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert shown.stdout == whole.read_bytes()


class _FullDisk(io.TextIOWrapper):
    """A file on a disk that takes nothing any more."""

    def write(self, text: str, /) -> int:
        if text:
            raise OSError(errno.ENOSPC, "No space left on device")
        return 0


@pytest.mark.parametrize("arguments", [("tasks",), ("tasks", "--json")])
def test_output_that_cannot_be_written_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    with (tmp_path / "out").open("wb") as file, _FullDisk(file) as output:
        with redirect_stdout(output):
            code = main.run([*arguments, "--data", str(tmp_path)])
        # What is left of it goes nowhere, and so cannot fail again.
        os.write(output.fileno(), b"lost")
    assert code == CODES["store_unavailable"].exit
    assert "the output cannot be written: No space left on device" in capsys.readouterr().err
    assert (tmp_path / "out").read_bytes() == b""


def test_closed_streams_take_everything(tmp_path: Path) -> None:
    line = f"exec {shlex.quote(sys.executable)} -c {shlex.quote(_START)} remember 牛奶 <&- >&- 2>&-"
    environ = {**os.environ, "REMEMBRANCER_DATA": str(tmp_path)}
    assert subprocess.run(["sh", "-c", line], env=environ, timeout=60, check=False).returncode == 0
    assert "牛奶" in _spawn("search", "牛奶", data=tmp_path).stdout


def test_process_prints_chinese_and_json_and_ends_with_the_code(tmp_path: Path) -> None:
    added = _spawn("tasks", "add", "买菜", "#家", "--json", data=tmp_path)
    assert (added.returncode, added.stderr) == (0, "")
    item_id = json.loads(added.stdout)["item"]["id"]
    listed = _spawn("tasks", data=tmp_path, NO_COLOR="1", FORCE_COLOR="")
    assert "买菜" in listed.stdout
    assert "\x1b" not in listed.stdout
    assert _spawn("tasks", "done", item_id, data=tmp_path).returncode == 0
    gone = _spawn("tasks", "done", "itm_无", data=tmp_path)
    assert (gone.returncode, gone.stdout) == (4, "")
