"""Redaction on every way into a memory: nothing secret is in any table, nor in an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.commit import Answer
from remembrancer.app.items.read import get_artifact
from remembrancer.app.items.write import create_item, quick_capture, update_item
from remembrancer.core.limits import CONTENT_CHARS_MAX

SECRET = "hunter2#x"
LONG = "字" * CONTENT_CHARS_MAX + f" 密码：{SECRET}"

Way = Callable[[Bench], Awaitable[Answer]]


async def _create(bench: Bench) -> Answer:
    return await create_item(
        bench.app,
        bench.caller(),
        {
            "kind": "memory",
            "title": f"密码：{SECRET}",
            "content": f"password: {SECRET}",
            "summary": f"密码 {SECRET}",
            "raw_input": f"密码是{SECRET}",
            "source": f"pwd={SECRET}",
            "steps": [{"text": f"密码：{SECRET}"}],
        },
    )


async def _capture(bench: Bench) -> Answer:
    return await quick_capture(bench.app, bench.caller(), f"记住：密码：{SECRET} #家", {})


async def _capture_as_memory(bench: Bench) -> Answer:
    given = {"kind": "memory"}
    return await quick_capture(bench.app, bench.caller(), f"密码：{SECRET}", given)  # type: ignore[arg-type]


async def _capture_without_a_kind(bench: Bench) -> Answer:
    return await quick_capture(bench.app, bench.caller(), f"wifi 密码：{SECRET}", {})


async def _update(bench: Bench) -> Answer:
    made = await create_item(bench.app, bench.caller(), {"kind": "memory", "title": "wifi"})
    return await update_item(
        bench.app,
        bench.caller(),
        id_of(made),
        {"content": f"密码：{SECRET}", "add_note": f"密码：{SECRET}"},
    )


async def _long(bench: Bench) -> Answer:
    given = {"kind": "memory", "title": "long", "content": LONG}
    made = await create_item(bench.app, bench.caller(), given)  # type: ignore[arg-type]
    artifact = await get_artifact(bench.app, bench.caller(), str(item_of(made)["artifact_id"]))
    assert "[redacted:password]" in str(artifact)
    return made


@pytest.mark.parametrize(
    "way",
    [_create, _capture, _capture_as_memory, _capture_without_a_kind, _update, _long],
    ids=lambda way: way.__name__,
)
async def test_secret_is_in_no_table_and_in_no_answer(way: Way) -> None:
    bench = Bench()
    answer = await way(bench)
    assert SECRET not in str(answer)
    kept = await bench.rows("SELECT body FROM events UNION SELECT text FROM artifact_chunks")
    assert "[redacted:" in str(kept)
    for table in ("events", "items", "item_versions", "search", "artifact_chunks", "idempotency"):
        assert "hunter2" not in str(await bench.rows(f"SELECT * FROM {table}")), table


async def test_capture_keeps_the_marker_after_a_secret() -> None:
    item = item_of(await _capture(Bench()))
    assert (item["title"], item["tags"]) == ("密码：[redacted:password]", ["家"])


async def test_task_keeps_its_text_until_it_becomes_a_memory() -> None:
    bench = Bench()
    text = f"password: {SECRET}"
    given = {"kind": "task", "title": text, "content": text, "add_note": text}
    made = await create_item(bench.app, bench.caller(), given)  # type: ignore[arg-type]
    assert item_of(made)["title"] == text
    turned = await update_item(bench.app, bench.caller(), id_of(made), {"kind": "memory"})
    assert SECRET not in str(turned)
    assert "hunter2" not in str(await bench.rows("SELECT title, content, notes FROM items"))


async def test_title_at_its_limit_still_fits_when_a_mark_is_longer() -> None:
    bench = Bench()
    title = "字" * 186 + " password: 12"
    given = {"kind": "memory", "title": title + "3"}
    item = item_of(await create_item(bench.app, bench.caller(), given))  # type: ignore[arg-type]
    assert "123" not in str(item["title"])
    assert len(str(item["title"])) == 200
