"""The effects of a pull check that execute a check: on the head, on the merge base, and its failing tests again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice

from bot.errors import Refused
from bot.logs import get_logger
from bot.model import ShellCommand
from bot.model.events.pull_checks import PullBaseChecked, PullCheckRan, PullCheckStarted, PullTestsRan
from bot.rules.failures.errors import Printed
from bot.rules.failures.failure_origin import shown
from bot.rules.pulls.changed_tests import changed_cases, changed_tests
from bot.rules.pulls.check_execution import TEST_STAGE
from bot.rules.pulls.check_runs import MAX_ALONE, identity, is_broken
from bot.rules.pulls.check_state import PullCheckState, RunTests
from bot.rules.tampering.test_source import is_test
from bot.rules.test_results.selected_tests import selected_outcomes
from bot.store.database.database import now_ms
from bot.store.history.outcomes import MAX_BASE_AGE_MS, BaseResult
from bot.store.history.remembered_runs import Place
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context, Loop
from bot.workflows.pulls.checkouts import ready_tree
from bot.workflows.pulls.execute import Executed, ExecutedTests, execute, execute_tests
from bot.workflows.tampering import file_texts
from bot.workspace.checks.logs import write_log
from bot.workspace.checks.step import StepRun
from bot.workspace.git.diff import changed

_MAX_PRINTED = 50
_MAX_CHARS = 300
_MAX_TEST_FILES = 100
"""Changed test files in which changed tests are searched."""

log = get_logger()


async def run_check(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """Execute a check on the head, and record what it shows with the remembered runs of what failed."""
    stage, pulls = state.stages[index], context.stores.pulls
    assert stage.command is not None
    await pulls.append(row.id, [PullCheckStarted(index=index, stage=stage.name)])
    context.wake[Loop.CHECK_REPORTS].set()
    ready = await ready_tree(context, row, state, "head")
    ended = await execute(context, row, stage.command, ready, stage.name)
    write_log(context.settings.home, row.id, f"{stage.name}.log", ended.run.log)
    step, errors = ended.run.step, ended.run.parsed.errors
    failed = shown(step.passed, errors)
    names = [identity(error) for error in failed if error] if stage.name == TEST_STAGE else []
    repo, since = row.spec.repo.full_name, now_ms() - MAX_BASE_AGE_MS
    known = await context.stores.test_runs.on_base(repo, stage.name, names, state.base_sha, since_ms=since)
    ran = PullCheckRan(
        classification=step.classification,
        index=index,
        stage=stage.name,
        step=step,
        errors=failed,
        printed=_printed(errors),
        remembered={name: (runs.here, runs.before) for name, runs in known.items()},
        tests=ended.failed_of,
        changed=await _changed_tests(context, row, state, ended) if stage.name == TEST_STAGE else (),
    )
    if ended.failed_of is None or not is_broken(ended.failed_of):
        await _remember(context, row, stage.name, (row.spec.head_sha, "head"), failed=names)
    await pulls.append(row.id, [ran])


async def check_base(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """Record the result of the same check on the base; a cached one is used, so that each base is checked once a day.

    An unknown result is not cached: it is tried again when needed next, after a failed setup not before the next
    run."""
    stage, outcomes, repo = state.stages[index], context.stores.outcomes, row.spec.repo.full_name
    assert stage.command is not None
    text = f"{stage.command.directory}\n{stage.command.text}"
    async with context.control.lock(f"base:{repo.lower()}:{state.base_sha}:{stage.name}"):
        known = await outcomes.base(repo, state.base_sha, stage.name, text)
        if known is None:
            unknown = {one.runs.base_because for one in state.ran.values()}
            checked = await _run_on_base(context, row, state, index) if "base_setup" not in unknown else None
            checked = checked or PullBaseChecked(index=index, errors=None, because="base_setup")
            if checked.errors is not None:
                result = BaseResult(passed=not checked.errors, errors=checked.errors)
                await outcomes.put_base(repo, state.base_sha, stage.name, text, result)
        else:
            checked = PullBaseChecked(index=index, errors=known.errors, cached=True)
    await context.stores.pulls.append(row.id, [checked])


async def _run_on_base(
    context: Context, row: PullCheckRow, state: PullCheckState, index: int
) -> PullBaseChecked | None:
    """The result of the check on the base; None where its setup fails. Where it is unknown, it has the name of the
    reason (`pull_check.because.NAME`)."""
    stage, execution = state.stages[index], state.ran[index]
    assert stage.command is not None
    try:
        ready = await ready_tree(context, row, state, "base")
    except Refused:
        return None
    if stage.command.directory and not (ready.tree.path / stage.command.directory).is_dir():
        return PullBaseChecked(index=index, errors=None, because="base_absent")
    ended = await execute(context, row, stage.command, ready, stage.name)
    write_log(context.settings.home, row.id, f"{stage.name}-base.log", ended.run.log)
    step, names = ended.run.step, execution.tests
    if not step.passed:
        ran_none = ended.failed_of is None and execution.runs.tests is not None
        if step.could_not_run is not None or (ran_none and not step.cut_short):
            return PullBaseChecked(index=index, errors=None, because="base_not_run")
        if step.exit_code is None and not step.cut_short:
            return PullBaseChecked(index=index, errors=None)
    absent = await asyncio.to_thread(_absent, ended, names)
    errors = shown(step.passed, ended.run.parsed.errors)
    if stage.name == TEST_STAGE and not (ended.failed_of is not None and is_broken(ended.failed_of)):
        failed = {identity(error) for error in errors}
        units = [name for name in execution.runs.evidence if name and name not in absent]
        await _remember(
            context,
            row,
            stage.name,
            (state.base_sha, "base"),
            failed=[name for name in units if name in failed],
            passed=[name for name in units if name not in failed],
        )
    return PullBaseChecked(index=index, errors=errors, absent=tuple(absent))


async def run_tests(context: Context, row: PullCheckRow, state: PullCheckState, action: RunTests) -> None:
    """Run failing tests again: alone where the runner can select them, else with the whole check."""
    stage, execution = state.stages[action.index], state.ran[action.index]
    assert stage.command is not None
    try:
        ran = await _repeated(context, row, state, action, stage.command)
    except Refused as error:  # the setup of the base failed
        log.warning("tests_not_repeated", run=row.id, place=action.place, because=str(error))
        ran = PullTestsRan(index=action.index, number=action.number, place=action.place, usable=False)
    if ran.usable and stage.name == TEST_STAGE:
        failed = {identity(error) for error in ran.errors}
        units = ran.tests or tuple(name for name in execution.runs.evidence if name)
        sha = row.spec.head_sha if action.place == "head" else state.base_sha
        await _remember(
            context,
            row,
            stage.name,
            (sha, action.place),
            failed=[name for name in units if name in failed],
            passed=[name for name in units if name not in failed and name not in ran.absent],
        )
    await context.stores.pulls.append(row.id, [ran])


async def _repeated(
    context: Context, row: PullCheckRow, state: PullCheckState, action: RunTests, command: ShellCommand
) -> PullTestsRan:
    ready = await ready_tree(context, row, state, action.place)
    names, runs = state.ran[action.index].tests, state.ran[action.index].runs
    if action.tests and all(test in names for test in action.tests):
        alone = await execute_tests(context, row, command, ready, {test: names[test] for test in action.tests})
        # a test of the head that did not run was not selected: another name may have been meant
        if alone is not None and (action.place == "base" or not alone.absent):
            return _tests_alone(context, row, state, action, alone)
        if not runs.evidence.keys() & set(action.tests):  # tests that passed are worth no run of the whole check
            absent = action.tests
            return PullTestsRan(
                index=action.index, number=action.number, place=action.place, tests=absent, absent=absent
            )
        ready = await ready_tree(context, row, state, action.place)
    name = state.stages[action.index].name
    ended = await execute(context, row, command, ready, name)
    _write_log(context, row, name, action, ended.run)
    step = ended.run.step
    return PullTestsRan(
        index=action.index,
        number=action.number,
        place=action.place,
        errors=shown(step.passed, ended.run.parsed.errors),
        absent=tuple(await asyncio.to_thread(_absent, ended, names)),
        printed=_printed(ended.run.parsed.errors),
        usable=step.passed or (step.exit_code is not None and not step.cut_short and step.could_not_run is None),
        duration_ms=step.duration_ms,
    )


def _tests_alone(
    context: Context, row: PullCheckRow, state: PullCheckState, action: RunTests, alone: ExecutedTests
) -> PullTestsRan:
    """The event of a run of some tests alone, with the errors of those that failed."""
    _write_log(context, row, state.stages[action.index].name, action, alone.run)
    found = {identity(error): error for error in alone.run.parsed.errors}
    errors = tuple(found.get(test, test) for test in alone.failed)
    return PullTestsRan(
        index=action.index,
        number=action.number,
        place=action.place,
        tests=action.tests,
        errors=errors,
        absent=alone.absent,
        printed=_printed({error: words for error, words in alone.run.parsed.errors.items() if error in errors}),
        duration_ms=alone.run.step.duration_ms,
    )


def _write_log(context: Context, row: PullCheckRow, name: str, action: RunTests, run: StepRun) -> None:
    write_log(context.settings.home, row.id, f"{name}-{action.place}-{action.number}.log", run.log)


async def _remember(
    context: Context,
    row: PullCheckRow,
    stage: str,
    commit: tuple[str, Place],
    *,
    failed: list[str],
    passed: list[str] | None = None,
) -> None:
    repo = row.spec.repo.full_name
    await context.stores.test_runs.add(repo, stage, commit, failed=failed, passed=passed or ())


async def _changed_tests(
    context: Context, row: PullCheckRow, state: PullCheckState, ended: Executed
) -> tuple[str, ...]:
    """The tests of this execution that the pull request adds or alters, as many as run alone together."""
    names = [name for name, outcome in (ended.suite.outcomes if ended.suite else {}).items() if outcome != "skipped"]
    names += [words.test for words in ended.run.parsed.errors.values() if words.test]
    mirror, head = context.mirror(row.spec.repo), row.spec.head_sha
    paths = [change.path for change in await changed(mirror, state.base_sha, head) if is_test(change.path)]
    if not names or not paths:
        return ()
    files = await file_texts(mirror, state.base_sha, head, paths[:_MAX_TEST_FILES])
    cases = await asyncio.to_thread(changed_cases, files)
    return (await asyncio.to_thread(changed_tests, names, cases))[:MAX_ALONE]


def _absent(ended: Executed, names: Mapping[str, str]) -> frozenset[str]:
    """The failures whose test did not run, where the runner names every test that did."""
    if ended.suite is None or not ended.suite.whole:
        return frozenset()
    failed = [failure.name for failure in ended.run.parsed.failures if failure.name]
    outcomes = selected_outcomes(tuple(names.values()), ended.suite, failed)
    return frozenset(name for name, test in names.items() if outcomes.get(test) not in ("passed", "failed"))


def _printed(errors: Mapping[str, Printed]) -> dict[str, tuple[str, str]]:
    """The tool's own text of the errors: as many as a report lists, and as much of each as it shows."""
    return {
        error: (text[:_MAX_CHARS], test[:_MAX_CHARS]) for error, (text, test) in islice(errors.items(), _MAX_PRINTED)
    }
