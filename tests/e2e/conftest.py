"""Servers for black-box tests: the launcher of a test, and the server that a suite is pointed at.

`BASE_URL` and `TOKEN` point the tests that use `server` at anything that serves the product, such
as a deployed Worker; without them a server is started here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.logs import SENT, hold_no_secret, listening
from tests.e2e.serving import LOGS, Launcher, Server


@pytest.fixture(scope="session", autouse=True)
def no_secret_is_logged() -> Iterator[None]:
    """Hears what all tests send, and searches every log for it when the last one is over.

    Of a server elsewhere there is no log to search; its own tier does that.
    """
    with listening() as own:
        yield
    logs = {str(path): path.read_text(encoding="utf-8", errors="replace") for path in LOGS}
    hold_no_secret({**logs, "this process": "\n".join(own.lines)}, SENT)


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    """Starts servers on an empty data folder of this test; for tests that stop or kill one."""
    starter = Launcher(tmp_path / "data")
    yield starter
    starter.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that need no more than to talk to one."""
    url = os.environ.get("BASE_URL")
    if url:
        yield Server(url.rstrip("/"), os.environ.get("TOKEN", ""))
        return
    starter = Launcher(tmp_path_factory.mktemp("e2e") / "data")
    yield starter.serve()
    starter.close()
