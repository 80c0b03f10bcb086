"""The import over REST: what an export gave goes into an empty namespace, whole or not at all."""

from __future__ import annotations

from typing import Any

from tests.protocol.rest.doors import KEYS, OWNER, error_of
from tests.protocol.rest.talk import Talk, check_described, settle, talk

PATH = "/v1/admin/import"
LINES = {**OWNER, "content-type": "application/x-ndjson"}


async def exported(one: Talk) -> bytes:
    return (await one.client.get("/v1/export", headers=OWNER)).content


async def test_export_of_one_server_is_imported_into_another() -> None:
    async with talk() as one, talk() as other:
        await settle(one)
        file = await exported(one)
        dry = await other.client.post(f"{PATH}?dry_run", content=file, headers=LINES)
        before = await exported(other)
        done = await other.client.post(PATH, content=file, headers=LINES)
        again = await other.client.post(PATH, content=file, headers=LINES)
        after = await exported(other)
        verified = await other.ask("POST", "/v1/admin/verify")
    for response in (dry, done, again):
        check_described("POST", PATH, response)
    assert dry.json() == {**done.json(), "dry_run": True}
    assert before.count(b"\n") == 2
    assert done.json()["events"] > 0
    assert done.json()["namespaces"] == ["default"]
    assert (again.json()["events"], again.json()["events_present"]) == (0, done.json()["events"])
    assert after == file
    assert verified["ok"] is True


async def test_import_refuses_what_would_mix_and_what_is_cut() -> None:
    async with talk() as one, talk() as other:
        await settle(one)
        file = await exported(one)
        await other.ask("POST", "/v1/memories", {"content": "我住在里斯本"})
        mixed = await other.client.post(PATH, content=file, headers=LINES)
        cut = await one.client.post(PATH, content=file[: len(file) // 2], headers=LINES)
        foreign = await one.client.post(f"{PATH}?namespace=b", content=file, headers=LINES)
        agent = {**LINES, "authorization": f"Bearer {KEYS['MEMORY_MCP_API_KEY']}"}
        refused = await one.client.post(PATH, content=file, headers=agent)
        typed = {**OWNER, "content-type": "application/json"}
        wrong = await one.client.post(PATH, content=file, headers=typed)
        left = await other.ask("GET", "/v1/memories")
    error_of(mixed, status=409, code="conflict")
    error_of(cut, status=400, code="invalid_input")
    error_of(foreign, status=400, code="invalid_input")
    error_of(refused, status=403, code="forbidden")
    error_of(wrong, status=415, code="unsupported_media_type")
    assert [memory["title"] for memory in left["data"]] == ["我住在里斯本"]


async def test_import_in_pieces_goes_on_where_each_answer_says() -> None:
    async with talk() as one, talk() as other:
        await settle(one)
        file = await exported(one)
        lines = file.splitlines(keepends=True)
        answers: list[Any] = []
        done, sent = 0, 1
        cursor: str | None = None
        while not answers or answers[-1]["more"]:
            query = f"?pieces&cursor={cursor}" if cursor else "?pieces"
            body = b"".join(lines[done : done + sent])
            response = await other.client.post(PATH + query, content=body, headers=LINES)
            check_described("POST", PATH, response)
            answers.append(response.raise_for_status().json())
            sent = sent if answers[-1]["lines"] > done else sent * 2
            done, cursor = answers[-1]["lines"], answers[-1]["cursor"]
        after = await exported(other)
        strange = await other.client.post(f"{PATH}?cursor=abc", content=file, headers=LINES)
        empty = await other.client.post(f"{PATH}?pieces", content=b"", headers=LINES)
    assert len(answers) > 5
    assert done == len(lines)
    assert cursor is None
    assert after == file
    error_of(strange, status=400, code="invalid_input")
    assert empty.json()["lines"] == 0
