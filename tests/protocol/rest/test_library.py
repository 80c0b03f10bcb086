"""REST of the library and of messages, at the predecessor's paths."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.rest.doors import DOG, error_of, serve
from tests.protocol.rest.talk import talk

QUOTE = "  请记住：我的测试暗号是苹果星星-0428。\r\n"


async def test_precious_quote_is_kept_byte_for_byte_listed_and_removed_with_a_reason() -> None:
    async with talk() as one:
        body = {"content": QUOTE, "context_message_ids": ["msg_1"]}
        made = await one.send("POST", "/v1/precious", json=body)
        again = await one.send("POST", "/v1/precious", json=body)
        listed = await one.ask("GET", "/v1/precious")
        id_ = made.json()["data"]["id"]
        bare = await one.refuse("DELETE", f"/v1/precious/{id_}", code="invalid_input")
        empty = await one.refuse("DELETE", f"/v1/precious/{id_}?reason=", code="invalid_input")
        removed = await one.ask("DELETE", f"/v1/precious/{id_}", params={"reason": "说错了"})
        await one.refuse("DELETE", f"/v1/precious/{id_}?reason=x", status=404, code="not_found")
        gone = await one.ask("GET", "/v1/precious")
        await one.ask("POST", "/v1/undo", {"cause": removed["cause"]})
        back = await one.ask("GET", "/v1/precious")
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["data"]["content"] == QUOTE
    assert made.json()["data"]["source"] == "human"
    assert listed["data"] == [made.json()["data"]]
    assert bare["field"] == "reason" if "field" in bare else "reason" in bare["message"]
    assert "reason" in empty["message"]
    assert removed["removed"] is True
    assert (gone["data"], back["data"]) == ([], listed["data"])


@pytest.mark.parametrize("limit", [1, 200])
async def test_precious_page_is_of_the_size_asked_for(limit: int) -> None:
    async with talk() as one:
        for number in range(3):
            await one.ask("POST", "/v1/precious", {"content": f"话{number}"})
        page = await one.ask("GET", f"/v1/precious?limit={limit}")
        await one.refuse("GET", "/v1/precious?limit=201", code="invalid_input")
    assert (page["count"], page["total"]) == (min(limit, 3), 3)
    assert page["data"][0]["content"] == "话2"


async def test_glossary_entry_is_made_changed_and_removed_at_its_path() -> None:
    async with talk() as one:
        body = {"term": "苹果星星", "definition": "暗号", "aliases": ["星星"]}
        made = await one.send("POST", "/v1/glossary", json=body)
        again = await one.send("POST", "/v1/glossary", json=body)
        id_ = made.json()["data"]["id"]
        changed = await one.ask("PATCH", f"/v1/glossary/{id_}", {"examples": ["苹果星星-0428"]})
        clash = {"term": "別的", "definition": "x", "aliases": ["星星"]}
        error = await one.refuse("POST", "/v1/glossary", clash, status=409, code="conflict")
        listed = await one.ask("GET", "/v1/glossary?status=active")
        await one.ask("DELETE", f"/v1/glossary/{id_}")
        gone = {"status": 404, "code": "not_found"}
        await one.refuse("DELETE", f"/v1/glossary/{id_}", **gone)  # type: ignore[arg-type]
        await one.refuse("PATCH", f"/v1/glossary/{id_}", {"term": "x"}, **gone)  # type: ignore[arg-type]
        empty = await one.ask("GET", "/v1/glossary")
    assert (made.status_code, again.status_code) == (201, 200)
    assert again.json()["outcome"] == "unchanged"
    assert (changed["outcome"], changed["data"]["aliases"]) == ("updated", ["星星"])
    assert error["details"]["term"] == "苹果星星"
    assert [entry["term"] for entry in listed["data"]] == ["苹果星星"]
    assert empty["data"] == []


INGEST = ["/v1/ingest/messages", "/v1/memories/ingest", "/v1/messages/ingest"]


@pytest.mark.parametrize("path", INGEST)
async def test_messages_are_stored_once_at_each_path(path: str) -> None:
    body = {
        "messages": [{"role": "user", "content": QUOTE}, {"role": "assistant", "content": "好"}],
        "conversation_id": "聊天",
        "source": "hook",
        "auto_extract": True,
    }
    async with talk() as one:
        first = await one.ask("POST", path, body)
        again = await one.ask("POST", path, body)
        pack = await one.ask("GET", "/v1/memory_boot")
    assert first["conversation_id"] == "聊天"
    assert all(id_.startswith("msg_") for id_ in first["message_ids"])
    assert again["message_ids"] == first["message_ids"]
    assert [one["id"] for one in pack["today_messages"]] == first["message_ids"]


@pytest.mark.parametrize("role", ["developer", "函数"])
async def test_unknown_role_is_refused_by_name_and_nothing_is_stored(role: str) -> None:
    messages = [{"role": "user", "content": "一"}, {"role": role, "content": "二"}]
    async with talk() as one:
        error = await one.refuse(
            "POST", "/v1/ingest/messages", {"messages": messages}, code="invalid_input"
        )
        pack = await one.ask("GET", "/v1/memory_boot")
    assert role in error["message"]
    assert pack["stats"]["today_raw_count"] == 0


async def test_boot_pack_holds_everything_and_takes_a_digest() -> None:
    async with talk() as one:
        changed = await one.ask("PATCH", "/v1/memory_boot", {"content": "喜欢喝茶"})
        long = {"content": "字" * 501}
        await one.refuse("PATCH", "/v1/memory_boot", long, code="limit_exceeded")
        await one.ask("POST", "/v1/precious", {"content": "永远"})
        await one.ask("POST", "/v1/glossary", {"term": "星星", "definition": "暗号"})
        await one.make("有一只猫", kind="memory", type="fact")
        pack: dict[str, Any] = await one.ask("GET", "/v1/memory_boot")
        await one.refuse("GET", "/v1/memory_boot?start=whenever", code="invalid_date")
    assert changed["changed"] is True
    assert pack["digest"]["content"] == "喜欢喝茶"
    assert (pack["daily_log"], pack["longtail"]) == (None, [])
    assert pack["precious"][0]["content"] == "永远"
    assert pack["glossary"][0]["term"] == "星星"
    assert pack["stats"]["memory_type_counts"] == {"fact": 1}
    assert pack["window"]["time_zone"] == "Asia/Singapore"


async def test_digest_that_was_written_anew_meanwhile_is_not_overwritten() -> None:
    async with talk() as one:
        first = {"headers": {"if-match": '"0"'}}
        shown = await one.ask("PATCH", "/v1/memory_boot", {"content": "傍晚写的"}, **first)
        late = {"content": "另一个窗口写的"}
        error = await one.refuse(
            "PATCH", "/v1/memory_boot", late, code="version_conflict", status=409, **first
        )
        version = shown["digest"]["version"]
        mine = {"headers": {"if-match": f'"{version}"'}}
        assert (await one.ask("PATCH", "/v1/memory_boot", late, **mine))["changed"] is True
    assert error["details"] == {"version": version}


async def test_key_without_memory_scopes_sees_none_of_it() -> None:
    async with serve().client() as client:
        for path in ("/v1/precious", "/v1/glossary", "/v1/memory_boot"):
            response = await client.get(path, headers=DOG)
            error_of(response, status=403, code="forbidden")
