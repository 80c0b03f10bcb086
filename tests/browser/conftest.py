"""A real browser on a real server: the panel as a person uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.chromium import FLAGS, find_chromium
from tests.browser.panel import WAIT_MS, Panel, window
from tests.e2e.serving import Launcher, Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests; each writes what no other looks for."""
    starter = Launcher(tmp_path_factory.mktemp("panel") / "data")
    yield starter.serve()
    starter.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, without a window on a screen."""
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=find_chromium(), args=[*FLAGS])
        yield opened
        opened.close()


@pytest.fixture
def panel(browser: Browser, server: Server) -> Iterator[Panel]:
    """The panel in Chinese on a laptop, logged in."""
    with window(browser, server) as (_, opened):
        opened.log_in()
        yield opened
