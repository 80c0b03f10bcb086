"""The panel as its user has it: a browser window with a language, a size and a watchful eye.

Everything that a careful reader of the browser's console would mind is noted as a complaint, and
a test ends with none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
)
from tests.e2e.serving import Server

Language = Literal["zh-CN", "en-US"]
PHONE, DESKTOP = (360, 740), (1280, 800)
"""Width and height of a small phone's page, and of a laptop's."""
WAIT_MS = 15_000.0
"""Milliseconds that something may take to show up."""
REFUSAL = re.compile(r"the server responded with a status of (\d+)")
"""What a browser writes for an answer that is an error; a test may expect some."""


@dataclass
class Panel:
    """One window. *Shape:* `expected` are the statuses of refusals that the test provokes."""

    page: Page
    server: Server
    complaints: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)

    def watch(self) -> None:
        """Note every error, warning, breach of the policy and request to another host."""
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))
        self.page.on("request", self._look)
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', event =>"
            " console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))"
        )

    def _hear(self, message: ConsoleMessage) -> None:
        refusal = REFUSAL.search(message.text)
        if refusal and int(refusal[1]) in self.expected:
            return
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _look(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.server.url).netloc:
            self.complaints.append(f"asked another host: {request.url}")

    def open(self, path: str = "/admin") -> None:
        """Load the page anew."""
        self.page.goto(self.server.url + path)

    def log_in(self, key: str | None = None, *, is_remembered: bool = False) -> None:
        """Type the key in and wait for the panel."""
        self.open()
        self.page.locator("input[type=password]").fill(key or self.server.token)
        if is_remembered:
            self.page.locator("input[type=checkbox]").check()
        self.page.locator("button[type=submit]").click()
        self.page.locator(".frame").wait_for()

    def go(self, address: str) -> None:
        """Open a view by its address behind the #."""
        self.page.evaluate("address => { location.hash = address }", address)

    def settled(self) -> None:
        """Wait until nothing is asked or loaded any more."""
        self.page.wait_for_load_state("networkidle")
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def button(self, name: str) -> Locator:
        """A button by exactly its name; what lies under an open dialog is out of reach."""
        return self._reach.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press a button of the dialog, which may just be opening."""
        self.dialog.get_by_role("button", name=name, exact=True).click()

    def field(self, label: str) -> Locator:
        """A field by its label."""
        return self._reach.get_by_label(label, exact=True)

    def save(self) -> None:
        """Send the dialog's form and wait until it was taken."""
        self.dialog.locator("button[type=submit]").click()
        expect(self.dialog).to_have_count(0)

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.page.locator("dialog[open]")

    @property
    def _reach(self) -> Locator | Page:
        return self.dialog if self.dialog.count() else self.page

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than its window."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return width


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds, half a minute at most."""
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(0.1)


@contextmanager
def window(
    browser: Browser,
    server: Server,
    *,
    language: Language = "zh-CN",
    size: tuple[int, int] = DESKTOP,
    is_dark: bool = False,
    device_zone: str | None = None,
) -> Iterator[tuple[BrowserContext, Panel]]:
    """Open a fresh profile with one window, and hold it to having nothing to complain about."""
    width, height = size
    context = browser.new_context(
        locale=language,
        viewport={"width": width, "height": height},
        color_scheme="dark" if is_dark else "light",
        is_mobile=size == PHONE,
        has_touch=size == PHONE,
        timezone_id=device_zone,
    )
    context.set_default_timeout(WAIT_MS)
    panel = Panel(context.new_page(), server)
    panel.watch()
    try:
        yield context, panel
    finally:
        context.close()
    assert panel.complaints == []
