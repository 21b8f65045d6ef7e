"""Chromium as the system has it, on a server of the pages: one browser for all tests of a module.

Its absence fails a test only where everything is to be tested (MENDBOT_TEST_ALL=1): see `scripts/setup-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.machine import PATIENCE_S
from tests.oracle.fetch import AXE, OracleUnavailable, fetched
from tests.web.conftest import TOKEN

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--no-first-run")  # fmt: skip
_RULES = """axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(
  each => each.id + ': ' + each.nodes.map(node => node.target.join(' ') + ' ' + node.failureSummary).join(' | ')))"""


def missing(reason: str) -> None:
    """Leave the test out, or fail where everything is to be tested."""
    (pytest.fail if os.environ.get("MENDBOT_TEST_ALL") else pytest.skip)(reason)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        missing("no Chromium: scripts/setup-browser installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def axe_source() -> str:
    """The script of axe-core, from the package registry or the cache."""
    try:
        return fetched(AXE).decode()
    except OracleUnavailable as error:
        missing(str(error))
        raise


def violations(page: Page, source: str) -> list[str]:
    """What axe-core finds on a page. The script comes over the debugging protocol, which no policy of a page stops."""
    page.evaluate(source)
    found: list[str] = page.evaluate(_RULES)
    return found


def sign_in(page: Page, origin: str, token: str = TOKEN) -> None:
    """Sign in with the admin token, by keyboard."""
    page.goto(f"{origin}/login")
    if page.locator(".center").count():  # with GitHub beside it, the field is not the first choice
        page.locator("#token").focus()
    page.locator("#token:focus").wait_for(timeout=PATIENCE_S * 1000)  # the form has the focus from the start
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/", timeout=PATIENCE_S * 1000)
