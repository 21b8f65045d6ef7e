"""The loop that keeps GitHub up to date with rows that change: runs, and checks of pull requests.

Reports are reconciled, not sent: the newest state is compared with what was last published. A burst of changes becomes
one edit, the work never waits for GitHub, and after a crash publishing continues where it stopped."""

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
MAX_RETRY_S = 120.0
Publication = Callable[[], Awaitable[None]]

_MARKER = "<!-- mendbot:"
"""The marker by which a comment is found again. A log that prints one must not make its comment look like one of
another purpose (T37)."""

_REFUSED: ContextVar[list[str] | None] = ContextVar("refused", default=None)
"""What GitHub refused of the row that is being published; collected here from any depth below `Publisher`."""

log = get_logger()


class Row(Protocol):
    """A row that is published; `reported` is the version that GitHub has."""

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
    """The store of the rows."""

    async def unreported(self) -> tuple[str, ...]: ...
    async def get(self, run_id: str, /) -> FoundT | None: ...
    async def reported(self, run_id: str, version: int, /) -> None: ...
    async def hold_reports(self, run_id: str, /) -> None: ...


@dataclass(slots=True)
class Publisher(Generic[RowT]):
    """Publishes rows of one kind."""

    name: str
    rows: ReportableStore[RowT]
    publish: Callable[[RowT], Awaitable[None]]
    wake: asyncio.Event
    under_way: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def loop(self) -> None:
        """Keep GitHub up to date; a row that cannot be published never delays another."""
        await persistently(self.name, self._all)

    async def _all(self) -> None:
        while True:
            self.wake.clear()
            for row_id in await self.rows.unreported():
                if row_id not in self.under_way:
                    task = asyncio.create_task(self._publish_until_current(row_id))
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

    async def _publish_until_current(self, row_id: str) -> None:
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
                wait_s = min(wait_s * 2, MAX_RETRY_S)
                continue
            except Exception:
                log.exception("report_bug", run=row_id)
            if refused and row.status not in ("queued", "running"):
                # the row is final, so no later version replaces this one: it is held until `Reports.release`
                await self.rows.hold_reports(row_id)
            else:
                await self.rows.reported(row_id, row.version)


async def publish_all(row_id: str, publications: Sequence[Publication]) -> None:
    """Publish each of these. A refusal in one place (the thread is gone, its conversation locked) does not affect the
    others; Transient is raised after all were tried. It is raised, too, where GitHub refuses the App's key: the reports
    then wait until the operator has corrected it."""
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
    """Give the thread's one comment of that purpose this body; returns its id. An unchanged body costs no request."""
    body = without_markers(body)
    target, digest = comment_target(number, key), report_digest(body)
    published = await context.stores.reports.published(repo, target)
    if published is not None and published.digest == digest and published.github_id is not None:
        return published.github_id
    known = published.github_id if published is not None else None
    comment_id = await context.github.repository(repo).upsert_comment(number, key, body, known)
    await context.stores.reports.record(repo, target, Published(github_id=comment_id, digest=digest))
    return comment_id


def comment_target(number: int, key: str) -> str:
    """The key of the thread's comment of that purpose in `store.runs.reported`."""
    return f"comment:{number}" if key == "issue" else f"comment:{number}:{key}"


def without_markers(body: str) -> str:
    """The text with every marker of a comment in it defused."""
    return body.replace(_MARKER, "<!--\u200b mendbot:")


@dataclass(frozen=True, slots=True)
class CheckRunUpdate:
    """A check run as GitHub shall show it; `conclusion` is set where it is completed."""

    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    output: CheckOutput
    actions: tuple[CheckAction, ...] = ()
    started_at: datetime | None = None
    page_url: str = ""
    """The page of the run that it is about."""


async def publish_check(context: Context, repo: Repo, update: CheckRunUpdate) -> None:
    """Bring the check run to this state, with secrets masked. An unchanged state costs no request."""
    output = _masked(context, update.output)
    target = f"check:{update.sha}:{update.name}:{update.external_id}"
    actions = [action.model_dump_json() for action in update.actions]
    now = report_digest(update.status, update.conclusion or "", output.model_dump_json(), update.page_url, *actions)
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
        details_url=update.page_url or None,
    )
    await context.stores.reports.record(repo, target, Published(github_id=check_id, digest=now))


def _masked(context: Context, output: CheckOutput) -> CheckOutput:
    texts = {name: context.mask(getattr(output, name)) for name in ("title", "summary", "text")}
    notes = tuple(
        one.model_copy(update={"message": context.mask(one.message), "title": context.mask(one.title)})
        for one in output.annotations
    )
    return output.model_copy(update={**texts, "annotations": notes})


def report_digest(*parts: str) -> str:
    """A digest that differs between any two states of a report."""
    return sha256("\0".join(parts).encode()).hexdigest()
