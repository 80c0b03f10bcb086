"""Explanations of recalls: what is forgotten leaves them."""

from __future__ import annotations

from typing import Any

from tests.app.recall.shelf import Shelf

from remembrancer.app.forget import forget_item
from remembrancer.app.recall.answers import explain_recall


async def test_forgotten_item_leaves_every_explanation() -> None:
    shelf = Shelf()
    gone = await shelf.save("我的测试暗号是苹果星星-0428。")
    kept = await shelf.save("测试暗号的规则写在门上")
    asked = await shelf.recall("测试暗号是什么", is_search=True)
    other = await shelf.recall("规则写在哪了", is_search=True)
    quoting = await shelf.recall("请记住：我的测试暗号是苹果星星-0428。另外买茶", is_search=True)
    await shelf.bench.runtime.drain()
    await forget_item(shelf.app, shelf.bench.caller(), gone)
    rows = await shelf.bench.rows("SELECT * FROM recalls")
    assert not any(gone in str(row) or "苹果星星" in str(row) for row in rows)
    answer: Any = await explain_recall(shelf.app, shelf.bench.caller(), asked.id)
    assert answer["recall"]["query"] == "[forgotten]"
    assert [one["id"] for one in answer["recall"]["candidates"]] == [kept]
    assert quoting.id in {str(row["id"]) for row in rows if row["query"] == "[forgotten]"}
    rest: Any = await explain_recall(shelf.app, shelf.bench.caller(), other.id)
    assert rest["recall"]["candidates"][0]["gate"] is None
    assert rest["recall"]["tokens"] == other.tokens
