"""Runs a setup plan in a tree: its log, the files that it changed, and its steps as events record them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.model import Repo, SetupDone
from bot.model.reasons import Reason
from bot.model.setups import SetupPlan
from bot.proc import ProcResult
from bot.reports.locale.catalog import gigabytes
from bot.reports.locale.reasons import english
from bot.rules.parsed_output import parse_output
from bot.rules.reasons import make_reason, quoted
from bot.rules.test_results.could_not_run import could_not_run
from bot.workflows.checks.altered_files import log_with_restored
from bot.workflows.context import Context
from bot.workspace.dependencies.cache import DependencyCache
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.setup.install import Installed, StepDone, install


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The result of a setup. `snapshot` is the tree that checks begin with, `restored` the commit's files that setup
    had changed, `log` is masked."""

    steps: tuple[SetupDone, ...]
    snapshot: str
    restored: tuple[str, ...]
    log: str
    exit_code: int | None
    failed: Reason | None
    """Why it failed; None where it did not."""

    @property
    def duration_ms(self) -> int:
        return sum(step.duration_ms for step in self.steps)


async def get_cache(context: Context, repo: Repo, branch: str | None, head: str) -> DependencyCache:
    """Where the products of a tree are kept: with those of the default branch where its commit lies on that `branch`,
    else with those of the commit `head` alone (T31). None is a branch that need not be asked for."""
    shared = branch is not None and branch == await context.github.repository(repo).default_branch()
    return DependencyCache(context.settings.home / "dependencies", repo.full_name, "" if shared else head)


async def run_setup(
    context: Context,
    plan: SetupPlan,
    tree: Tree,
    base: str,
    *,
    grant: SandboxGrant,
    cache: DependencyCache | None,
    before_restoring: Callable[[], Awaitable[None]] | None = None,
) -> SetupResult:
    """Run the plan in the tree of the commit `base`, whose files are restored where setup changed them."""
    installed = await install(plan, tree.path, context.sandbox, grant=grant, cache=cache, mask=context.mask)
    if before_restoring is not None:
        await before_restoring()
    snapshot, restored = await tree.after_setup(base)
    failed = installed.failed
    result = failed.result if failed is not None else None
    return SetupResult(
        steps=tuple(_masked_step(one, context.mask) for one in installed.steps),
        snapshot=snapshot,
        restored=restored,
        log=log_with_restored(_log(installed, context.mask), restored),
        exit_code=0 if failed is None else result.exit_code if result is not None else None,
        failed=None if failed is None else _why(failed, context.mask),
    )


def plan_text(plan: SetupPlan, mask: Callable[[str], str]) -> str:
    """The commands of a plan on one line."""
    return "; ".join(mask(step.text) for step in plan.steps)


def planned_steps(plan: SetupPlan, mask: Callable[[str], str]) -> tuple[SetupDone, ...]:
    """The steps of a plan that has not begun, as events record them."""
    return tuple(
        SetupDone(command=mask(step.text), because=step.because, passed=False, optional=step.optional)
        for step in plan.steps
    )


def _masked_step(done: StepDone, mask: Callable[[str], str]) -> SetupDone:
    return SetupDone(
        command=mask(done.step.text),
        because=done.step.because,
        passed=done.passed,
        kept=done.result is None,
        optional=done.step.optional,
        duration_ms=done.result.duration_ms if done.result is not None else 0,
    )


def _log(installed: Installed, mask: Callable[[str], str]) -> str:
    """The log of all steps, each below its command."""
    return "\n".join(f"$ {mask(done.step.text)}\n{_output(done, mask)}".rstrip() for done in installed.steps)


def _output(done: StepDone, mask: Callable[[str], str]) -> str:
    if done.result is None:
        return english(make_reason("log.kept"))
    output = mask(done.result.output.decode("utf-8", "replace")).rstrip()
    if done.passed:
        return output
    note = english(make_reason("log.optional")) if done.step.optional else ""
    return "\n".join(part for part in (output, mask(english(_failure(done.result))), note) if part)


def _failure(result: ProcResult) -> Reason:
    if result.timed_out:
        return make_reason("log.timed_out")
    if result.over_memory_mb:
        return make_reason("log.over_memory")
    return quoted(result.spawn_error) if result.spawn_error else make_reason("log.exit", code=str(result.exit_code))


def _why(done: StepDone, mask: Callable[[str], str]) -> Reason:
    assert done.result is not None
    result, command = done.result, done.step.text
    log = mask(result.output.decode("utf-8", "replace"))
    facts = {"command": mask(command), "block": parse_output(log, "setup").first_error_block}
    if result.timed_out:
        return make_reason("setup.timed_out", **facts)
    if result.over_memory_mb:
        return make_reason("setup.over_memory", **facts, memory=gigabytes(result.over_memory_mb))
    if result.spawn_error:
        return make_reason("setup.not_started", **facts, error=mask(result.spawn_error))
    lacks = could_not_run(command, result.exit_code, log)
    if lacks is not None and lacks.hindrance == "not_found":
        return make_reason("setup.lacks", command=mask(command), what=mask(lacks.what))
    return make_reason("setup.exit", **facts, code=str(result.exit_code))
