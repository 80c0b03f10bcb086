"""The digest: at most 500 characters, never cut, every version in the ledger."""

from __future__ import annotations

import pytest
from tests.builders import Bench

from remembrancer.app.history import history
from remembrancer.app.library.digest import get_digest, set_digest
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import LimitExceeded
from remembrancer.core.values import JSON


async def content(bench: Bench) -> JSON:
    digest = (await get_digest(bench.app, bench.caller()))["digest"]
    return digest["content"] if isinstance(digest, dict) else digest


async def test_digest_starts_as_none_is_set_shown_and_unchanged() -> None:
    bench = Bench()
    assert await get_digest(bench.app, bench.caller()) == {"digest": None}
    first = await set_digest(bench.app, bench.caller(), " 喜欢喝茶，住在新加坡。 ")
    assert first == {
        "digest": {
            "content": "喜欢喝茶，住在新加坡。",
            "version": 1,
            "updated_at": "2026-03-01T12:00:00Z",
        },
        "changed": True,
    }
    assert (await get_digest(bench.app, bench.caller()))["digest"] == first["digest"]
    again = await set_digest(bench.app, bench.caller(), "喜欢喝茶，住在新加坡。")
    assert again == {"digest": first["digest"], "changed": False}


@pytest.mark.parametrize("char", ["字", "a", "🍎"])
async def test_digest_of_500_characters_is_kept_and_one_more_refused(char: str) -> None:
    bench = Bench()
    await set_digest(bench.app, bench.caller(), char * 500)
    with pytest.raises(LimitExceeded) as caught:
        await set_digest(bench.app, bench.caller(), char * 501)
    assert (caught.value.code, caught.value.field) == ("limit_exceeded", "content")
    assert await content(bench) == char * 500


async def test_every_version_is_in_the_ledger_and_undo_goes_back() -> None:
    bench = Bench()
    await set_digest(bench.app, bench.caller(), "一")
    change = bench.caller()
    await set_digest(bench.app, change, "二")
    shown = await history(bench.app, bench.caller(), stream="digest")
    assert isinstance(shown["events"], list)
    assert len(shown["events"]) == 2
    taking = bench.caller()
    await undo(bench.app, taking, cause=change.cause)
    assert await content(bench) == "一"
    await redo(bench.app, bench.caller(), cause=taking.cause)
    assert await content(bench) == "二"


async def test_empty_digest_takes_it_away_and_rebuild_agrees() -> None:
    bench = Bench()
    await set_digest(bench.app, bench.caller(), "一")
    cleared = await set_digest(bench.app, bench.caller(), "  ")
    assert cleared == {"digest": None, "changed": True}
    assert await content(bench) is None
    assert (await set_digest(bench.app, bench.caller(), ""))["changed"] is False
    await set_digest(bench.app, bench.caller(), "新的")
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_digest_of_another_namespace_is_its_own() -> None:
    bench = Bench()
    await set_digest(bench.app, bench.caller(), "我的")
    other = await get_digest(bench.app, bench.caller(namespace="other"))
    assert other == {"digest": None}


async def test_secret_is_taken_out_of_the_digest() -> None:
    bench = Bench()
    secret = "sk-" + "proj-Abc123Def456Ghi789Jkl012Mno345"
    await set_digest(bench.app, bench.caller(), f"密钥是{secret}。")
    assert "[redacted:" in str(await content(bench))
    assert secret not in repr(await bench.rows("SELECT * FROM events"))
