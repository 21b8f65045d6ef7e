"""`make demo` as a person sees it: what it prints, what stands on GitHub in the end, and that it can fail."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from demo import main
from demo.scenarios.issues import Filed, Scenario, diff
from tests.demo.demo_output import KEPT, PATIENCE_S, order
from tests.demo.demo_process import Demo, addresses
from tests.desk import Desk

CHECKS = ("fix", "typecheck", "lint", "test")
NEXT_RELEASE = "b35adbf0bf7893f88beb2eb3c689237b84469444de1326a42545790b01913ec7"
"""SHA-256 of humanize 4.16.0's src/humanize/filesize.py."""


def on_lines_of_their_own(output: str, *, pulls: int, comments: int, unproven: int = 0) -> None:
    assert len(set(addresses(output))) == pulls
    for check in CHECKS:
        of_drafts = unproven if check == "fix" else 0
        assert (
            len(re.findall(rf"^ +✓ check run mendbot / {check}: success — ", output, re.MULTILINE)) == pulls - of_drafts
        )
        assert (
            len(re.findall(rf"^ +\S check run mendbot / {check}: neutral — Unproven", output, re.MULTILINE))
            == of_drafts
        )
    assert (
        len(re.findall(r"^ +comment http://\S+#issuecomment-\d+ by mendbot\[bot\]: ", output, re.MULTILINE)) == comments
    )


def test_five_labelled_issues_become_four_pull_requests_that_can_be_looked_at(tmp_path: Path) -> None:
    """G-2. On a desktop whose variables bear the names of our settings: nothing of its owner is read or changed."""
    desk = Desk(tmp_path / "desk")
    with Demo(tmp_path / "t", "--keep", cwd=desk.project, env=desk.env) as demo:
        said = demo.wait_until_it_says(KEPT, PATIENCE_S)
        order(said, "labels them `auto-fix`", "goes to work", "#1 #2: one group", "before any change")
        order(said, "#1 #2:   fixers changed table/table.py", "#1 #2: finished: success")
        order(said, "#3:   ✗ test (attempt 1", "#3: attempt 2 of 3", "#3:   ✓ test (attempt 2", "#3: finished: success")
        order(said, "#4: command wrote a test that fails before the change", "#4: proof: proven")
        order(said, "#5: no failing test", "#5: proof: unproven", "#5: finished: success, but the change is not proven")
        on_lines_of_their_own(said, pulls=4, comments=5, unproven=1)
        table = demo.file_on_github("octo/tools", "fix/issue-1-2", "table/table.py").decode()
        assert "import os" not in table and '"""Plain text tables."""\n' in table
        duration = demo.file_on_github("octo/tools", "fix/issue-3", "duration/duration.py").decode()
        assert 'text.replace(" ", "")' in duration and ".strip()" not in duration
        for page in [*re.findall(r"^  (http://\S+)$", said.partition(KEPT)[2], re.MULTILINE), *addresses(said)]:
            with urllib.request.urlopen(page, timeout=PATIENCE_S) as answer:
                assert answer.status == 200
        assert demo.processes("-m bot serve") != []
        demo.send(signal.SIGINT)
        assert demo.exit_code(within_s=PATIENCE_S) == 0
        demo.assert_nothing_is_left()
    desk.assert_untouched()


@pytest.mark.timeout(400)
def test_a_published_project_gets_its_next_releases_fix_after_a_wrong_one(tmp_path: Path) -> None:
    with Demo(tmp_path / "t", "--scenario", "published", "--keep") as demo:
        said = demo.wait_until_it_says(KEPT, 2 * PATIENCE_S)
        order(said, "setup: ", "setup done")
        order(
            said,
            "✗ test (before any change",
            "assert '1000.0 kB' == '1.0 MB'",
            "✗ test (attempt 1",
            "AssertionError: assert",
            "✓ test (attempt 2",
            " passed",
        )
        on_lines_of_their_own(said, pulls=1, comments=1)
        fixed = demo.file_on_github("octo/humanize", "fix/issue-1", "src/humanize/filesize.py")
        assert hashlib.sha256(fixed).hexdigest() == NEXT_RELEASE
        demo.send(signal.SIGINT)
        assert demo.exit_code(within_s=PATIENCE_S) == 0
        demo.assert_nothing_is_left()


def test_a_registry_that_has_nothing_is_said_in_a_sentence(tmp_path: Path) -> None:
    env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    with Demo(tmp_path / "t", "--scenario", "published", env=env) as demo:
        assert demo.exit_code(within_s=PATIENCE_S) == 2
        assert "mendbot: could not fetch humanize==4.1" in demo.output
        assert "ERROR: No matching distribution found for humanize==4.1" in demo.output
        demo.assert_nothing_is_left()


def hopeless() -> Scenario:
    """An agent that changes a file and never fixes it."""
    check = 'import pathlib, sys\nsys.exit(pathlib.Path("answer.txt").read_text() != "42\\n")\n'
    policy = "max_attempts: 2\nchecks:\n  test: { command: python3 check.py }\n"
    files = {"answer.txt": "41\n", "check.py": check, ".github/mendbot.yml": policy}
    return Scenario(
        name="hopeless",
        repo="octo/hopeless",
        files={name: text.encode() for name, text in files.items()},
        issues=(Filed("The answer is wrong", "`answer.txt` says 41."),),
        answers=((diff("answer.txt", "41\n", "40\n"),), (diff("answer.txt", "40\n", "39\n"),)),
        expected=((1,),),
        said="an agent that never succeeds",
    )


def test_what_was_promised_and_is_missing_is_named_and_the_demo_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(main.SCENARIOS, "issues", hopeless)  # type: ignore[arg-type]
    assert main.run_demo("issues", keep=False) == 1
    said = capsys.readouterr().out
    order(said, "✗ test (attempt 1", "✗ test (attempt 2", "finished: failed")
    assert "  missing: a pull request that closes #1\n" in said
    assert "  missing: the label auto-fix-done on #1\n" in said
    assert "  missing: one comment on #1 that links the pull request\n" in said
    assert "everything that was promised" not in said
    assert addresses(said) == []


def test_a_bot_that_dies_ends_the_demo_at_once(tmp_path: Path) -> None:
    with Demo(tmp_path / "t") as demo:
        demo.wait_until_it_says("goes to work", PATIENCE_S)
        for pid in demo.processes("-m bot serve"):
            os.kill(pid, signal.SIGKILL)
        assert demo.exit_code(within_s=PATIENCE_S) == 1
        assert "missing: the bot, which has stopped" in demo.output
        demo.assert_nothing_is_left()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.soak) for one in (signal.SIGINT, signal.SIGHUP))]
)
def test_stopped_half_way_it_fails_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with Demo(tmp_path / "t") as demo:
        demo.wait_until_it_says("before any change" if number == signal.SIGTERM else "starts on port", PATIENCE_S)
        demo.send(number)
        assert demo.exit_code(within_s=PATIENCE_S) == 1
        assert demo.output.endswith("stopped before the end\n")
        assert "Traceback" not in demo.output
        demo.assert_nothing_is_left()
