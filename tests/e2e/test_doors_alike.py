"""Bad input at every door: the same documented code, and nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

import pytest
from tests.e2e.doors import CODES, OK, Doors, Rest, Tool, open_doors, path_of

MEGABYTE = "题" * 350_000
"""A title of a megabyte."""
LONG = "题" * 30_000
"""A title that a command line can still hold."""
OVER_THE_CAP = "题" * 1_400_000
"""More than a body may hold."""
SQL = "' OR 1=1; DROP TABLE items; --"
SEARCH = 'NEAR(a* "b) AND NOT {c}:^ -牛奶%_\\'
KEY = "remembrancer/idempotency-key"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that goes wrong, as each door is asked for it; None where it cannot be asked."""

    code: str
    tool: Tool
    rest: Rest
    cli: tuple[str, ...] | None = None
    key: str = "owner"
    namespace: str | None = None


def _list(
    query: str, *, cli: tuple[str, ...] | None = None, code: str, **arguments: object
) -> Case:
    return Case(code, Tool("list_items", arguments), Rest("GET", f"/v1/items?{query}"), cli)


def _create(code: str, cli: tuple[str, ...] | None = None, **fields: object) -> Case:
    return Case(code, Tool("create_item", fields), Rest("POST", "/v1/items", fields), cli)


def _by(key: str, code: str, *, is_read: bool = False, namespace: str | None = None) -> Case:
    if is_read:
        listed = Rest("GET", "/v1/items")
        return Case(code, Tool("list_items", {}), listed, ("tasks", "list"), key, namespace)
    body = {"title": "x"}
    return Case(
        code,
        Tool("create_item", body),
        Rest("POST", "/v1/items", body),
        ("tasks", "add", "x"),
        key,
        namespace,
    )


def _show(code: str, item_id: str) -> Case:
    return Case(
        code,
        Tool("get_item", {"id": item_id}),
        Rest("GET", path_of(item_id)),
        ("tasks", "show", item_id),
    )


def _edit(code: str, item_id: str, cli: tuple[str, ...] | None = None, **fields: object) -> Case:
    return Case(
        code,
        Tool("update_item", {"id": item_id, **fields}),
        Rest("PATCH", path_of(item_id), fields),
        ("tasks", "edit", item_id, *cli) if cli is not None else None,
    )


def _relate(code: str, source: str, target: str) -> Case:
    body = {"source_id": source, "type": "blocks", "target_id": target}
    return Case(code, Tool("add_relation", body), Rest("POST", "/v1/relations", body))


def _repeated(code: str, key: str) -> Case:
    body = {"title": "another"}
    return Case(
        code,
        Tool("create_item", body, meta={KEY: key}),
        Rest("POST", "/v1/items", body, headers={"idempotency-key": key}),
    )


def _raw(code: str, text: str) -> Case:
    return Case(code, Tool("", {}, line=text), Rest("POST", "/v1/items", text=text))


CASES = {
    "unknown id": _show("not_found", "itm_none"),
    "id of a foreign namespace": _show("not_found", "{theirs}"),
    "id of sql": _show("not_found", SQL),
    "edit of an unknown id": _edit("not_found", "itm_none", title="x"),
    "edit of a foreign item": _edit("not_found", "{theirs}", title="x"),
    "edit of a deleted item": _edit("conflict", "{gone}", ("--title", "x"), title="x"),
    "forgetting an unknown id": Case(
        "not_found",
        Tool("forget", {"id": "itm_none"}),
        Rest("POST", "/v1/items/itm_none/forget"),
        ("forget", "itm_none", "--yes"),
    ),
    "unknown project": _create("not_found", title="x", project="无"),
    "foreign namespace by name": _by("writer", "forbidden", is_read=True, namespace="other"),
    "writing to a foreign namespace": _by("writer", "forbidden", namespace="other"),
    "unknown key": _by("unknown", "unauthenticated"),
    "expired key": _by("expired", "unauthenticated"),
    "key that may only read": _by("reader", "forbidden"),
    "key without memory": _by("stranger", "forbidden", is_read=True),
    "impossible date": _edit("invalid_date", "{milk}", ("--due", "2026-02-30"), due="2026-02-30"),
    "impossible chinese date": _create(
        "invalid_date", ("tasks", "add", "x", "--due", "二月三十日"), title="x", due="二月三十日"
    ),
    "impossible past": _list(
        "as_of=2026-02-30",
        cli=("tasks", "list", "--as-of", "2026-02-30"),
        code="invalid_date",
        as_of="2026-02-30",
    ),
    "unknown state": Case(
        "invalid_input",
        Tool("set_item_lifecycle_state", {"id": "{milk}", "lifecycle_state": "lost"}),
        Rest("POST", "/v1/items/{milk}/state", {"state": "lost"}),
    ),
    "unknown action": Case(
        "invalid_input",
        Tool("update_task_state", {"id": "{milk}", "action": "lose"}),
        Rest("POST", "/v1/items/{milk}/state", {"action": "lose"}),
    ),
    "circle": _relate("cycle", "{bread}", "{milk}"),
    "relation to itself": _relate("invalid_input", "{milk}", "{milk}"),
    "relation to a foreign item": _relate("not_found", "{milk}", "{theirs}"),
    "eleventh startup priority": _edit(
        "invalid_input", "{milk}", ("--startup", "11"), startup_priority=11
    ),
    "empty title": _create("invalid_input", ("tasks", "add", ""), title=""),
    "blank title": _create("invalid_input", title=" \u3000\n"),
    "title of a megabyte": _create("limit_exceeded", title=MEGABYTE),
    "body over the cap": _create("payload_too_large", title="x", content=OVER_THE_CAP),
    "long title": _edit("limit_exceeded", "{milk}", ("--title", LONG), title=LONG),
    "no json": _raw("invalid_json", '{"title": '),
    "json that nests without end": _raw("invalid_json", '{"title": ' + "[" * 100_000),
    "json that nests too deep": _raw("invalid_json", "[" * 10_000 + "]" * 10_000),
    "json with a number that is none": _raw("invalid_json", '{"title": NaN}'),
    "number for a text": _create("invalid_input", title=5),
    "text for a flag": _create("invalid_input", title="x", pinned="perhaps"),
    "text for a number": _list("limit=many", code="invalid_input", limit="many"),
    "list for arguments": Case(
        "invalid_input", Tool("create_item", ["x"]), Rest("POST", "/v1/items", ["x"])
    ),
    "unknown argument": _create(
        "invalid_input", ("tasks", "add", "x", "--colour", "red"), title="x", colour="red"
    ),
    "unknown filter": _list("colour=red", code="invalid_input", colour="red"),
    "version of another time": Case(
        "version_conflict",
        Tool("update_item", {"id": "{milk}", "title": "x", "expected_version": 99}),
        Rest("PATCH", "/v1/items/{milk}", {"title": "x"}, headers={"if-match": '"99"'}),
        ("tasks", "edit", "{milk}", "--title", "x", "--version", "99"),
    ),
    "idempotency key too long": _repeated("invalid_input", "k" * 300),
    "idempotency key of another request": _repeated("idempotency_key_reused", "used"),
    "limit of nothing": _list(
        "limit=0", cli=("tasks", "list", "--limit", "0"), code="invalid_input", limit=0
    ),
    "limit too high": _list("limit=101", code="invalid_input", limit=101),
    "broken cursor": _list(
        "cursor=abc", cli=("tasks", "list", "--cursor", "abc"), code="invalid_input", cursor="abc"
    ),
    "sort of sql": _list(
        f"sort={quote(SQL)}",
        cli=("tasks", "list", "--sort", SQL),
        code="invalid_input",
        sort=SQL,
    ),
    "filter of sql": _list(
        f"tag={quote(SQL)}", cli=("tasks", "list", "--tag", SQL), code=OK, tags=[SQL]
    ),
    "search of signs": Case(
        OK,
        Tool("semantic_search", {"query": SEARCH}),
        Rest("GET", f"/v1/search/items?q={quote(SEARCH)}"),
        ("search", SEARCH),
    ),
}


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """One household with all doors open: nothing that is tried here may change it."""
    opened = open_doors(tmp_path_factory.mktemp("doors"))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", CASES)
def test_doors_say_the_same_and_nothing_changes(doors: Doors, name: str) -> None:
    case = CASES[name]
    tool = Tool(case.tool.name, doors.filled(case.tool.arguments), case.tool.meta, case.tool.line)
    asked = case.rest
    request = Rest(
        asked.method, doors.filled(asked.url), doors.filled(asked.body), asked.text, asked.headers
    )
    before = doors.dump()
    said = {
        "mcp over http": doors.mcp_http(tool, case.key, case.namespace),
        "mcp over stdio": doors.mcp_stdio(tool, case.key, case.namespace),
        "rest": doors.rest(request, case.key, case.namespace),
    }
    if case.cli is not None:
        arguments = [doors.filled(each) for each in case.cli]
        said["command line"] = doors.cli(arguments, case.key, case.namespace)
    assert said == dict.fromkeys(said, case.code)
    assert doors.dump() == before


def test_every_code_is_read_from_the_reference() -> None:
    assert len(CODES) >= 20
    assert {case.code for case in CASES.values()} <= {OK, *CODES}


def test_good_input_changes_the_store_at_every_door(doors: Doors) -> None:
    body = {"title": "好的 and good"}
    made = Tool("create_item", body)
    dumps = [doors.dump()]
    asks: tuple[Callable[[], str], ...] = (
        partial(doors.mcp_http, made, "owner", None),
        partial(doors.mcp_stdio, made, "writer", None),
        partial(doors.mcp_stdio, made, "owner", None),
        partial(doors.rest, Rest("POST", "/v1/items", body), "owner", None),
        partial(doors.cli, ("tasks", "add", "好的"), "owner", None),
    )
    for ask in asks:
        assert ask() == OK
        dumps.append(doors.dump())
    lengths = [len(dump["events"]) for dump in dumps]
    assert lengths == [lengths[0] + number for number in range(len(asks) + 1)]
