"""Export, import, backup and restore at the command line."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.cli.running import Program
from tests.cli.test_remote import KEY, URL, _App

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import create_item
from remembrancer.local.wire import LocalApp, open_app


def _other(program: Program, name: str = "另一处") -> Program:
    """The program on another data folder."""
    return replace(program, data=program.data.with_name(name))


def test_export_imported_elsewhere_exports_the_same_bytes(program: Program, tmp_path: Path) -> None:
    item = program.item("tasks", "add", "写周报", "#工作", "+甲")
    program("remember", "likes 茶")
    program("keys", "create", "笔记本", "--scope", "memory:read")
    first, second = tmp_path / "一.jsonl", tmp_path / "二.jsonl"
    report = program("export", str(first), "--json").json
    assert report["counts"]["events"] >= 4
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    other = _other(program)
    assert other("import", str(first), "--dry-run", "--json").json["dry_run"] is True
    assert other("import", str(first), "--json").json["events"] == report["counts"]["events"]
    assert f"exported to {second}:" in other("export", str(second)).out
    assert second.read_bytes() == first.read_bytes()
    assert other.item("tasks", "show", item["id"]) == item
    assert other("verify", "--all").code == 0
    assert "events present" in other("import", str(first)).out
    assert list(tmp_path.glob(".*.part")) == []


def test_export_to_the_standard_output_is_the_file(program: Program, tmp_path: Path) -> None:
    program("tasks", "add", "一")
    program("export", str(tmp_path / "a.jsonl"))
    shown = program("export", "-")
    assert shown.code == 0
    assert shown.out.encode() == (tmp_path / "a.jsonl").read_bytes()


def test_export_without_keys_holds_none(program: Program) -> None:
    program("keys", "create", "laptop", "--scope", "memory:read")
    program("tasks", "add", "一")
    assert "laptop" in program("export", "-").out
    assert "laptop" not in program("export", "-", "--without-keys").out


def test_import_of_a_broken_file_names_the_line_and_writes_nothing(
    program: Program, tmp_path: Path
) -> None:
    program("tasks", "add", "一件事")
    file = tmp_path / "a.jsonl"
    program("export", str(file))
    file.write_bytes(file.read_bytes().replace("一件事".encode(), "二件事".encode()))
    other = _other(program)
    broken = other("import", str(file), "--json")
    assert broken.code == 7
    assert "line 2 " in broken.error["message"]
    assert other("export", "-").out.count("\n") == 2
    assert other("import", str(tmp_path / "无.jsonl")).code == 2


def test_import_into_a_store_that_holds_something_is_refused(
    program: Program, tmp_path: Path
) -> None:
    program("tasks", "add", "一")
    program("export", str(tmp_path / "a.jsonl"))
    other = _other(program)
    other("tasks", "add", "别的")
    refused = other("import", str(tmp_path / "a.jsonl"))
    assert refused.code == 5
    assert "--data" in refused.err
    other = _other(program, "三")
    other("tasks", "add", "别的", "--namespace", "neighbour")
    told = other("import", str(tmp_path / "a.jsonl"))
    assert told.code == 0
    assert "numbered anew" in told.out


def test_backup_of_an_open_store_restores_it_and_keeps_what_it_replaces(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.local.backup.LOCK_WAIT_S", 0.05)
    item = program.item("tasks", "add", "写周报")
    copy = tmp_path / "副本.db"
    # Somebody has the store open, and has begun to write.
    with closing(sqlite3.connect(program.data / "remembrancer.db")) as busy:
        busy.execute("BEGIN IMMEDIATE")
        report = program("backup", str(copy), "--json").json
        assert report["events"] >= 1
        busy.execute("ROLLBACK")
        # It does nothing by now, but goes on as soon as somebody asks.
        refused = program("restore", str(copy), "--replace")
        assert refused.code == 5
        assert "is in use" in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["副本.db", "数据"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert program("backup", str(copy)).code == 5
    later = program.item("tasks", "add", "later")
    assert program("restore", str(copy)).code == 5
    restored = program("restore", str(copy), "--replace", "--json").json
    assert Path(restored["kept"]).name == "remembrancer.db.before-restore"
    assert program.item("tasks", "show", item["id"]) == item
    assert program("tasks", "show", later["id"]).code == 4
    assert program("verify").code == 0
    assert program("restore", restored["kept"], "--replace").code == 0
    assert program.item("tasks", "show", later["id"]) == later


async def _keep(data: Path, text: str) -> None:
    """Keep a long memory, which no command of the program takes."""
    async with open_app(str(data), {}) as local:
        given: ItemInput = {"title": "长文", "kind": "memory", "content": text}
        await create_item(local.app, local.owner(), given)


def test_backup_carries_the_texts_that_were_moved_out(program: Program, tmp_path: Path) -> None:
    text = "很长的内容。" * 2_000
    asyncio.run(_keep(program.data, text))
    assert program("jobs", "run", "artifacts", "--json").json["counts"]["moved"] == 1
    [folder] = (program.data / "artifacts").iterdir()
    [file] = folder.iterdir()
    assert file.read_bytes() == text.encode() and stat.S_IMODE(file.stat().st_mode) == 0o600
    copy = tmp_path / "副本.db"
    assert program("backup", str(copy), "--json").json["texts_missing"] == 0
    exported = program("export", "-").out
    assert text[:100] in exported
    other = _other(program)
    assert other("restore", str(copy)).code == 0
    assert other("export", "-").out == exported
    # The database that is set aside keeps its texts, too.
    kept = program("restore", str(copy), "--replace", "--json").json["kept"]
    assert not (program.data / "artifacts").exists()
    assert program("export", "-").out == exported
    third = _other(program, "第三")
    assert third("restore", kept).code == 0
    assert third("export", "-").out == exported
    assert program("jobs", "run", "artifacts", "--json").json["counts"]["moved"] == 1
    for each in (program.data / "artifacts").rglob("*"):
        if each.is_file():
            each.write_bytes(b"damaged")
    assert program("backup", str(tmp_path / "b.db"), "--json").json["texts_missing"] == 1
    refused = program("export", "-")
    assert (refused.code, "blob store" in refused.err) == (7, True)


def test_restore_into_an_empty_folder_needs_no_replacing(program: Program, tmp_path: Path) -> None:
    item = program.item("tasks", "add", "写周报")
    program("backup", str(tmp_path / "a.db"))
    for other in (_other(program), _other(program, "新")):
        if other.data.name == "新":
            assert other("tasks").code == 0
        assert "restored:" in other("restore", str(tmp_path / "a.db")).out
        assert other.item("tasks", "show", item["id"]) == item


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(None, 2, id="missing"),
        pytest.param(b"", 2, id="empty"),
        pytest.param(b"not a database at all" * 100, 2, id="no-database"),
        pytest.param(b"SQLite format 3\0" + b"x" * 5_000, 7, id="damaged"),
    ],
)
def test_restore_of_what_is_no_backup_is_refused_and_leaves_the_store(
    program: Program, tmp_path: Path, content: bytes | None, code: int
) -> None:
    item = program.item("tasks", "add", "写周报")
    file = tmp_path / "a.db"
    if content is not None:
        file.write_bytes(content)
    assert program("restore", str(file), "--replace").code == code
    assert program.item("tasks", "show", item["id"]) == item
    assert [path.name for path in program.data.glob("*.part*")] == []
    assert program("backup", str(program.data / "remembrancer.db" / "b.db")).code == 7
    assert _other(program)("backup", str(tmp_path / "b.db")).code == 4


def test_remote_export_is_the_local_one_and_the_rest_is_refused_with_a_sentence(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("tasks", "add", "写周报", "#工作")
    plain = httpx.AsyncClient
    monkeypatch.setattr(
        httpx, "AsyncClient", lambda **given: plain(**{**given, "transport": _App(program)})
    )
    where = ("--url", URL, "--token", KEY)
    assert program.bare("export", "-", *where).out == program("export", "-").out
    everyone = program.bare("export", str(tmp_path / "a.jsonl"), "--all", *where)
    assert everyone.code == 0
    header = json.loads((tmp_path / "a.jsonl").read_bytes().split(b"\n")[0])
    assert header["namespace"] is None
    assert program.bare("export", "-", "--url", URL, "--token", "wrong").code == 3
    for command in ("backup", "restore"):
        refused = program.bare(command, str(tmp_path / "a.jsonl"), *where)
        assert refused.code == 2
        assert "not over the network" in refused.err


class _Bounded(_App):
    """A server whose requests do one piece, as on the platform; it is away now and then."""

    def __init__(self, program: Program, away: frozenset[int] = frozenset()) -> None:
        super().__init__(program)
        self._away = away
        self.requests = 0

    def made(self, local: LocalApp) -> LocalApp:
        return replace(local, app=replace(local.app, request_pieces=1))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        response = await super().handle_async_request(request)
        if self.requests in self._away:  # it was done, and nobody heard of it
            raise httpx.ReadError("gone")
        return response


def test_remote_import_goes_in_pieces_and_export_verify_and_rebuild_too(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("写周报 #工作 +甲", "买牛奶 @家务", "call Anna"):
        program("tasks", "add", *text.split())
    asyncio.run(_keep(program.data, "很长的内容。" * 2_000))
    file, back = tmp_path / "一.jsonl", tmp_path / "二.jsonl"
    program("export", str(file))
    other = _other(program)
    server = _Bounded(other, away=frozenset({2, 5, 9, 14}))
    plain = httpx.AsyncClient
    monkeypatch.setattr(
        httpx, "AsyncClient", lambda **given: plain(**{**given, "transport": server})
    )
    monkeypatch.setattr("remembrancer.cli.pieces.PAUSE_S", 0)
    monkeypatch.setattr("remembrancer.cli.pieces.PIECE_BYTES", 2_000)
    monkeypatch.setattr("remembrancer.app.importing.PIECE_LINES", 3)
    monkeypatch.setattr("remembrancer.app.verify.PAGE_EVENTS", 2)
    monkeypatch.setattr("remembrancer.app.verify.PIECE_PAGES", 1)
    monkeypatch.setattr("remembrancer.app.rebuild.CHUNK_EVENTS", 4)
    where = ("--url", URL, "--token", KEY)
    dry = program.bare("import", str(file), "--dry-run", "--json", *where).json
    assert (dry["dry_run"], dry["events"] > 5) == (True, True)
    done = program.bare("import", str(file), "--json", *where).json
    # What a request did whose answer was lost is there already when it is repeated.
    assert done["events"] + done["events_present"] == dry["events"] > done["events"]
    assert (done["positions_kept"], done["artifacts"]) == (True, 1)
    assert server.requests > 8
    monkeypatch.setattr("remembrancer.store.export.PAGE_ROWS", 2)
    monkeypatch.setattr("remembrancer.app.export.PIECE_STATEMENTS", 6)
    server.requests = 100
    assert program.bare("export", str(back), *where).code == 0
    assert server.requests > 102
    assert back.read_bytes() == file.read_bytes()
    server.requests = 0
    assert "The ledger is whole." in program.bare("verify", *where).out
    rebuilt = program.bare("rebuild", "--json", *where).json
    assert (rebuilt["events"], rebuilt["rows_changed"]) == (dry["events"], 0)
    assert server.requests > 8
    again = program.bare("import", str(file), "--json", *where).json
    assert (again["events"], again["events_present"]) == (0, dry["events"])


def test_remote_import_of_a_broken_file_sends_nothing(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("tasks", "add", "一件事")
    file = tmp_path / "a.jsonl"
    program("export", str(file))
    file.write_bytes(file.read_bytes().replace("一件事".encode(), "二件事".encode()))
    server = _Bounded(_other(program))
    plain = httpx.AsyncClient
    monkeypatch.setattr(
        httpx, "AsyncClient", lambda **given: plain(**{**given, "transport": server})
    )
    broken = program.bare("import", str(file), "--json", "--url", URL, "--token", KEY)
    assert (broken.code, server.requests) == (7, 0)
    assert "line 2 " in broken.error["message"]


def test_remote_export_that_ends_early_leaves_no_file(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("tasks", "add", "写周报")
    whole = program("export", "-").out.encode()
    plain = httpx.AsyncClient

    def client(**given: object) -> httpx.AsyncClient:
        cut = httpx.MockTransport(lambda _: httpx.Response(200, content=whole[:-20]))
        return plain(transport=cut)

    monkeypatch.setattr(httpx, "AsyncClient", client)
    ran = program.bare("export", str(tmp_path / "a.jsonl"), "--url", URL, "--token", KEY)
    assert ran.code == 7
    assert list(tmp_path.glob("*.jsonl*")) == []


@pytest.mark.parametrize("how", ["no database", "zeros inside"])
def test_restore_replaces_a_damaged_database_and_keeps_all_of_it(
    program: Program, tmp_path: Path, how: str
) -> None:
    for number in range(20):
        program("remember", f"第 {number} 件事 " + "很长的话" * 30)
    copy = tmp_path / "copy.db"
    assert program("backup", str(copy)).code == 0
    database, texts = program.data / "remembrancer.db", program.data / "artifacts"
    texts.mkdir(exist_ok=True)
    (texts / "长文").write_text("长文")
    raw = bytearray(database.read_bytes())
    if how == "no database":
        raw[:4_096] = b"x" * 4_096
    else:
        for offset in range(8_192, len(raw), 4_096):
            raw[offset : offset + 4_096] = bytes(4_096)
    database.write_bytes(raw)
    refused = program("restore", str(copy), "--json")
    assert (refused.code, "--replace" in refused.error["hint"]) == (5, True)
    kept = Path(program("restore", str(copy), "--replace", "--json").json["kept"])
    assert kept.read_bytes() == raw
    assert (program.data / "artifacts.before-restore" / "长文").read_text() == "长文"
    assert program("tasks", "list", "--json").code == 0
    assert program("verify", "--json").json["ok"] is True


def test_restore_of_an_export_says_what_reads_it(program: Program, tmp_path: Path) -> None:
    program("remember", "一件事")
    file = tmp_path / "memory.jsonl"
    program("export", str(file))
    refused = program("restore", str(file), "--replace", "--json")
    assert refused.code == 2 and "import" in refused.error["hint"]
