"""Every command has examples in its help, and each can be read by the command line."""

from __future__ import annotations

import re
import shlex

import pytest

from bot.cli import app
from bot.cli.examples import EXAMPLES


def commands() -> set[str]:
    """All commands, those of groups too."""
    names = [name for name in app if not name.startswith("-")]
    return {*names, *(f"{name} {part}" for name in names for part in app[name] if not part.startswith("-"))}


def test_every_command_has_examples() -> None:
    assert commands() == EXAMPLES.keys()


@pytest.mark.parametrize("example", sorted(example for examples in EXAMPLES.values() for example in examples))
def test_an_example_can_be_read(example: str) -> None:
    command, bound, _ = app.parse_args(
        shlex.split(re.sub(r" [<>] .*", "", example)), exit_on_error=False, print_error=False
    )
    assert callable(command) and bound.args is not None


@pytest.mark.parametrize("command", sorted(EXAMPLES))
def test_help_shows_the_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    app([*command.split(), "--help"], exit_on_error=False)
    out = " ".join(capsys.readouterr().out.split())
    assert " ".join(f"mendbot {EXAMPLES[command][0]}".split()) in out
