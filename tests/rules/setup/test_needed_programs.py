"""Which commands need Python's tools, and which tool a command did not find."""

from __future__ import annotations

import pytest

from bot.rules.setup.needed_programs import lacking, uses_python

TOOLS = ("mypy", "pytest", "ruff")


@pytest.mark.parametrize(
    ("command", "uses"),
    [
        ("pytest -q", True),
        ("make lint && ruff check", True),
        (".venv/bin/python -m unittest", True),
        ("python3.12 run.py", True),
        ("npm test", False),
        ("go test ./...", False),
        ("cat my-pytest-notes", False),
    ],
)
def test_words_tell_whether_a_command_uses_python(command: str, uses: bool) -> None:
    assert uses_python(command) == uses


@pytest.mark.parametrize(
    ("argv", "said", "tool"),
    [
        (("pytest", "-q"), "No such file or directory: pytest", "pytest"),
        (("env", "-C", "api", "mypy", "."), "env: \u2018mypy\u2019: No such file or directory", "mypy"),
        (("env", "-C", "api", "npm"), "env: \u2018npm\u2019: No such file or directory", None),
        (("sh", "-c", "ruff check"), "sh: 1: ruff: not found", "ruff"),
        (("sh", "-c", "ruff check"), "sh: line 1: ruff: command not found", "ruff"),
        (("sh", "-c", "black ."), "sh: 1: black: not found", None),
        (("npm", "test"), "sh: 1: pytest: not found", None),
    ],
)
def test_the_tool_that_was_not_found_is_named(argv: tuple[str, ...], said: str, tool: str | None) -> None:
    assert lacking(argv, said, TOOLS) == tool
