"""The levels of proof of a fix, from the label to what GitHub shows (REQ-PROOF-001)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from demo.standin.server import StandIn
from demo.standin.views import PullView
from tests.e2e.conftest import REPO, label, wait_for_label
from tests.e2e.pull_world import wait
from tests.e2e.server import Server
from tests.e2e.stored_events import assert_nothing_left, wait_for_event
from tests.workflows.runs.proof_world import FAULTY, RIGHT, SUITE, SUITE_WITH_TEST, TESTS, WRONG

Serve = Callable[..., Server]
POLICY = f"checks:\n  test: {{ command: {TESTS}, timeout: 60 }}\n"
PROJECT = {"shop.py": FAULTY, "tests/__init__.py": "", "tests/test_shop.py": SUITE, ".github/mendbot.yml": POLICY}
NOTICED = FAULTY.replace("sum(items)", "sum(items, 0)")
"""A change that the present test notices, and that solves nothing."""
EDGES = ("reproduction:1", "reproduction_done:1", "tests_without_change_ended", "proof_decided")
"""Events around the steps of the proof, by type or key."""


def writes(**files: str) -> dict[str, Any]:
    """An answer with whole files; `__` in a name is a dot, and `tests` the test file."""
    names = {"tests": "tests/test_shop.py", "shop": "shop.py"}
    return {"changes": [{"path": names.get(name, name), "content": text} for name, text in files.items()]}


def coder(*fixes: Mapping[str, Any], test: Mapping[str, Any] | None = None) -> str:
    """An agent command that gives `test` where a failing test is asked for, and else the fixes by the attempt; an empty
    answer for None."""
    script = (
        "import json, re, sys\n"
        f"fixes, test = json.loads({json.dumps(json.dumps([fixes, test]))})\n"
        "prompt = sys.stdin.read()\n"
        "number = int(re.search(r'attempt (\\d+) of', prompt)[1])\n"
        "answer = test if 'a failing test is wanted' in prompt else fixes[min(number, len(fixes)) - 1]\n"
        "print(json.dumps(answer or {'changes': []}))\n"
    )
    return json.dumps(["python3", "-c", script])


def project(github: StandIn, *, policy: str = "", **files: str) -> None:
    names = {"suite": "tests/test_shop.py", "shop": "shop.py"}
    changed = {names.get(name, name): text for name, text in files.items()}
    content = {**PROJECT, **changed, ".github/mendbot.yml": f"{POLICY}{policy}"}
    github.world.push_commit(REPO, "main", content, "ada")


def crash(github: StandIn) -> int:
    return label(github, "total() of nothing is None", "`shop.py` returns None for an empty list.")


def over(github: StandIn, number: int) -> PullView:
    """The pull request of a run, once its comment and its labels are there."""
    world = github.world

    def is_over() -> bool:
        issue = world.issue(REPO, number)
        return (
            bool(world.pulls(REPO))
            and "auto-fix-processing" not in issue.labels
            and any("/pull/" in comment.body for comment in issue.comments)
        )

    wait(github, is_over, f"the end of the run for #{number}")
    return world.pulls(REPO)[0]


def assert_proven(github: StandIn, number: int, because: str) -> None:
    wait_for_label(github, number, "auto-fix-done")
    pull, issue = over(github, number), github.world.issue(REPO, number)
    assert (pull.draft, pull.closes) == (False, (number,))
    assert pull.title.startswith("Fix: ") and f"Closes #{number}" in pull.body
    for text in (pull.body, issue.comments[0].body):
        assert "**✅ Proven.**" in text and because in text and "test_total_of_none" in text
    title = fix_title(github, pull)
    assert title.startswith("Proven in attempt ") and "test_total_of_none" in title


def assert_draft(github: StandIn, number: int, pull: PullView, first: str) -> None:
    issue = github.world.issue(REPO, number)
    assert pull.draft and pull.closes == ()
    assert pull.body.startswith(first) and f"Refs #{number}" in pull.body
    assert not {"auto-fix-done", "auto-fix-failed", "auto-fix-processing"} & set(issue.labels)
    assert issue.comments[0].body.partition("-->")[2].lstrip().startswith(first)


def fix_title(github: StandIn, pull: PullView) -> str:
    checks = {check.name: check for check in github.world.check_runs(REPO, pull.head_sha)}
    return checks["mendbot / fix"].title


def answered(github: StandIn, number: int, command: str, text: str) -> str:
    def last() -> str:
        return github.world.issue(REPO, number).comments[-1].body

    github.world.comment(REPO, number, f"/mendbot {command}", "ada")
    wait(github, lambda: text in last(), f"the answer to {command}", told=last)
    return last()


def test_a_test_that_failed_on_the_base_proves_the_fix(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    project(github, suite=SUITE_WITH_TEST)
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=RIGHT)))
    assert_proven(github, crash(github), "failed before the change and passes with it")


def test_a_test_that_was_written_first_proves_the_fix_even_if_the_bot_is_killed(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001, REQ-RUN-007: each step of the proof is repeated or taken over after a crash."""
    project(github)
    bot = serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=RIGHT), test=writes(tests=SUITE_WITH_TEST)))
    number = crash(github)
    for edge in EDGES:
        wait_for_event(bot, edge)
        bot.kill()
        bot.start()
    assert_proven(github, number, "fails without the change and passes with it")
    assert len(github.world.pulls(REPO)) == 1 and len(github.world.issue(REPO, number).comments) == 1
    head = github.world.pulls(REPO)[0].head_sha
    assert github.world.read_file(REPO, head, "shop.py") == RIGHT.encode()
    assert github.world.read_file(REPO, head, "tests/test_shop.py") == SUITE_WITH_TEST.encode()
    assert_nothing_left(bot)


def test_a_change_that_the_checks_notice_is_a_covered_draft(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    project(github)
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=NOTICED)))
    number = crash(github)
    pull = over(github, number)
    assert_draft(github, number, pull, "**🟡 Covered, not proven.** Checks were green before and after; ")
    assert "mutants of the changed lines were noticed" in pull.body
    assert "needs-proof" not in github.world.pulls(REPO)[0].labels
    assert fix_title(github, pull).startswith("Covered, not proven, in attempt 1 of 3: ")


def test_a_wrong_fix_that_nothing_notices_is_an_unproven_draft(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001, REQ-PROOF-005. The fixers have nothing to offer, the agent is named that wrote no test, and the
    answers to commands have the level too."""
    project(github, policy="agents: [fixers, command]\n")
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=WRONG)))
    number = crash(github)
    pull = over(github, number)
    assert_draft(github, number, pull, f"**⚠️ Nothing shows that #{number} is solved; a test that fails without this ")
    wait(github, lambda: "needs-proof" in github.world.pulls(REPO)[0].labels, "the label needs-proof")
    assert "A failing test was asked for first, in vain: `command`" in pull.body
    assert "Made by `command` in attempt 1 of 3" in pull.body
    assert fix_title(github, pull).startswith("Unproven in attempt 1 of 3: ")
    for command in ("status", "explain"):
        assert "Nothing shows that" in answered(github, number, command, "Nothing shows that")


def test_what_falls_short_of_the_required_proof_is_offered_as_a_diff(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    project(github, policy="require_proof: proven\nmax_attempts: 2\n")
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=WRONG), writes(shop=NOTICED)))
    number = crash(github)
    wait_for_label(github, number, "auto-fix-failed")
    (comment,) = github.world.issue(REPO, number).comments
    assert "`proof_required`" in comment.body and "Nothing was pushed." in comment.body
    assert "```diff\n" in comment.body and "sum(items, 0)" in comment.body
    assert github.world.pulls(REPO) == ()
    assert "`require_proof`" in answered(github, number, "status", "proof_required")


def test_the_next_attempt_gets_what_the_first_one_lacked(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    project(github, policy="require_proof: proven\n")
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=WRONG), writes(shop=RIGHT, tests=SUITE_WITH_TEST)))
    number = crash(github)
    assert_proven(github, number, "fails without the change and passes with it")
    assert fix_title(github, github.world.pulls(REPO)[0]).startswith("Proven in attempt 2 of 3: ")


def test_data_of_tests_that_makes_a_failing_test_pass_proves_nothing(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    read = "json.loads((pathlib.Path(__file__).parent / 'expected.json').read_text())"
    suite = f"import json\nimport pathlib\n{SUITE_WITH_TEST}".replace("total([]), 0", f"total([]), {read}")
    project(github, suite=suite)
    serve(MENDBOT_AGENT_COMMAND=coder({"changes": [{"path": "tests/expected.json", "content": "null"}]}))
    number = crash(github)
    pull = over(github, number)
    assert_draft(github, number, pull, f"**⚠️ Nothing shows that #{number} is solved;")
    assert "The failure is gone with the changed test files alone." in pull.body


def test_a_failure_that_goes_away_by_itself_proves_nothing(github: StandIn, serve: Serve) -> None:
    """REQ-PROOF-001."""
    lucky = (
        "import pathlib\n"
        "seen = pathlib.Path(__file__).parents[2] / 'seen'\n"
        "first = not seen.exists()\n"
        "seen.touch()\n" + SUITE_WITH_TEST.replace("total([]), 0", "None if first else 0, 0")
    )
    project(github, suite=lucky)
    serve(MENDBOT_AGENT_COMMAND=coder(writes(shop=WRONG)), MENDBOT_SANDBOX="none")
    number = crash(github)
    pull = over(github, number)
    assert_draft(github, number, pull, f"**⚠️ Nothing shows that #{number} is solved;")
    assert "The failure also went away without the change, so chance may explain it." in pull.body
