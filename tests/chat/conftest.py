"""The product's server over a model's server of the tests, both on loopback, for real clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.chat.recording import relaying, write_recorded
from tests.chat.upstream import Upstream, running_upstream
from tests.e2e.serving import Launcher, Server

UPSTREAM_KEY = "upstream-secret-token"
"""The key that the server sends to its upstream."""
SHORT = 12
"""Characters from which a text is looked for in the log."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A chat server and the upstream behind it."""

    server: Server
    upstream: Upstream
    log: Path

    @property
    def openai_url(self) -> str:
        return f"{self.server.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"{self.server.url}/anthropic"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes down anew what the clients send."""
    parser.addoption("--record-requests", action="store_true", help="write requests.jsonl anew")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to record a part: each process would write its own."""
    if config.getoption("--record-requests", default=False) and hasattr(config, "workerinput"):
        raise pytest.UsageError("--record-requests needs one process: leave -n out")


@pytest.fixture(scope="session")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Gateway]:
    """One gateway for all tests of a worker."""
    folder = tmp_path_factory.mktemp("chat")
    launcher = Launcher(folder / "data")
    with running_upstream() as upstream:
        server = launcher.serve(
            AI_GATEWAY_BASE_URL=upstream.url,
            CF_AIG_TOKEN=UPSTREAM_KEY,
            CHAT_MODEL="mock-chat",
            VISION_MODEL="mock-vision",
            EMBEDDING_MODEL="off",
            MODEL_PRICES="mock-*=1/2",
        )
        log = folder / "server-0.log"
        try:
            if pytestconfig.getoption("--record-requests", default=False):
                with relaying(int(server.url.rpartition(":")[2])) as relay:
                    yield Gateway(replace(server, url=relay.url), upstream, log)
                    write_recorded(relay.requests)
            else:
                yield Gateway(server, upstream, log)
        finally:
            launcher.close()
        hold_no_secret(log.read_text(encoding="utf-8"), server, upstream)


def hold_no_secret(log: str, server: Server, upstream: Upstream) -> None:
    """Check what the server logged while all clients talked to it: no key, no word of theirs."""
    assert '"event": "request"' in log
    said = {text for kept in upstream.sent for text in texts_of(kept.body)}
    for text in (server.token, UPSTREAM_KEY, "you said", *said):
        assert text not in log, f"the log holds {text[:40]!r}"
        assert json.dumps(text)[1:-1] not in log, f"the log holds {text[:40]!r}"


def texts_of(body: Any) -> Iterator[str]:
    """What a request says, but what is so short that any line may hold it."""
    for message in body["messages"]:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part.get("text") for part in parts]
        yield from (text for text in texts if isinstance(text, str) and len(text) >= SHORT)
