"""A real browser for pages: headless Chromium, told what the pages complain about and ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = Path("/usr/bin/chromium")
needs_chromium = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium"),
]

SWITCHES = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass
class OpenedPage:
    """A page with what it complained about and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def on_network(self, allowed: str = "file:") -> list[str]:
        return [address for address in self.asked if not address.startswith((allowed, "data:", "blob:"))]

    def current(self) -> str | None:
        return self.page.locator(".timeline [aria-current]").get_attribute("data-turn")

    def heading(self) -> str:
        return self.page.locator("#detail h3").inner_text()

    def until(self, condition: str) -> None:
        """Wait for it; the page's policy forbids Playwright's own way, which needs eval."""
        for _ in range(800):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never became true: {condition}")

    def violations(self) -> list[str]:
        """Serious violations of accessibility rules that axe-core finds."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        found = axe.run(self.page, options={"resultTypes": ["violations"]}).response["violations"]
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]


Visit = Callable[..., OpenedPage]


@contextmanager
def browser(profile: Path, *, offline: bool) -> Iterator[BrowserContext]:
    """A browser with a profile of its own."""
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as driver:
        found = driver.chromium.launch_persistent_context(
            str(profile), executable_path=str(CHROMIUM), args=SWITCHES, offline=offline,
            viewport={"width": 1280, "height": 900},
        )  # fmt: skip
        yield found
        found.close()


@contextmanager
def visits(context: BrowserContext) -> Iterator[Visit]:
    """Opens addresses and waits for their charts; closes the pages in the end."""
    pages = []

    def go(address: str, drawn: bool = True) -> OpenedPage:
        opened = OpenedPage(context.new_page())
        pages.append(opened.page)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.asked.append(request.url))
        opened.page.goto(address, wait_until="load")
        if drawn:
            opened.page.wait_for_selector("html[data-charts=drawn]", state="attached")
        return opened

    yield go
    for page in pages:
        page.close()
