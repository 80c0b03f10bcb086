"""The check of the servers' logs is shown logs that hold what was sent, and must refuse each."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.conftest import ROOT
from tests.e2e.logs import Sent, hold_no_secret, leaks, listening

MARK = "0123456789abcdef0123456789abcdef"
TEXTS = ["我的测试暗号是苹果星星", 'She said "hi there"\nand left', f"word-{MARK}", "café-noir"]
KEY = "rmb_the-key-of-a-test"

REQUEST = {
    "at": "2026-12-01T12:00:00.000+00:00",
    "level": "info",
    "event": "request",
    "id": "req_01KBD3",
    "method": "POST",
    "route": "create_item",
    "status": 201,
    "ms": 3,
    "queries": 2,
    "statements": 14,
    "key": "CHATBOX_API_KEY",
    "namespace": "default",
    "error": "not_found",
}


def sent() -> Sent:
    """What a test sent, names of the product's own among it."""
    one = Sent()
    one.add_key(KEY)
    one.add({"title": TEXTS[0], "tags": [TEXTS[1], {TEXTS[2]: "create_item"}], "due": TEXTS[3]})
    one.add("2026-12-01 12:00")
    return one


def logged(**more: object) -> str:
    return json.dumps({**REQUEST, **more}, ensure_ascii=False)


def test_plain_log_passes() -> None:
    log = "\n".join([logged(), logged(error="create_item"), '{"event": "defect", "at": "x.py:1"}'])
    hold_no_secret({"server": log}, sent())


@pytest.mark.parametrize(
    "line",
    [
        logged(key=KEY),
        logged(route=f"items?token={KEY}"),
        logged(error=TEXTS[0]),
        json.dumps({**REQUEST, "title": TEXTS[0]}),
        logged(text="said: 我的测试暗号是苹果星星…"),
        logged(text=TEXTS[1]),
        logged(route=MARK),
        f"ValueError: {TEXTS[1]!r}",
        f"refused {TEXTS[1][:24]!r}",
        "café-noir is not served",
        "caf\\u00e9-noir",
    ],
)
def test_log_with_what_was_sent_is_refused(line: str) -> None:
    log = f"{logged()}\n{line}\n{logged()}"
    assert leaks(log, sent())
    with pytest.raises(AssertionError, match="server-0"):
        hold_no_secret({"server-0": log, "server-1": logged()}, sent())


def answer(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200)


def test_what_clients_and_programs_are_given_is_heard() -> None:
    heard, transport = Sent(), httpx.MockTransport(answer)
    with listening(heard), httpx.Client(transport=transport) as one:
        headers = {"authorization": f"Bearer {KEY}"}
        one.post("http://server/v1/items", json={"title": TEXTS[0]}, headers=headers)
        one.get("http://server/mcp", params={"token": "key-in-address", "q": TEXTS[1]})
        one.post("http://server/v1/items", content=b"not json at all")
    with httpx.Client(transport=transport) as one:
        one.post("http://server/v1/items", json={"title": "nobody listens any more"})
    heard.add_call(
        ["tasks", "--token", "key-of-program", "买菜 buy bread"], {"X_API_KEY": "from-env"}
    )
    assert heard.keys == {KEY, "key-in-address", "key-of-program", "from-env"}
    assert {TEXTS[0], TEXTS[1], "not json at all", "买菜 buy bread"} <= heard.texts
    assert "nobody listens any more" not in heard.texts


async def test_what_clients_send_asynchronously_is_heard() -> None:
    heard, transport = Sent(), httpx.MockTransport(answer)
    with listening(heard):
        async with httpx.AsyncClient(transport=transport, headers={"x-api-key": KEY}) as one:
            await one.post("http://server/v1/items", json=[TEXTS[3]])
    assert (heard.keys, heard.texts) == ({KEY}, {TEXTS[3]})


def test_what_a_server_of_this_process_logs_is_kept() -> None:
    with listening(Sent()) as own:
        logging.getLogger("remembrancer.request").warning("%s", TEXTS[0])
    logging.getLogger("remembrancer.request").warning("nobody listens any more")
    assert own.lines == [TEXTS[0]]


TIER = """
from tests.e2e.conftest import no_secret_is_logged
from tests.e2e.logs import SENT
from tests.e2e.serving import LOGS

def test_server_is_talked_to(tmp_path):
    log = tmp_path / "server-0.log"
    log.write_text({line!r}, encoding="utf-8")
    LOGS.append(log)
    SENT.add("我的测试暗号是苹果星星")
"""


@pytest.mark.parametrize(("line", "code"), [("saved 我的测试暗号是苹果星星", 1), ("saved 1", 0)])
def test_tier_fails_when_a_log_of_it_holds_what_was_sent(
    line: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "test_tier.py").write_text(TIER.format(line=line), encoding="utf-8")
    done = subprocess.run(
        [*(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"), tmp_path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == code, done.stdout
    assert ("logs hold what was sent" in done.stdout) == (code == 1)
