"""The loop that keeps GitHub up to date with rows that change: runs, and checks of pull requests.

Reports are reconciled, not sent: the newest state is compared with what was last told, so a burst of changes becomes
one edit, the work never waits for GitHub, and after a crash the telling goes on where it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Generic, Protocol, TypeVar

from bot.errors import Stale, Transient, UserError
from bot.github.answers import Unauthorized
from bot.logs import get_logger
from bot.model import CheckOutput, Repo
from bot.model.pulls import CheckAction
from bot.store.runs.reported import Published
from bot.workflows.context import Context
from bot.workflows.job_runner import persistently

IDLE_S = 10.0
FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 120.0
Publication = Callable[[], Awaitable[None]]

_MARKER = "<!-- mendbot:"
"""What a comment is found again by. Where a log prints one, in a fence, it would pass for the comment's own, and the
comment for that of another purpose (T37)."""

_REFUSED: ContextVar[list[str] | None] = ContextVar("refused", default=None)
"""What was refused of the row that is being told, however deep below `Publisher` it was said."""

log = get_logger()


class Row(Protocol):
    """What is told of; `reported` is the version that GitHub knows."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def reported(self) -> int: ...


RowT = TypeVar("RowT", bound=Row)
FoundT = TypeVar("FoundT", bound=Row, covariant=True)


class ReportableStore(Protocol[FoundT]):
    """Where the rows are."""

    async def unreported(self) -> tuple[str, ...]: ...
    async def get(self, run_id: str, /) -> FoundT | None: ...
    async def reported(self, run_id: str, version: int, /) -> None: ...
    async def hold_reports(self, run_id: str, /) -> None: ...


@dataclass(slots=True)
class Publisher(Generic[RowT]):
    """One kind of rows, and how one of them is told."""

    name: str
    rows: ReportableStore[RowT]
    publish: Callable[[RowT], Awaitable[None]]
    wake: asyncio.Event
    under_way: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def loop(self) -> None:
        """Keep GitHub up to date; one row's trouble never holds up another's."""
        await persistently(self.name, self._all)

    async def _all(self) -> None:
        while True:
            self.wake.clear()
            for row_id in await self.rows.unreported():
                if row_id not in self.under_way:
                    task = asyncio.create_task(self._keep_told(row_id))
                    self.under_way[row_id] = task
                    task.add_done_callback(partial(self._ended, row_id))
            try:
                async with asyncio.timeout(IDLE_S):
                    await self.wake.wait()
            except TimeoutError:
                continue

    def _ended(self, row_id: str, task: asyncio.Task[None]) -> None:
        del self.under_way[row_id]
        if task.cancelled() or (error := task.exception()) is None:
            self.wake.set()
        else:  # the database could not be read or written: looked at again when idle
            log.warning("report_failed", run=row_id, because=str(error))

    async def _keep_told(self, row_id: str) -> None:
        wait_s = FIRST_RETRY_S
        while True:
            row = await self.rows.get(row_id)
            if row is None or row.reported >= row.version:
                return
            refused: list[str] = []
            _REFUSED.set(refused)
            try:
                await self.publish(row)
            except Transient as error:
                log.info("report_waits", run=row_id, because=str(error))
                await asyncio.sleep(max(wait_s, error.retry_after_s or 0.0))
                wait_s = min(wait_s * 2, LONGEST_RETRY_S)
                continue
            except Exception:
                log.exception("report_bug", run=row_id)
            if refused and row.status not in ("queued", "running"):
                # its last word, and no news will follow that could be told instead: kept for `Reports.release`
                await self.rows.hold_reports(row_id)
            else:
                await self.rows.reported(row_id, row.version)


async def publish_all(row_id: str, publications: Sequence[Publication]) -> None:
    """Say each of these. What GitHub refuses in one place (the thread is gone, its conversation locked) is not missing
    in the others; Transient comes after all had their turn. A key that GitHub does not take is the operator's to fix,
    and what was to be said waits for it."""
    waits: Transient | None = None
    for publish in publications:
        try:
            await publish()
        except Transient as error:
            waits = error
        except Unauthorized as error:
            waits = Transient(str(error))
        except (Stale, UserError) as error:
            log.warning("report_refused", run=row_id, because=str(error))
            refused = _REFUSED.get()
            if refused is not None:
                refused.append(str(error))
    if waits is not None:
        raise waits


async def publish_comment(context: Context, repo: Repo, number: int, key: str, body: str) -> int:
    """The thread's one comment for that purpose says `body`; unchanged, it costs no request. The comment's id."""
    body = without_markers(body)
    target, told_digest = comment_target(number, key), report_digest(body)
    published = await context.stores.reports.published(repo, target)
    if published is not None and published.digest == told_digest and published.github_id is not None:
        return published.github_id
    known = published.github_id if published is not None else None
    comment_id = await context.github.repository(repo).upsert_comment(number, key, body, known)
    await context.stores.reports.record(repo, target, Published(github_id=comment_id, digest=told_digest))
    return comment_id


def comment_target(number: int, key: str) -> str:
    """What the thread's comment of that purpose is recorded under in `store.runs.reported`."""
    return f"comment:{number}" if key == "issue" else f"comment:{number}:{key}"


def without_markers(body: str) -> str:
    """The text, in which nothing passes for a comment's own marker."""
    return body.replace(_MARKER, "<!--\u200b mendbot:")


@dataclass(frozen=True, slots=True)
class CheckRunUpdate:
    """A check run as GitHub is to show it; `conclusion` is given where it is completed."""

    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    output: CheckOutput
    actions: tuple[CheckAction, ...] = ()
    started_at: datetime | None = None


async def publish_check(context: Context, repo: Repo, update: CheckRunUpdate) -> None:
    """The check run is as told, without a secret; unchanged, it costs no request."""
    output = _masked(context, update.output)
    target = f"check:{update.sha}:{update.name}:{update.external_id}"
    actions = [action.model_dump_json() for action in update.actions]
    now = report_digest(update.status, update.conclusion or "", output.model_dump_json(), *actions)
    before = await context.stores.reports.published(repo, target)
    if before is not None and before.digest == now:
        return
    check_id = await context.github.repository(repo).upsert_check_run(
        name=f"mendbot / {update.name}",
        sha=update.sha,
        external_id=update.external_id,
        conclusion=update.conclusion,
        status=update.status,
        output=output,
        actions=update.actions,
        started_at=update.started_at,
    )
    await context.stores.reports.record(repo, target, Published(github_id=check_id, digest=now))


def _masked(context: Context, output: CheckOutput) -> CheckOutput:
    said = {name: context.mask(getattr(output, name)) for name in ("title", "summary", "text")}
    notes = tuple(
        one.model_copy(update={"message": context.mask(one.message), "title": context.mask(one.title)})
        for one in output.annotations
    )
    return output.model_copy(update={**said, "annotations": notes})


def report_digest(*parts: str) -> str:
    """What tells one state of a report from another."""
    return sha256("\0".join(parts).encode()).hexdigest()
