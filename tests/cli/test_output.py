"""Marks have colors on a terminal alone, and never where NO_COLOR is set."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = "from bot.cli.output import say; say('✓ test ✓'); say('  ! disk'); say('✗')"


def printed(**variables: str) -> str:
    """What a terminal gets."""
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONUTF8": "1", **variables}
    subprocess.run([sys.executable, "-c", SCRIPT], stdout=theirs, env=env, cwd=ROOT, check=True, timeout=60)
    os.close(theirs)
    text = os.read(ours, 4096).decode()
    os.close(ours)
    return text.replace("\r\n", "\n")


def test_the_mark_of_a_line_has_its_color() -> None:
    assert printed() == "\x1b[32m✓\x1b[0m test ✓\n  \x1b[33m!\x1b[0m disk\n\x1b[31m✗\x1b[0m\n"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_nobody_gets_colors_who_wants_none(variables: dict[str, str]) -> None:
    assert "\x1b" not in printed(**variables)


def test_a_pipe_gets_none() -> None:
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, env=env, cwd=ROOT, check=True, timeout=60
    )
    assert b"\x1b" not in done.stdout
