"""REST of the general cache: what is put comes back, its time, its limits, and whose it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench
from tests.protocol.rest.doors import error_of, serve
from tests.protocol.rest.talk import talk

from remembrancer.core.cache import VALUE_BYTES_MAX

PATH = "/v1/cache/会话 1/摘要/昨天"


@pytest.mark.parametrize(
    ("value", "content_type"),
    [
        pytest.param("你好 👋", "text/plain", id="text"),
        pytest.param({"b": [1, 2.5, None], "a": "顺序"}, "application/json", id="object"),
        pytest.param(None, "application/json", id="null"),
        pytest.param(0, "application/json", id="zero"),
    ],
)
async def test_what_is_put_comes_back(value: Any, content_type: str) -> None:
    async with talk() as one:
        kept = await one.ask("PUT", PATH, {"value": value, "tags": ["标签"]})
        found = await one.ask("GET", PATH)
    assert found["value"] == value
    assert (found["namespace"], found["key"]) == ("会话 1", "摘要/昨天")
    assert (found["content_type"], found["tags"]) == (content_type, ["标签"])
    assert {name: found[name] for name in kept} == kept
    assert list(found["value"]) == list(value) if isinstance(value, dict) else True


async def test_entry_lives_a_day_unless_it_says_otherwise() -> None:
    async with talk() as one:
        runtime = one.served.runtime
        await one.ask("PUT", "/v1/cache/a/day", {"value": 1})
        await one.ask("PUT", "/v1/cache/a/minute", {"value": 2, "ttl_seconds": 60})
        await one.ask("PUT", "/v1/cache/a/ever", {"value": 3, "ttl_seconds": None})
        await one.ask("PUT", "/v1/cache/a/over", {"value": 4, "ttl_seconds": 0})
        await one.refuse("GET", "/v1/cache/a/over", status=404, code="not_found")
        runtime.advance(60_000)
        await one.refuse("GET", "/v1/cache/a/minute", status=404, code="not_found")
        assert (await one.ask("GET", "/v1/cache/a/day"))["value"] == 1
        runtime.advance(86_400_000)
        await one.refuse("GET", "/v1/cache/a/day", status=404, code="not_found")
        ever = await one.ask("GET", "/v1/cache/a/ever")
        await one.ask("PUT", "/v1/cache/b/other", {"value": 5})
        bench = Bench(sql=one.served.app.sql)
        left = await bench.rows("SELECT name FROM cache_entries")
    assert (ever["value"], ever["expires_at"]) == (3, None)
    assert {row["name"] for row in left} == {"ever", "other"}


async def test_last_writer_wins_and_deleting_twice_is_no_error() -> None:
    async with talk() as one:
        first = await one.ask("PUT", "/v1/cache/a/k", {"value": 1})
        one.served.runtime.advance(1_000)
        second = await one.ask("PUT", "/v1/cache/a/k", {"value": 2})
        assert (await one.ask("GET", "/v1/cache/a/k"))["value"] == 2
        gone = [await one.ask("DELETE", "/v1/cache/a/k") for _ in range(2)]
    assert first["created_at"] == second["created_at"] < second["updated_at"]
    assert [one["existed"] for one in gone] == [True, False]
    assert all(one["deleted"] for one in gone)


async def test_value_may_have_so_many_bytes_and_no_more() -> None:
    text = "字" * ((VALUE_BYTES_MAX - 2) // 3)
    async with talk() as one:
        kept = await one.ask("PUT", "/v1/cache/a/k", {"value": text})
        error = await one.refuse(
            "PUT", "/v1/cache/a/k", {"value": text + "字"}, status=413, code="payload_too_large"
        )
        for body in ({"value": 1, "ttl_seconds": -1}, {"value": 1, "ttl_seconds": 1e12}, {}):
            await one.refuse("PUT", "/v1/cache/a/k", body, code="invalid_input")
        assert (await one.ask("GET", "/v1/cache/a/k"))["value"] == text
    assert kept["size_bytes"] <= VALUE_BYTES_MAX
    assert str(VALUE_BYTES_MAX) in error["hint"]


async def test_scopes_of_reading_and_writing_are_apart() -> None:
    im = {"authorization": "Bearer sk-other-im"}
    async with serve({"IM_API_KEY": "sk-other-im"}).client() as client:
        refused = await client.put("/v1/cache/a/k", headers=im, json={"value": 1})
        read = await client.get("/v1/cache/a/k", headers=im)
    error_of(refused, status=403, code="forbidden")
    assert read.status_code == 404


async def test_cache_that_is_switched_off_is_not_there() -> None:
    async with talk({"ENABLE_CACHE_API": "false"}) as one:
        for method in ("GET", "DELETE"):
            await one.refuse(method, "/v1/cache/a/k", status=404, code="not_found")
        await one.refuse("PUT", "/v1/cache/a/k", {"value": 1}, status=404, code="not_found")
