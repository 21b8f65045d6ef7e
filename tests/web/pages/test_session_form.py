"""The form that starts a session: its fields, its problems, and what its presets fill in."""

from __future__ import annotations

import re

import pytest

from bot.web.pages.presets import PRESETS
from bot.web.pages.session_form import request_of
from tests.web.pages.client import Client


@pytest.mark.parametrize("text", ["a, b", "a\nb", "a\r\nb\r\n", " a ,\n, b,"])
def test_validation_commands_are_separated_by_newlines_or_commas(text: str) -> None:
    assert request_of({"validationCommands": text})["validationCommands"] == ["a", "b"]


def test_empty_fields_are_left_out_and_others_are_as_typed() -> None:
    values = {
        "repo": " /srv/a ",
        "task": "fix\nit",
        "maxAttempts": "4",
        "filePaths": "a.py, b.py",
        "agents": "x, y",
        "candidates": "2",
    }
    assert request_of(values) == {"repo": "/srv/a", "task": "fix\nit", "filePaths": ["a.py", "b.py"],
        "testCommand": None, "validationCommands": [], "maxAttempts": 4, "agents": ["x, y"],
        "candidates": 2}  # fmt: skip
    assert request_of({"candidates": " "})["candidates"] is None, "as it is configured"
    assert request_of({"maxAttempts": "many"})["maxAttempts"] == "many"


def test_a_wrong_field_is_named_and_what_was_typed_stays(operator: Client) -> None:
    """REQ-RUN-001: without a test command and without validation commands there is no session."""
    answer = operator.submit("/sessions/new", "/sessions", repo="/srv/a", task="fix <it>", maxAttempts="3")
    assert answer.status == 422
    assert 'id="testCommand-problem"' in answer.text and "fix &lt;it&gt;" in answer.text
    problem = answer.text.partition('id="testCommand-problem"')[2].partition("</p>")[0]
    assert "Test command" in problem and "testCommand" not in problem, "the form has labels, not names of fields"
    assert operator.post("/sessions", {"repo": "/srv/a"}).status == 403


def test_a_preset_that_fails_on_purpose_is_marked_in_the_list(operator: Client) -> None:
    text = operator.get("/sessions/new").text
    rows = re.findall(r"<li>.*?preset=(\w+).*?</li>", text)
    marked = re.findall(r"preset=(\w+)[^/]*</a><span class=\"muted\">fails on purpose</span>", text)
    assert len(rows) == len(PRESETS)
    assert marked == [name for name in rows if "failure" in name] and len(marked) == 5


def test_a_preset_fills_in_the_form(operator: Client) -> None:
    text = operator.get("/sessions/new?preset=unknown_failure").text
    assert 'value="sample"' in text and "exit 3</textarea>" in text and 'aria-current="true"' in text
