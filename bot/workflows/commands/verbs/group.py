"""`/mendbot group`: shows an issue's group with the reasons, and changes it. A run whose group changes is stopped, and
its issues are grouped again as people chose."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import Stale
from bot.model import Issue, Model
from bot.reports.commands.answers import group_answer
from bot.reports.commands.replies import done_reply
from bot.rules.reasons import make_reason
from bot.store.runs.runs import RunRow
from bot.workflows.commands.eligibility import issue_refusal
from bot.workflows.commands.idempotency import begin_once
from bot.workflows.commands.thread_state import get_run_view
from bot.workflows.commands.types import CommandCall, CommandResult, queued_issue, refused
from bot.workflows.context import Context, Loop
from bot.workflows.runs.request import cancel_run, make_candidate

MAX_TOGETHER = 50
_SETTLING_MS = 1_000
"""The quiet period of issues that change their group, so that all are queued before the first is grouped."""


class _Group(Model):
    """A run and the issues of its group, or those that wait together; the run is empty while they wait."""

    run: str
    known: tuple[int, ...]


class _Joining(Model):
    """The issues of the group that others join, and the runs that are to be stopped for that."""

    own: tuple[int, ...]
    runs: tuple[str, ...]


async def group(context: Context, call: CommandCall) -> CommandResult:
    """Show, split, add or remove."""
    row = await context.stores.runs.open_run(call.repo, call.number)
    match call.command.args[0]:
        case "show":
            return await _show(context, call, row)
        case "split":
            return await _separate(context, call, row, (call.number,))
        case "remove":
            return await _separate(context, call, row, call.command.issues or (call.number,))
        case _:
            return await _join(context, call, row)


async def _show(context: Context, call: CommandCall, row: RunRow | None) -> CommandResult:
    if row is None:
        rows = await context.stores.runs.of_thread(call.repo, call.number, limit=1)
        row = rows[-1] if rows else None
    waiting = await _waiting(context, call)
    view = await get_run_view(context, row) if row is not None else None
    numbers = [issue.number for issue in (*waiting, *(row.spec.issues if row else ()))]
    pins = await context.stores.threads.pins(call.repo, numbers)
    together: dict[str, list[int]] = {}
    for number, name in pins.items():
        together.setdefault(name, []).append(number)
    apart = [number for number, name in pins.items() if len(together.get(name, ())) == 1]
    together = {name: members for name, members in together.items() if len(members) > 1}
    label, joined = call.policy.trigger_label, together.values()
    body = group_answer(view, waiting, call.language, apart=apart, together=joined, label=label)
    return CommandResult(True, body, "group")


async def _waiting(context: Context, call: CommandCall) -> tuple[Issue, ...]:
    """The issues of the repository that wait to be grouped, if this one is among them."""
    bursts = await context.stores.candidates.bursts()
    numbers = next((burst.issues for burst in bursts if burst.repo.full_name == call.repo.full_name), ())
    if call.number not in numbers:
        return ()
    client = context.github.repository(call.repo)
    found = [await client.issue(number) for number in numbers[:MAX_TOGETHER]]
    return tuple(issue.model_copy(update={"title": context.mask(issue.title)}) for issue in found)


async def _separate(context: Context, call: CommandCall, row: RunRow | None, numbers: Sequence[int]) -> CommandResult:
    """Give each of these issues a run of its own."""
    known = row.spec.issues if row is not None else await _waiting(context, call)
    now = _Group(run=row.id if row else "", known=tuple(issue.number for issue in known))
    first = await begin_once(context, call, now)
    row = await context.stores.runs.get(first.run)
    unknown = [number for number in numbers if number not in first.known]
    if unknown:
        listed = ", ".join(f"#{number}" for number in unknown)
        return refused(call, "in_no_group", issues=listed)
    for number in numbers:
        await context.stores.threads.pin(call.repo, [number], f"alone-{number}")
    if row is not None and len(row.spec.issues) > 1:
        await _regroup(context, call, row)
    context.wake[Loop.GROUPING].set()
    verb = call.command.args[0]
    others = [number for number in first.known if number != call.number] if verb == "split" else numbers
    return CommandResult(True, done_reply(f"group {verb}", _facts(others), call.language))


async def _join(context: Context, call: CommandCall, row: RunRow | None) -> CommandResult:
    """Let these issues join this one's group; their own runs are stopped."""
    own, stopped = await _to_join(context, call, row)
    more = [number for number in call.command.issues if number not in own]
    members = [*own, *more]
    if len(members) > MAX_TOGETHER:
        return refused(call, "group_full", most=MAX_TOGETHER)
    if not more:
        return refused(call, "in_group_already")
    client = context.github.repository(call.repo)
    for number in sorted({*more, call.number}):
        refusal = await _number_refusal(context, call, number)
        if refusal is not None:
            return refusal
    await context.stores.threads.pin(call.repo, members, f"with-{call.number}")
    for number in {*more, call.number}:
        await client.add_labels(number, [call.policy.trigger_label])
    for other in stopped:
        await _regroup(context, call, other)
    held = {issue.number for other in stopped for issue in other.spec.issues}
    for number in (one for one in members if one not in held):
        if await context.stores.runs.open_run(call.repo, number) is not None:
            continue  # after a crash: it was grouped meanwhile
        await make_candidate(context, queued_issue(call, number, quiet_ms=_SETTLING_MS))
    context.wake[Loop.GROUPING].set()
    return CommandResult(True, done_reply("group add", _facts(sorted(members)), call.language))


async def _to_join(context: Context, call: CommandCall, row: RunRow | None) -> tuple[list[int], list[RunRow]]:
    """The group as it is before more issues join it, and the runs that are to be stopped for that."""
    own = [issue.number for issue in row.spec.issues] if row is not None else await _waiting_group(context, call)
    runs = [row.id] if row is not None else []
    for number in call.command.issues:
        found = await context.stores.runs.open_run(call.repo, number)
        runs += [found.id] if found is not None and number not in own else []
    first = await begin_once(context, call, _Joining(own=tuple(own), runs=tuple(runs)))
    rows = [await context.stores.runs.get(run_id) for run_id in dict.fromkeys(first.runs)]
    return list(first.own), [found for found in rows if found is not None]


async def _number_refusal(context: Context, call: CommandCall, number: int) -> CommandResult | None:
    """The refusal of an issue or of a pull request. GitHub lists a pull request as an issue, too, so its own route is
    asked."""
    refusal = await issue_refusal(context, call, number)
    if refusal is not None or number == call.number:
        return refusal
    try:
        await context.github.repository(call.repo).pull(number)
    except Stale:
        return None
    return refused(call, "not_an_issue", number=number)


async def _waiting_group(context: Context, call: CommandCall) -> list[int]:
    """This issue, and the waiting issues that people grouped with it."""
    waiting = [issue.number for issue in await _waiting(context, call)]
    pins = await context.stores.threads.pins(call.repo, [*waiting, call.number])
    own = pins.get(call.number)
    return sorted({call.number, *(number for number in waiting if own is not None and pins.get(number) == own)})


async def _regroup(context: Context, call: CommandCall, row: RunRow) -> None:
    """Stop the run; all its issues wait to be grouped again."""
    numbers = [issue.number for issue in row.spec.issues]
    await cancel_run(context, row, make_reason("stop.regrouped", by=call.by), released=numbers, quiet_ms=_SETTLING_MS)


def _facts(numbers: Sequence[int]) -> dict[str, str]:
    return {"issues": ", ".join(str(number) for number in numbers)} if numbers else {}
