"""Check runs: one per commit, name and run of ours, brought to a state by calls that may be repeated.

GitHub can only add annotations, fifty at a time, so a repeat continues where the last call stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, NotRequired, TypedDict

from bot.errors import Stale
from bot.github.answers import Invalid, parse_model
from bot.github.api import Api, names_of
from bot.http import Unclear
from bot.model import Annotation, CheckOutput, Repo
from bot.model.github_json import AppJson, GitHubModel
from bot.model.pulls import CheckAction
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

MAX_TEXT_BYTES = 65_535
"""Of `summary` and of `text`; documented as characters, enforced in bytes (github/docs#35252)."""
MAX_ANNOTATIONS = 200
PER_REQUEST = 50
MAX_ACTIONS = 3
ACTION_CHARACTERS = {"label": 20, "description": 40, "identifier": 20}
STATUSES = frozenset({"queued", "in_progress", "completed"})
CONCLUSIONS = frozenset({"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"})

_MAX_MESSAGE_BYTES = 64_000
_MAX_TITLE = 255
_RUNS = "/repos/{owner}/{repo}/check-runs"
_RUN = "/repos/{owner}/{repo}/check-runs/{id}"
_OF_COMMIT = "/repos/{owner}/{repo}/commits/{sha}/check-runs{?check_name,filter,per_page}"
_RETRY_READ_S = 1.0


class _Output(GitHubModel):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class _CheckRun(GitHubModel):
    id: int
    name: str = ""
    external_id: str | None = None
    status: str = ""
    conclusion: str | None = None
    app: AppJson | None = None
    output: _Output = _Output()


class CheckRunState(TypedDict):
    """The arguments of `upsert_check_run`; `Wanted` describes them."""

    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    output: CheckOutput
    actions: NotRequired[Sequence[CheckAction] | None]
    started_at: NotRequired[datetime | None]
    completed_at: NotRequired[datetime | None]
    details_url: NotRequired[str | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The state a check run is to have. `conclusion` is given exactly where `status` is `completed`.

    `actions` are its buttons: empty if it has none now, None if it never has any. The two times are aware; from them
    GitHub shows the duration, without them from its own clock."""

    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    output: CheckOutput
    actions: Sequence[CheckAction] | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    """Where GitHub leads those who want to know more."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES or (self.conclusion is not None and self.conclusion not in CONCLUSIONS):
            raise ValueError(f"a check run cannot be {self.status} / {self.conclusion}")
        if (self.status == "completed") != (self.conclusion is not None):
            raise ValueError("a completed check run needs a conclusion, any other must not have one")
        for part in ("summary", "text"):
            size = len(getattr(self.output, part).encode("utf-8", "replace"))
            if size > MAX_TEXT_BYTES:
                raise ValueError(f"the {part} has {size} bytes, {MAX_TEXT_BYTES} are allowed: cut it before")
        if self.completed_at is not None and self.status != "completed":
            raise ValueError("only a completed check run has an end")
        if any(time is not None and time.tzinfo is None for time in (self.started_at, self.completed_at)):
            raise ValueError("the times of a check run need a zone")
        _check_actions(self.actions or ())


@dataclass(frozen=True, slots=True)
class CheckRuns:
    """The check runs of one repository that our App made."""

    api: Api
    repo: Repo
    app_id: int

    async def upsert(self, wanted: Wanted) -> int:
        """Brings the run (sha, name, external_id) of our App to the wanted state, or creates it; returns its id.

        At most 200 annotations are sent. More, and those outside the tree, are left out: the summary has to count them.
        A completed run is opened again, or replaced if it has annotations, as those cannot be removed. The caller makes
        sure that one run has one call at a time. Raises Stale if the commit is gone."""
        annotations = [wire_annotation(a) for a in wanted.output.annotations if _inside(a.path)][:MAX_ANNOTATIONS]
        found = await self._find(wanted)
        if found is not None and not _needs_replacement(found, wanted):
            sent = found.output.annotations_count
            if await self._update_to(found, wanted, annotations[sent:], settled=_settled(found, wanted)):
                return found.id
        created = await self._create(wanted, annotations[:PER_REQUEST], after=found.id if found is not None else 0)
        sent = max(created.output.annotations_count, min(len(annotations), PER_REQUEST))
        await self._update_to(created, wanted, annotations[sent:], settled=True)
        return created.id

    async def _update_to(
        self, run: _CheckRun, wanted: Wanted, annotations: Sequence[dict[str, Any]], *, settled: bool
    ) -> bool:
        """Updates the run until it is complete; False if GitHub leaves it completed."""
        while not settled or annotations:
            batch, annotations, settled = annotations[:PER_REQUEST], annotations[PER_REQUEST:], True
            if _wrongly_completed(await self._update(run, wanted, batch), wanted):
                return False
        return True

    async def _find(self, wanted: Wanted, after: int = 0) -> _CheckRun | None:
        """The newest one, if it has a higher id than `after`."""
        names = names_of(self.repo, sha=wanted.sha, check_name=wanted.name, filter="all", per_page=100)
        newest: _CheckRun | None = None
        async for item in self.api.pages(_OF_COMMIT, names, key="check_runs"):
            run = parse_model(_CheckRun, item)
            ours = run.name == wanted.name and run.external_id == wanted.external_id
            newest_id = newest.id if newest is not None else after
            if ours and run.app is not None and run.app.id == self.app_id and run.id > newest_id:
                newest = run
        return newest

    async def _create(self, wanted: Wanted, batch: Sequence[dict[str, Any]], after: int) -> _CheckRun:
        body = {"name": wanted.name, "head_sha": wanted.sha, "external_id": wanted.external_id, **_state(wanted, batch)}
        try:
            return parse_model(_CheckRun, await self.api.call("POST", _RUNS, names_of(self.repo), body))
        except Unclear:
            await self.api.sleep(_RETRY_READ_S)
            found = await self._find(wanted, after)
            if found is None:
                raise
            return found
        except Invalid as error:
            if "no commit found" in str(error).lower():
                raise user_error(make_reason("github.commit_gone", sha=wanted.sha[:12]), Stale) from error
            raise

    async def _update(self, run: _CheckRun, wanted: Wanted, batch: Sequence[dict[str, Any]]) -> _CheckRun:
        state = _state(wanted, batch)
        if run.output.text and not wanted.output.text:
            state["output"]["text"] = ""  # what is left out stays
        # with annotations a repeat would add them twice; the next upsert sees by their count how many arrived
        names = names_of(self.repo, id=run.id)
        return parse_model(_CheckRun, await self.api.call("PATCH", _RUN, names, state, repeatable=not batch))


def _check_actions(actions: Sequence[CheckAction]) -> None:
    if len(actions) > MAX_ACTIONS:
        raise ValueError(f"a check run has {MAX_ACTIONS} buttons at most, not {len(actions)}")
    for action in actions:
        for part, limit in ACTION_CHARACTERS.items():
            if not 1 <= len(getattr(action, part)) <= limit:
                raise ValueError(f"the {part} of a check run's button has 1 to {limit} characters: {action}")


def _wrongly_completed(run: _CheckRun, wanted: Wanted) -> bool:
    """Whether the run is completed and should not be."""
    return run.status == "completed" != wanted.status


def _needs_replacement(found: _CheckRun, wanted: Wanted) -> bool:
    """Whether it cannot be opened again, as its old annotations would be taken for the new ones."""
    return _wrongly_completed(found, wanted) and found.output.annotations_count > 0


def _settled(found: _CheckRun, wanted: Wanted) -> bool:
    """Whether only annotations can be missing. GitHub does not return buttons, so a run with buttons is sent again."""
    state = (found.status, found.conclusion if found.status == "completed" else None)
    texts = (found.output.title or "", found.output.summary or "", found.output.text or "")
    output = wanted.output
    same = state == (wanted.status, wanted.conclusion) and texts == (output.title, output.summary, output.text)
    return same and wanted.actions is None


def _state(wanted: Wanted, batch: Sequence[dict[str, Any]]) -> dict[str, Any]:
    output: dict[str, Any] = {"title": wanted.output.title, "summary": wanted.output.summary}
    if wanted.output.text:
        output["text"] = wanted.output.text
    if batch:
        output["annotations"] = list(batch)
    # an update without buttons is to take away those of before
    actions = [action.model_dump() for action in wanted.actions or ()]
    state: dict[str, Any] = {"status": wanted.status, "output": output, "actions": actions}
    if wanted.conclusion is not None:
        state["conclusion"] = wanted.conclusion
    if wanted.details_url:
        state["details_url"] = wanted.details_url
    for name, time in (("started_at", wanted.started_at), ("completed_at", wanted.completed_at)):
        if time is not None:
            state[name] = time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return state


def _inside(path: str) -> bool:
    """Whether a path can name a file of the tree (T40)."""
    parts = PurePosixPath(path)
    return bool(parts.parts) and not parts.is_absolute() and ".." not in parts.parts


def wire_annotation(annotation: Annotation) -> dict[str, Any]:
    """An annotation as the checks API takes it: lines from 1 and in order, texts within their limits."""
    start = max(1, annotation.start_line)
    wire: dict[str, Any] = {
        "path": str(PurePosixPath(annotation.path)),
        "start_line": start,
        "end_line": max(start, annotation.end_line),
        "annotation_level": annotation.level,
        "message": annotation.message.encode("utf-8", "replace")[:_MAX_MESSAGE_BYTES].decode("utf-8", "ignore")
        or annotation.level,
    }
    title = (annotation.title or annotation.rule)[:_MAX_TITLE]
    return wire | {"title": title} if title else wire
