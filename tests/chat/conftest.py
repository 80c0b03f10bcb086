"""The product's server over a model's server of the tests, both on loopback, for real clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.chat.upstream import Upstream, running_upstream
from tests.e2e.serving import Launcher, Server


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


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One gateway for all tests of a worker."""
    folder = tmp_path_factory.mktemp("chat")
    launcher = Launcher(folder / "data")
    with running_upstream() as upstream:
        server = launcher.serve(
            AI_GATEWAY_BASE_URL=upstream.url,
            CF_AIG_TOKEN="upstream-secret-token",
            CHAT_MODEL="mock-chat",
            VISION_MODEL="mock-vision",
            EMBEDDING_MODEL="off",
            MODEL_PRICES="mock-*=1/2",
        )
        try:
            yield Gateway(server, upstream, folder / "server-0.log")
        finally:
            launcher.close()
