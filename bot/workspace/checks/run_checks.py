"""`run_checks`: typecheck, lint and test of one tree, in that order, up to three times (spec A).
It exists for whoever wants a verdict without a run: the command line, MCP, programs; runs use `run_step` alone."""

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
from bot.reports.format.truncate import cut_middle
from bot.reports.runs.failures import failures_told
from bot.reports.runs.missing_setup import not_set_up
from bot.reports.runs.validation import how_it_ended
from bot.workspace.checks.restore_files import Restored, SavedFiles, save_files
from bot.workspace.checks.step import OUTPUT_LIMIT, run_step
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import situated
from bot.workspace.files.tree_digest import tree_digest
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox

MAX_ATTEMPTS = 3
"""The most executions of a check in one call (REQ-CHECK-007)."""

_MAX_NAMED = 20
"""Paths of altered files that a result names."""

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
    """Run the checks in the order typecheck, lint, test, each once an attempt, until all pass or the attempts are used.

    `worktree_path` is absolute; for a directory inside a repository the nearest project file upwards has the
    commands, and tree and paths are the repository's. Bad input and a missing worktree are a result with `error`, and
    nothing is run. A check that passes on the very tree on which it failed before is `flaky`. By default commands are
    detected, the sandbox is the one that the environment's settings ask for, and whatever looks like a credential is
    masked. What passed is run again only after `before_retry`. Files that a check alters are restored after it,
    uncommitted edits and all; its new files stay. `watch` is called as each check begins and ends.
    Raises UserError where the settings are wrong or nothing may run here; what `before_retry` raises goes on."""
    problem = _problem_with(worktree_path, checks, max_attempts)
    if problem is not None:
        return RunChecksResult(passed=False, error=problem)
    tree, focus = situated(Path(worktree_path))
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
    """All that the attempts of one call have in common."""

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
            return CheckResult(check=check, passed=False, error=_no_command(command))
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
    """What earlier attempts showed. `state` counts the states of the tree that were seen, `failed_in` in which a check
    failed last."""

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
    """Take the caller's step; whether the tree is another one afterwards. What checks write doesn't count."""
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
    """What is wrong with the input, as a sentence with how to fix it (REQ-CHECK-006)."""
    if not isinstance(worktree_path, str | Path) or not str(worktree_path).strip():
        return "worktree_path must be the absolute path of a worktree"
    if not Path(worktree_path).is_absolute():
        return f"worktree_path must be absolute, and {str(worktree_path)!r} is relative; give the full path"
    if not isinstance(checks, Sequence | set | frozenset) or isinstance(checks, str) or not checks:
        return f"checks must be a list that names at least one of {', '.join(CHECK_ORDER)}"
    unknown = [str(name) for name in checks if name not in CHECK_ORDER]
    if unknown:
        return f"unknown check {', '.join(map(repr, unknown))}; the checks are {', '.join(CHECK_ORDER)}"
    if not isinstance(max_attempts, int) or isinstance(max_attempts, bool) or not 1 <= max_attempts <= MAX_ATTEMPTS:
        return f"max_attempts must be 1, 2 or 3, not {max_attempts!r}"
    # os.path and not pathlib, which raises for a name that is too long and for a directory it may not enter
    if not os.path.exists(worktree_path):  # noqa: PTH110
        return f"Worktree not found: {worktree_path}"
    if not os.path.isdir(worktree_path):  # noqa: PTH112
        return f"Worktree not found: {worktree_path} is no directory"
    return None


def _no_command(missing: NoCommand) -> str:
    return f"no command for the check `{missing.check}`; looked for: {'; '.join(missing.looked_for)}"


def _error(step: ValidationStep) -> str:
    """What failed, for people: the headline of the first failure, its lines, and how the command ended."""
    if step.could_not_run is not None and step.could_not_run.setup is not None:
        return f"could not run: {step.output}"
    if step.could_not_run is not None or step.cut_short:
        how = how_it_ended(step, "en")
    else:
        how = f"exited with {step.exit_code}" if step.exit_code is not None else "did not run to its end"
    ended = f"`{step.command}` {how}"
    failures_text = failures_told(step.failures, step.failure_count)
    return cut_middle(f"{failures_text}\n\n{ended}".strip("\n"), OUTPUT_LIMIT)
