"""What an agent leaves where git does not look is part of no commit, so it must not make the checks pass either."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workflows.conftest import NAME, Harness
from tests.workflows.whole_run import ERROR, Doer, go, judged, told, writes

AtDesk = Callable[..., Any]
PLACES = ("answer.txt", "ignored/answer.txt", "nested/answer.txt")
JUDGE = f"""import pathlib, sys
found = [path.read_text() for path in map(pathlib.Path, {PLACES!r}) if path.exists()]
if not any(text.startswith("42") for text in found):
    print({ERROR!r})
    sys.exit(1)
"""


async def ending(at: Harness) -> str:
    (end,) = await told(at, "run-1", "session_finished")
    return str(end.data()["status"])


def in_ignored(tree: Path) -> None:
    writes("40\n")(tree)
    writes("42\n", "ignored/answer.txt")(tree)


def in_nested(tree: Path) -> None:
    writes("40\n")(tree)
    writes("42\n", "nested/answer.txt")(tree)
    subprocess.run(["git", "init", "--quiet", tree / "nested"], check=True)


def nothing_but_ignored(tree: Path) -> None:
    writes("42\n", "ignored/answer.txt")(tree)


@pytest.mark.parametrize("deed", [in_ignored, in_nested, nothing_but_ignored])
def test_what_no_commit_has_makes_no_check_pass(at_desk: AtDesk, deed: Callable[[Path], None]) -> None:
    async def work(at: Harness) -> tuple[str, int]:
        judged(at, JUDGE, __gitignore="ignored/\n")
        at.hands = [Doer([deed])]
        await go(at, "run-1")
        return await ending(at), len(at.github.world.pulls(NAME))

    assert at_desk(work) == ("failed", 0)


def test_what_the_agent_left_there_is_named_and_what_setup_made_stays(at_desk: AtDesk) -> None:
    def mends(tree: Path) -> None:
        assert (tree / "made/by-setup").exists()
        writes("42\n")(tree)
        writes("42\n", "ignored/answer.txt")(tree)

    async def work(at: Harness) -> tuple[str, str]:
        judge = "import pathlib\nassert pathlib.Path('made/by-setup').exists()\n" + JUDGE
        judged(at, judge, __gitignore="ignored/\nmade/\n")
        at.hands = [Doer([mends])]
        await go(at, "run-1", policy={"setup": "mkdir made && echo 1 > made/by-setup"})
        return await ending(at), at.github.world.pulls(NAME)[0].body

    status, body = at_desk(work)
    assert status == "success"
    assert "The agent also made ignored/. Git leaves that out" in body
