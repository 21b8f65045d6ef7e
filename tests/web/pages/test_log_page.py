"""The page of a log: folded to its failing lines, in windows, and as it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest

from bot.workspace.checks.logs import write_log
from tests.web.conftest import Door
from tests.web.pages.client import Client
from tests.web.pages.stored_runs import LOG, fill_stories


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("logs")) as door:
        asyncio.run(fill_stories(door.database, door.home))
        lines = [b"line %d <b>" % number for number in range(1, 5001)]
        lines[2999] = b"FAILED tests/test_x.py::test_y \x1b[31m- no\x1b[0m"
        write_log(door.home, "story", "long.log", b"\n".join(lines) + b"\n")
        yield door


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="L(\d+)"', text)]


def test_a_short_log_is_shown_whole_with_its_failing_lines(operator: Client) -> None:
    text = operator.get("/runs/story/logs/1-0-test.log").text
    assert numbers(text) == [1, 2, 3, 4, 5]
    assert re.findall(r'<tr id="L(\d+)" class="failing">', text) == ["4", "5"]
    assert '<a href="#L4">4</a>' in text


def test_a_long_log_is_folded_around_what_failed(operator: Client) -> None:
    text = operator.get("/runs/story/logs/long.log").text
    shown = numbers(text)
    assert {1, 2997, 3000, 3003, 5000} <= set(shown) and len(shown) < 60
    assert re.findall(r'<tr id="L(\d+)" class="failing">', text) == ["3000"]
    assert "\x1b" not in text and "line 1 &lt;b&gt;" in text
    assert 'href="/runs/story/logs/long.log?from=16#L16"' in text


def test_any_line_can_be_linked_to(operator: Client) -> None:
    text = operator.get("/runs/story/logs/long.log?from=3500").text
    assert numbers(text) == list(range(3500, 4500))
    assert "from=2500" in text and "from=4500#L4500" in text
    assert numbers(operator.get("/runs/story/logs/long.log?from=99999").text) == [5000]


def test_the_raw_log_is_text_that_no_browser_runs(operator: Client) -> None:
    answer = operator.get("/runs/story/logs/1-0-test.log/raw")
    assert answer.text == LOG.decode() and answer.headers["content-type"].startswith("text/plain")
    assert "sandbox" in answer.headers["content-security-policy"]
