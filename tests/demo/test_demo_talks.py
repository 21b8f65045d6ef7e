"""`make demo SCENARIO=pull-request` and `SCENARIO=commands` as a person sees them, and that they can fail."""

from __future__ import annotations

import dataclasses
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from demo import main
from demo.driver import Stage
from demo.scenarios.commands import commands_scenario
from demo.scenarios.issues import Scenario, diff, sample
from demo.scenarios.pulls import pull_request_scenario
from tests.demo.demo_output import KEPT, PATIENCE_S, order
from tests.demo.demo_process import Demo, addresses


def keep(demo: Demo) -> str:
    """What it says until it stays; each address that it then gives is a page."""
    said = demo.wait_until_it_says(KEPT, PATIENCE_S)
    for page in [*re.findall(r"^  (http://\S+)$", said.partition(KEPT)[2], re.MULTILINE), *addresses(said)]:
        with urllib.request.urlopen(page, timeout=PATIENCE_S) as answer:
            assert answer.status == 200
    demo.send(signal.SIGINT)
    assert demo.exit_code(within_s=PATIENCE_S) == 0
    demo.assert_nothing_is_left()
    return said


def test_a_pull_request_is_judged_and_mended_and_a_strangers_waits(tmp_path: Path) -> None:
    with Demo(tmp_path / "t", "--scenario", "pull-request", "--keep") as demo:
        said = keep(demo)
    verdicts = (": neutral — 1 existing failure", ": failure — 1 new failing test: `tests/test_duration.py")
    order(said, "bo, who has write access", *verdicts, "presses Fix")
    order(said, "presses Fix", "command changed pocket/duration.py", "pushed ", "comments: **⏸️ Waiting for approval**")
    waits = re.findall(r"^  ! mendbot / test at (\w+): action required — Needs /mendbot ok-to-test", said, re.MULTILINE)
    assert len(set(waits)) == 2
    first, newer = waits
    order(said, "ada on #2: /mendbot ok-to-test", f"- mendbot / test at {first}: neutral", "sam pushes once more")
    assert not re.search(rf"mendbot / test at {newer}: (?:queued|in progress)", said)
    outcome = said.partition("What stands on GitHub now")[2]
    assert len(addresses(outcome)) == 2
    for check in ("fix", "typecheck", "test"):
        assert re.search(rf"^ +✓ check run mendbot / {check}: success — ", outcome, re.MULTILINE)
    assert re.search(r"^ +- check run mendbot / lint: neutral — No new failures", outcome, re.MULTILINE)
    assert len(re.findall(r"^ +comment http://\S+ by mendbot\[bot\]: ", outcome, re.MULTILINE)) == 3


def test_commands_are_heard_obeyed_and_answered(tmp_path: Path) -> None:
    with Demo(tmp_path / "t", "--scenario", "commands", "--keep") as demo:
        said = keep(demo)
    for asked in ("help", "status", "fix", "explain", "resolved", "apply", "history", "group split", "pause", "resume"):
        after = re.split(rf"ada on #\d: /mendbot {asked}", said)[1].partition(": /mendbot ")[0]
        assert re.search(r"^ {4}👀 after \d+ ms", after, re.MULTILINE), asked
        assert re.search(r"^ {4}🚀 after \d+ ms", after, re.MULTILINE), asked
    stranger = said.partition("sam on #1: /mendbot fix")[2].partition("\n\n")[0]
    assert "mendbot[bot]" not in stranger and "after" not in stranger
    order(said, "Let us see: …", "😕 after", "labels #2 and #3")
    order(said, "#1: finished: failed", "asks the agent `given`", "#1: finished: success", "#2: finished: success")
    outcome = said.partition("What stands on GitHub now")[2]
    assert len(addresses(outcome)) == 3
    assert "(closes #2)" in outcome and "(closes #3)" in outcome


def an_agent_that_never_mends() -> Scenario:
    module = "pocket/duration.py"
    found = pull_request_scenario()
    wrong = sample("pulls/days")[module].decode()
    policy = ".github/mendbot.yml"
    once = found.files[policy].replace(b"max_attempts: 3", b"max_attempts: 1")
    useless = (diff(module, wrong, wrong.replace("84_400", "84_401")),)
    return dataclasses.replace(found, answers=(useless,), files={**found.files, policy: once})


@pytest.mark.soak  # what is missing ends the demo as in the next test
def test_a_pull_request_that_is_not_mended_fails_the_demo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(main.SCENARIOS, "pull-request", an_agent_that_never_mends)
    assert main.run_demo("pull-request", keep=False) == 1
    said = capsys.readouterr().out
    assert "  missing: a push of the fix to pull request #1\n" in said
    assert "everything that was promised" not in said


def test_a_bot_that_obeys_strangers_fails_the_demo(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here the stranger is one to GitHub no more."""
    found = commands_scenario()

    def act(stage: Stage) -> None:
        stage.world.set_permission(found.repo, "sam", "write")
        assert found.act is not None
        found.act(stage)

    monkeypatch.setitem(main.SCENARIOS, "commands", lambda: dataclasses.replace(found, act=act))
    assert main.run_demo("commands", keep=False) == 1
    said = capsys.readouterr().out
    assert "  missing: silence towards a stranger, and why in the list of deliveries\n" in said
    assert "everything that was promised" not in said
