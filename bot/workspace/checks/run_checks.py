"""`run_checks`: typecheck, lint and test of one tree, in that order, up to three times (spec A).

It is for the command line and for programs; runs use `run_step`."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.config import ChecksPolicy, load_settings
from bot.model import (
    CHECK_ORDER,
    CheckName,
    CheckProgress,
    CheckResult,
    PreviousError,
    RunChecksResult,
    ValidationStep,
)
from bot.reports.format.redact import Redactor
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english
from bot.reports.runs.check_error import check_error
from bot.reports.runs.missing_setup import not_set_up
from bot.rules.reasons import make_reason
from bot.workspace.checks.restore_files import Restored, SavedFiles, save_files
from bot.workspace.checks.step import run_step
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import top_and_focus
from bot.workspace.files.tree_digest import tree_digest
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox

MAX_ATTEMPTS = 3
"""The most executions of a check in one call (REQ-CHECK-007)."""

_MAX_NAMED = 20
"""The number of altered files that a result names."""

BeforeRetry = Callable[[tuple[PreviousError, ...]], Awaitable[object] | object]
"""Called between two attempts with all failures so far, the latest last; it may change the tree."""

Watch = Callable[[CheckProgress], object]
"""Called as each check begins and as it ends."""


async def run_checks(
    worktree_path: str | Path,
    checks: Sequence[str],
    *,
    fail_fast: bool = True,
    max_attempts: int = MAX_ATTEMPTS,
    before_retry: BeforeRetry | None = None,
    policy: ChecksPolicy | None = None,
    sandbox: Sandbox | None = None,
    watch: Watch | None = None,
) -> RunChecksResult:
    """Runs the checks in the order typecheck, lint, test, once per attempt, until all pass or the attempts are used.

    `worktree_path` is absolute. For a directory inside a repository, commands come from the nearest project file
    upwards, and tree and paths are the repository's. Bad input and a missing worktree give a result with `error`, and
    nothing is run. A check is `flaky` if it passes on the same tree on which it failed before. By default commands are
    detected, the sandbox follows the environment's settings, and credentials are masked. A check that passed is run
    again only after `before_retry`. Files that a check alters are restored, with uncommitted edits; its new files
    stay. `watch` is called as each check begins and ends. Raises UserError for wrong settings and if nothing may run
    here, and everything that `before_retry` raises."""
    problem = _problem_with(worktree_path, checks, max_attempts)
    if problem is not None:
        return RunChecksResult(passed=False, error=problem)
    tree, focus = top_and_focus(Path(worktree_path))
    call = _CheckRun(
        tree=tree,
        focus=focus,
        checks=tuple(name for name in CHECK_ORDER if name in checks),
        fail_fast=fail_fast,
        policy=policy or ChecksPolicy(),
        sandbox=sandbox or await configured_sandbox(),
        mask=Redactor().mask,
        watch=watch or (lambda _: None),
    )
    return await _attempts(call, max_attempts, before_retry)


@dataclass(frozen=True, slots=True)
class _CheckRun:
    """The parameters of one call, which all its attempts share."""

    tree: Path
    focus: tuple[str, ...]
    checks: tuple[CheckName, ...]
    fail_fast: bool
    policy: ChecksPolicy
    sandbox: Sandbox
    mask: Callable[[str], str]
    watch: Watch

    async def attempt(
        self, saved: SavedFiles, attempt: int, passed: Mapping[str, CheckResult]
    ) -> tuple[CheckResult, ...]:
        """The results of one attempt; checks in `passed` are not run again."""
        results: list[CheckResult] = []
        for check in self.checks:
            if check in passed:
                results.append(passed[check])
                continue
            try:
                result = await self._check(check, attempt)
            except BaseException:  # interrupted by whoever asked for it: their files are theirs all the same
                await saved.restore()
                raise
            results.append(_noting(result, await saved.restore(), self.mask) if result.command else result)
            if self.fail_fast and not results[-1].passed:
                break
        return tuple(results)

    async def _check(self, check: CheckName, attempt: int) -> CheckResult:
        command = detect(self.tree, check, self.policy, self.focus, unasked=self.sandbox.finds)
        if isinstance(command, NoCommand):
            reason = make_reason("check.no_command", check=check, looked=command.looked_for)
            return CheckResult(check=check, passed=False, error=english(reason), no_command=reason)
        begun = CheckProgress(check=check, attempt=attempt, command=self.mask(command.text))
        self.watch(begun)
        ended = await run_step(check, command, self.tree, self.sandbox, grant=SandboxGrant(), mask=self.mask)
        step = ended.step
        error = None if step.passed else _error(step)
        shared = CheckResult.model_fields.keys() & ValidationStep.model_fields.keys()
        result = CheckResult(check=check, error=error, **{name: getattr(step, name) for name in shared})
        self.watch(begun.model_copy(update={"result": result}))
        return result


@dataclass(slots=True)
class _History:
    """The results of earlier attempts. `state` counts the states of the tree; `failed_in` has the state in which each
    check failed last."""

    state: int = 0
    failed_in: dict[str, int] = field(default_factory=dict)
    errors: list[PreviousError] = field(default_factory=list)

    def judge(self, results: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
        """The results, with those marked flaky that contradict an earlier one about the same tree."""
        return tuple(
            result.model_copy(update={"flaky": True})
            if result.passed and self.failed_in.get(result.check) == self.state
            else result
            for result in results
        )

    def add(self, attempt: int, results: tuple[CheckResult, ...]) -> None:
        now = datetime.now(UTC)
        for result in results:
            if not result.passed:
                self.failed_in[result.check] = self.state
                error = PreviousError(attempt=attempt, check=result.check, error=result.error or "", timestamp=now)
                self.errors.append(error)


def _noting(result: CheckResult, restored: Restored, mask: Callable[[str], str]) -> CheckResult:
    shown = {
        "restored": tuple(mask(path) for path in restored.paths[:_MAX_NAMED]),
        "restored_count": len(restored.paths),
        "not_restored": tuple(mask(path) for path in restored.not_restored[:_MAX_NAMED]),
        "found_in": restored.found_in,
    }
    return result.model_copy(update=shown)


async def _attempts(call: _CheckRun, max_attempts: int, before_retry: BeforeRetry | None) -> RunChecksResult:
    history = _History()
    attempt, settled = 1, dict[str, CheckResult]()
    while True:
        saved = await save_files(call.tree)  # again in each, as the caller may have changed something in between
        try:
            results = history.judge(await call.attempt(saved, attempt, settled))
        finally:
            saved.close()
        passed = all(result.passed for result in results)
        # what has no command or is not set up will be so the next time, unless somebody steps in between
        pointless = before_retry is None and all(result.passed or not _ran(result) for result in results)
        if passed or pointless or attempt == max_attempts:
            return RunChecksResult(
                passed=passed,
                results=results,
                not_run=call.checks[len(results) :],
                attempt=attempt,
                max_retries_exceeded=not passed and attempt == max_attempts > 1,
                previous_errors=tuple(history.errors),
                error=next((result.error for result in results if not result.passed and not result.command), None),
            )
        history.add(attempt, results)
        if before_retry is None:
            settled = {result.check: result for result in results if result.passed}
        elif await _changed_by(before_retry, tuple(history.errors), call.tree):
            history.state += 1
        attempt += 1


def _ran(result: CheckResult) -> bool:
    return bool(result.command) and not not_set_up(result)


async def _changed_by(step: BeforeRetry, errors: tuple[PreviousError, ...], tree: Path) -> bool:
    """Calls the caller's step; returns whether the tree has changed, apart from files that tools make."""
    before = await asyncio.to_thread(tree_digest, tree)
    taken = step(errors)
    if inspect.isawaitable(taken):
        await taken
    return await asyncio.to_thread(tree_digest, tree) != before


async def configured_sandbox() -> Sandbox:
    """The sandbox that the environment's settings ask for; raises ConfigError where they are wrong."""
    settings = load_settings()
    return await open_sandbox(settings.sandbox, settings.toolchains, Tools.of(settings), settings.check_memory_mb)


def _problem_with(worktree_path: object, checks: object, max_attempts: object) -> str | None:
    """What is wrong with the input, with how to fix it (REQ-CHECK-006); None if it is valid."""
    names = ", ".join(CHECK_ORDER)
    if not isinstance(worktree_path, str | Path) or not str(worktree_path).strip():
        return t("en", "check_input.no_path")
    if not Path(worktree_path).is_absolute():
        return t("en", "check_input.relative", path=repr(str(worktree_path)))
    if not isinstance(checks, Sequence | set | frozenset) or isinstance(checks, str) or not checks:
        return t("en", "check_input.no_checks", checks=names)
    unknown = [str(name) for name in checks if name not in CHECK_ORDER]
    if unknown:
        return t("en", "check_input.unknown", unknown=", ".join(map(repr, unknown)), checks=names)
    if not isinstance(max_attempts, int) or isinstance(max_attempts, bool) or not 1 <= max_attempts <= MAX_ATTEMPTS:
        return t("en", "check_input.attempts", attempts=repr(max_attempts))
    # os.path and not pathlib, which raises for a name that is too long and for a directory it may not enter
    if not os.path.exists(worktree_path):  # noqa: PTH110
        return t("en", "check_input.not_found", path=worktree_path)
    if not os.path.isdir(worktree_path):  # noqa: PTH112
        return t("en", "check_input.no_directory", path=worktree_path)
    return None


def _error(step: ValidationStep) -> str:
    """Why a check failed, in English."""
    if step.could_not_run is not None and step.could_not_run.setup is not None:
        return t("en", "failure.unable", why=step.output)
    return check_error(step, "en")
