"""The product's server over a model's server of the tests, both on loopback, for real clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.chat.recording import relaying, write_recorded
from tests.chat.upstream import Upstream, running_upstream
from tests.e2e.logs import SENT, hold_no_secret, listening
from tests.e2e.serving import Launcher, Server

UPSTREAM_KEY = "upstream-secret-token"
"""The key that the server sends to its upstream."""


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
    with listening(), running_upstream() as upstream:
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
        for kept in upstream.sent:
            SENT.add_body(kept.raw)
        SENT.add_key(UPSTREAM_KEY)
        SENT.add("you said: ")  # what every reply begins with
        told = log.read_text(encoding="utf-8")
        assert '"event": "request"' in told
        hold_no_secret({"the gateway": told}, SENT)
