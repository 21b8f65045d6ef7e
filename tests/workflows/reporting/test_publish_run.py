"""GitHub is told the newest once: nothing twice, nothing old over something new, and no refusal silences the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.errors import Transient
from bot.model import Issue, Status, ValidationStep
from bot.model.events.run_event import RunEvent
from bot.rules.reasons import quoted
from bot.store.runs.reported import Published
from bot.workflows.context import Loop
from bot.workflows.kernel import publish_loop
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.loop import FIX_RUN
from tests.machine import PATIENCE_S
from tests.reports.hostile_texts import assert_harmless
from tests.run_events import run_event
from tests.workflows.conftest import NAME, Harness
from tests.workflows.reporting.reported_runs import comments, finished, labels, started

AtDesk = Callable[..., Any]


def packaged(sha: str) -> RunEvent:
    pull = {"number": 9, "url": "https://github.example/octo/tiny/pull/9"}
    return run_event("phase_completed", "packaging", commit=sha, pull=pull)


async def tell(at: Harness, run_id: str) -> None:
    await publish(at.context, await at.row(run_id))


def test_the_same_is_not_said_twice(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, int]:
        number = at.issue()
        await at.run("run-1", number)
        await tell(at, "run-1")
        said = at.requests()
        await tell(at, "run-1")
        return said, at.requests()

    before, after = at_desk(work)
    assert before == after > 0


def test_one_comment_is_kept_up_to_date_and_labels_follow_the_status(at_desk: AtDesk) -> None:
    """G-2."""

    async def work(at: Harness) -> list[tuple[int, set[str]]]:
        number = at.issue()
        await at.run("run-1", number)
        seen = []
        for draft in (None, started(), finished(Status.FAILED)):
            await at.runs.append("run-1", [draft] if draft else [])
            await tell(at, "run-1")
            seen.append((len(comments(at, number)), labels(at, number) - {"auto-fix"}))
        return seen

    assert at_desk(work) == [(1, {"auto-fix-processing"}), (1, {"auto-fix-processing"}), (1, {"auto-fix-failed"})]


def test_an_older_runs_late_report_does_not_overwrite_a_newer_ones(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], set[str]]:
        number = at.issue()
        await at.run("run-old", number)
        await at.runs.append("run-old", [started(), finished(Status.FAILED)])
        await asyncio.sleep(0.01)
        await at.run("run-new", number)
        await tell(at, "run-new")
        await tell(at, "run-old")  # as after two minutes of GitHub being away
        return comments(at, number), labels(at, number)

    said, kept = at_desk(work)
    assert len(said) == 1 and "run-new" in said[0]
    assert kept == {"auto-fix", "auto-fix-processing"}


def test_an_issue_that_is_gone_or_locked_does_not_silence_the_others(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], set[str], set[str]]:
        numbers = at.issue(), at.issue(), at.issue()
        await at.run("run-1", *numbers)
        at.github.world.faults.add("*", f"/repos/{NAME}/issues/{numbers[0]}/.*", status=404, times=99)
        at.github.world.faults.add("POST", f"/repos/{NAME}/issues/{numbers[1]}/comments", status=403, times=99)
        await tell(at, "run-1")
        return comments(at, numbers[2]), labels(at, numbers[1]), labels(at, numbers[2])

    said, locked, free = at_desk(work)
    assert len(said) == 1
    assert "auto-fix-processing" in locked & free


def test_a_fault_in_one_place_is_raised_after_the_others_had_their_turn(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, int]:
        numbers = at.issue(), at.issue()
        await at.run("run-1", *numbers)
        at.github.world.faults.add("GET", f"/repos/{NAME}/issues/{numbers[0]}/comments", status=503, times=3)
        try:
            await tell(at, "run-1")
        except Transient as error:
            return str(error), len(comments(at, numbers[1]))
        return "", 0

    said, others = at_desk(work)
    assert "503" in said
    assert others == 1


def test_check_runs_are_only_on_what_was_pushed_by_a_run_that_succeeded(at_desk: AtDesk) -> None:
    """G-7."""

    async def work(at: Harness) -> tuple[int, list[str]]:
        sha = at.github.world.branches(NAME)["main"]
        one, other = at.issue(), at.issue()
        await at.run("run-1", one)
        pushed = run_event("commit_pushed", commit=sha)
        await at.runs.append("run-1", [started(), pushed, finished(Status.FAILED)])
        await tell(at, "run-1")
        before = len(at.github.world.check_runs(NAME, sha))
        await at.run("run-2", other)
        await at.runs.append("run-2", [started(), packaged(sha), finished(Status.SUCCESS)])
        for _ in range(2):
            await tell(at, "run-2")
        return before, sorted(check.name for check in at.github.world.check_runs(NAME, sha))

    before, names = at_desk(work)
    assert before == 0
    assert names == ["mendbot / fix", "mendbot / lint", "mendbot / test", "mendbot / typecheck"]


@pytest.mark.parametrize("public_url", ["https://bot.example/", None])
def test_check_runs_and_comments_lead_to_the_page_of_their_run(at_desk: AtDesk, public_url: str | None) -> None:
    """REQ-RUN-009: where the operator says where people reach the pages."""

    async def work(at: Harness) -> tuple[set[str | None], str]:
        sha, number = at.github.world.branches(NAME)["main"], at.issue()
        await at.run("run-1", number)
        await at.runs.append("run-1", [started(), packaged(sha), finished(Status.SUCCESS)])
        await tell(at, "run-1")
        return {check.details_url for check in at.github.world.check_runs(NAME, sha)}, comments(at, number)[0]

    addresses, comment = at_desk(work, public_url=public_url)
    assert (addresses == {"https://bot.example/runs/run-1"}) is (public_url is not None)
    assert ("[`run-1`](https://bot.example/runs/run-1)" in comment) is (public_url is not None)


def test_secrets_that_came_into_a_record_do_not_leave_it(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str]:
        number = at.issue()
        await at.run("run-1", number)
        line = at.context.settings.key_pem.splitlines()[3]
        await at.runs.append("run-1", [started(), finished(Status.FAILED, "setup_failed", f"it printed: {line}")])
        await tell(at, "run-1")
        return comments(at, number)[0], line

    said, line = at_desk(work)
    assert line[8:24] not in said
    assert "***" in said


@pytest.mark.parametrize("language", ["ko"])  # whose characters are three bytes each
def test_the_report_of_a_huge_run_is_taken_by_github_whole_and_found_again(at_desk: AtDesk, language: str) -> None:
    """T39."""
    noise = "".join(f"{'`' * (line % 9)} </details> <!-- mendbot:issue --> @ann 😀 {line}\n" for line in range(4_000))

    def failed(attempt: int) -> list[RunEvent]:
        step = ValidationStep(command="`" * 300, stage="test", passed=False, exit_code=1, output=noise[:5000])
        errors = [f"E {attempt} {number} {noise[number : number + 150]}" for number in range(60)]
        data = {"step": step.model_dump(mode="json", by_alias=True), "fingerprints": errors}
        change = {"agent": "hand", "paths": [noise[:300]] * 300, "allPaths": [noise[at : at + 90] for at in range(999)]}
        change |= {"snapshot": f"t{attempt}", "patchHash": f"h{attempt}"}
        return [
            run_event("attempt_started", iteration=attempt),
            run_event("changes_applied", iteration=attempt, **change),
            run_event("validation_command_failed", iteration=attempt, **data),
        ]

    async def work(at: Harness) -> list[str]:
        issues = [Issue(number=at.issue(noise[:250]), title=noise) for _ in range(2)]
        spec = at.spec(issues=tuple(issues), reasons=(quoted(noise),) * 60, max_attempts=10, suggested_branch="fix/x")
        await at.runs.create("run-1", spec)
        plan = {
            "baseSha": "b" * 40,
            "branch": "fix/x",
            "sandbox": {"kind": "quoted", "values": {"text": noise[:500]}},
            "snapshot": "t0",
        }
        stages = [{"name": "test", "command": {"run": "x", "timeout_s": 20}}]
        begun = run_event("phase_started", "planning", **plan, stages=stages)
        await at.runs.append("run-1", [started(), begun])
        for attempt in range(1, 13):
            await at.runs.append("run-1", failed(attempt))
        said = []
        for draft in ([], [finished(Status.FAILED, "stuck_error", noise)]):
            await at.runs.append("run-1", draft)
            await tell(at, "run-1")
            said += comments(at, issues[0].number)
        await at.context.stores.reports.record(
            at.repo, f"comment:{issues[0].number}", Published(github_id=None, digest="")
        )
        await tell(at, "run-1")
        return [*said, *comments(at, issues[0].number)]

    working, ended, again = at_desk(work, language=language)
    assert "🔄" in working and "❌" in ended == again
    for body in (working, ended):
        assert body.startswith("<!-- mendbot:issue -->\n") and "</sub>\n<!-- mendbot:issue.run-1" in body
        assert len(body) <= 65_536
        assert_harmless(body.removeprefix("<!-- mendbot:issue -->\n").rpartition("\n")[0])
    assert len(ended) > 30_000


def test_the_language_is_the_repositorys_else_the_operators(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[bool]:
        korean = []
        for language in (None, "en", "ko"):
            number = at.issue()
            spec = at.spec(number)
            spec = spec.model_copy(update={"policy": spec.policy.model_copy(update={"language": language})})
            await at.runs.create(f"run-{number}", spec)
            await tell(at, f"run-{number}")
            korean.append(any("가" <= char <= "힣" for char in comments(at, number)[0]))
        return korean

    assert at_desk(work, language="ko") == [True, False, True]


def test_the_loop_tells_what_is_new_until_nothing_is(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[datetime, set[str]]:
        number = at.issue()
        await at.run("run-1", number)
        loop = asyncio.create_task(publish_loop(at.context, FIX_RUN))
        at.github.world.faults.add("*", "/repos/.*", status=503, times=1)
        await at.runs.append("run-1", [started(), finished(Status.FAILED)])
        at.context.wake[Loop.RUN_REPORTS].set()
        async with asyncio.timeout(PATIENCE_S):
            while await at.runs.unreported():  # noqa: ASYNC110  # the state is in a database
                await asyncio.sleep(0.02)
        loop.cancel()
        return datetime.now(UTC), labels(at, number)

    assert at_desk(work)[1] == {"auto-fix", "auto-fix-failed"}
