"""The pages in a real Chromium: accessible, live, usable by keyboard and without JavaScript (REQ-RUN-009)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.store.runs.runs import Runs
from tests.machine import PATIENCE_S
from tests.run_events import run_event
from tests.web.conftest import Door, headers_for
from tests.web.pages.chromium import axe_source, chromium, sign_in, violations
from tests.web.pages.stored_records import fill_records
from tests.web.pages.stored_runs import fill, fill_stories
from tests.web.people import github_with_people

PAGES = ("/", "/runs?state=failed", "/runs/story", "/runs/busy", "/runs/checked", "/runs/story/logs/1-0-test.log",
         "/runs/story/artifacts/story.validation.2", "/sessions/new?preset=lint_failure", "/deliveries",
         "/deliveries?refused=1", "/history", "/groups", "/setup", "/nowhere")  # fmt: skip


def elsewhere(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run a coroutine on a thread: the browser's library occupies the loop of this one."""
    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("browser")) as door:
        elsewhere(lambda: fill(door.database))
        elsewhere(lambda: fill_stories(door.database, door.home))
        elsewhere(lambda: fill_records(door.database))
        door.post(b"{}", headers_for(b"{}"))
        door.post(b"{}", headers_for(b"{}", "guid-forged", X_Hub_Signature_256="sha256=0"))
        yield door


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def origin(door: Door) -> str:
    return f"http://127.0.0.1:{door.port}"


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(browser: Browser, origin: str) -> Iterator[Page]:
    """Signed in; every problem that the browser reports fails the test, such as a script that the policy refuses."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    problems: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    sign_in(page, origin)
    yield page
    context.close()
    assert [text for text in problems if "404" not in text] == []
    assert [url for url in requests if not url.startswith(origin)] == []


def test_every_page_passes_axe_in_light_and_dark(browser: Browser, origin: str, scheme: Any) -> None:
    source = axe_source()
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{origin}/login")
    found = {"/login": violations(page, source)}
    sign_in(page, origin)
    for path in PAGES:
        page.goto(origin + path)
        found[path] = violations(page, source)
    context.close()
    assert {path: each for path, each in found.items() if each} == {}


def test_a_page_follows_its_run_without_being_loaded_again(page: Page, door: Door, origin: str) -> None:
    """REQ-RUN-007: an event shows within moments, what was opened stays open, and the end ends the stream."""
    page.goto(f"{origin}/runs/busy")
    page.evaluate("window.same = true")
    page.locator("#check-1-0 summary").click()
    expect(page.locator("#attempt-2")).to_have_count(0)
    runs = Runs(door.database)
    elsewhere(lambda: runs.append("busy", [run_event("attempt_started", iteration=2, attempt=2, of=3)]))
    expect(page.locator("#attempt-2")).to_have_count(1)
    assert page.locator("#check-1-0").get_attribute("open") is not None
    elsewhere(lambda: runs.append("busy", [run_event("session_finished", status="cancelled")]))
    expect(page.locator("#cancel")).to_have_count(0)
    assert page.evaluate("window.same") is True


def test_pages_are_whole_without_javascript(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, origin)
    page.get_by_role("link", name="The total is wrong").click()
    page.locator("#check-1-0 .output").wait_for(state="visible")
    assert "assert 7 == 6" in page.locator("#check-1-0").inner_text()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{origin}/login")
    context.close()


def test_the_keyboard_reaches_the_content_and_opens_what_is_folded(page: Page, origin: str) -> None:
    page.goto(f"{origin}/runs/story")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    summary = page.locator("#check-2-0 summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#check-2-0").get_attribute("open") is not None


def test_a_narrow_window_needs_no_sideways_scrolling(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    sign_in(page, origin)
    for path in ("/", "/runs/story", "/deliveries"):
        page.goto(origin + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    context.close()


def test_a_person_signs_in_with_github_and_sees_their_repository_alone(browser: Browser, tmp_path: Path) -> None:
    """T45: the policy of the pages lets the browser go to GitHub and come back."""
    with github_with_people(tmp_path / "github") as github, Door(tmp_path, github) as door:
        elsewhere(lambda: fill(door.database))
        elsewhere(lambda: fill_records(door.database))
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{door.port}/runs/fixed")
        assert violations(page, axe_source()) == []
        page.get_by_role("link", name="Sign in with GitHub").click()
        page.get_by_role("button", name="reader").click()
        page.wait_for_url(f"http://127.0.0.1:{door.port}/runs/fixed")
        expect(page.get_by_role("heading", level=1)).to_contain_text("It is fixed")
        page.goto(f"http://127.0.0.1:{door.port}/")
        assert violations(page, axe_source()) == []
        expect(page.get_by_role("navigation")).not_to_contain_text("Setup")
        expect(page.get_by_role("main")).not_to_contain_text("records")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"http://127.0.0.1:{door.port}/login")
        context.close()
