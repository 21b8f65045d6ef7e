"""`python -m tests.demo.pictures`: make the picture of the README, `docs/pictures/check-run*.png`, with Chromium.

It shows the failing check run of the demo's pull request, on the page of the GitHub stand-in."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from playwright.sync_api import Page

from demo.main import Stop, play
from demo.narrator import Story
from demo.scenarios.pulls import pull_request_scenario
from tests.web.pages.chromium import chromium

DIRECTORY = Path(__file__).parents[2] / "docs" / "pictures"
SIZE = {"width": 1000, "height": 700}


class Photographer(Story):
    """Prints the story, takes the pictures while the pages still stand, and ends it then."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop
        self._github = ""

    def step(self, text: str) -> None:
        super().step(text)
        if address := re.search(r"stand-in is at (\S+);", text):
            self._github = address[1]
        if text.startswith("Still running"):
            self._take()
            self._stop.ask()

    def _take(self) -> None:
        with chromium() as browser:
            for scheme, suffix in (("light", ""), ("dark", "-dark")):
                page = browser.new_page(color_scheme=scheme, viewport=SIZE, device_scale_factor=1.5)  # type: ignore[arg-type]
                self._open(page)
                page.screenshot(path=DIRECTORY / f"check-run{suffix}.png")

    def _open(self, page: Page) -> None:
        """Open the check run of the commit that was checked before the fix, the first of the pull request."""
        page.goto(f"{self._github}/octo/pocket/pull/1#commits")
        page.goto(
            str(page.locator("a[href*='/commit/']", has_text=re.compile("^[0-9a-f]{7}$")).nth(1).get_attribute("href"))
        )
        page.goto(str(page.locator("a", has_text="mendbot / test").first.get_attribute("href")))


def main() -> int:
    stop = Stop()
    try:
        return 1 if play(pull_request_scenario(), Photographer(stop), stop, keep=True) else 0
    finally:
        stop.close()


if __name__ == "__main__":
    sys.exit(main())
