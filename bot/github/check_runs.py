"""Check runs: one per commit, name and run of ours, brought to the state wanted however often it is asked for.
Annotations can only be added on GitHub's side, fifty at a time, so a repeat goes on where the last one stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from bot.errors import Stale
from bot.github.answers import Form, Invalid, read
from bot.github.api import Api
from bot.http import Unclear
from bot.model import Annotation, CheckOutput, Repo

MAX_TEXT_BYTES = 65_535
"""Of `summary` and of `text`; documented as characters, enforced in bytes (github/docs#35252)."""
MAX_ANNOTATIONS = 200
PER_REQUEST = 50
STATUSES = frozenset({"queued", "in_progress", "completed"})
CONCLUSIONS = frozenset({"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"})

_MAX_MESSAGE_BYTES = 64_000
_MAX_TITLE = 255
_RUNS = "/repos/{owner}/{repo}/check-runs"
_RUN = "/repos/{owner}/{repo}/check-runs/{id}"
_OF_COMMIT = "/repos/{owner}/{repo}/commits/{sha}/check-runs{?check_name,filter,per_page}"
_LOOK_AGAIN_S = 1.0


class _App(Form):
    id: int


class _Output(Form):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class _CheckRun(Form):
    id: int
    name: str = ""
    external_id: str | None = None
    status: str = ""
    conclusion: str | None = None
    app: _App | None = None
    output: _Output = _Output()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The state a check run is to have. `conclusion` is given exactly where `status` is `completed`."""

    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    output: CheckOutput

    def __post_init__(self) -> None:
        if self.status not in STATUSES or (self.conclusion is not None and self.conclusion not in CONCLUSIONS):
            raise ValueError(f"a check run cannot be {self.status} / {self.conclusion}")
        if (self.status == "completed") != (self.conclusion is not None):
            raise ValueError("a completed check run needs a conclusion, any other must not have one")
        for part in ("summary", "text"):
            size = len(getattr(self.output, part).encode("utf-8", "replace"))
            if size > MAX_TEXT_BYTES:
                raise ValueError(f"the {part} has {size} bytes, {MAX_TEXT_BYTES} are allowed: cut it before")


@dataclass(frozen=True, slots=True)
class CheckRuns:
    """The check runs of one repository that our App made."""

    api: Api
    repo: Repo
    app_id: int

    async def upsert(self, wanted: Wanted) -> int:
        """Brings the run (sha, name, external_id) of our App to the state wanted, made where there is none; its id.

        At most 200 annotations go; more, and those outside the tree, are left out: the summary has to count them.
        Whoever calls sees to it that one run is worked on once at a time. Raises Stale where the commit is gone."""
        annotations = [wire_annotation(a) for a in wanted.output.annotations if _inside(a.path)][:MAX_ANNOTATIONS]
        found = await self._find(wanted)
        if found is None:
            found = await self._create(wanted, annotations[:PER_REQUEST])
            there = max(found.output.annotations_count, min(len(annotations), PER_REQUEST))
            settled = True
        else:
            there = found.output.annotations_count
            settled = _settled(found, wanted)
        while not settled or there < len(annotations):
            batch = annotations[there : there + PER_REQUEST]
            await self._update(found.id, wanted, batch)
            there, settled = there + len(batch), True
        return found.id

    async def _find(self, wanted: Wanted) -> _CheckRun | None:
        names = self._names(sha=wanted.sha, check_name=wanted.name, filter="all", per_page=100)
        newest: _CheckRun | None = None
        async for item in self.api.pages(_OF_COMMIT, names, key="check_runs"):
            run = read(_CheckRun, item)
            ours = run.name == wanted.name and run.external_id == wanted.external_id
            if ours and run.app is not None and run.app.id == self.app_id and (newest is None or run.id > newest.id):
                newest = run
        return newest

    async def _create(self, wanted: Wanted, batch: Sequence[dict[str, Any]]) -> _CheckRun:
        body = {"name": wanted.name, "head_sha": wanted.sha, "external_id": wanted.external_id, **_state(wanted, batch)}
        try:
            return read(_CheckRun, await self.api.call("POST", _RUNS, self._names(), body))
        except Unclear:
            await self.api.sleep(_LOOK_AGAIN_S)
            found = await self._find(wanted)
            if found is None:
                raise
            return found
        except Invalid as error:
            if "no commit found" in str(error).lower():
                raise Stale(f"the commit {wanted.sha[:12]} is gone") from error
            raise

    async def _update(self, run_id: int, wanted: Wanted, batch: Sequence[dict[str, Any]]) -> None:
        # with annotations a repeat would add them twice; the next upsert sees by their count how many arrived
        await self.api.call("PATCH", _RUN, self._names(id=run_id), _state(wanted, batch), repeatable=not batch)

    def _names(self, **more: str | int) -> dict[str, str | int]:
        return {"owner": self.repo.owner, "repo": self.repo.name, **more}


def _settled(found: _CheckRun, wanted: Wanted) -> bool:
    """Whether nothing but annotations may be missing."""
    state = (found.status, found.conclusion if found.status == "completed" else None)
    said = (found.output.title or "", found.output.summary or "", found.output.text or "")
    output = wanted.output
    return state == (wanted.status, wanted.conclusion) and said == (output.title, output.summary, output.text)


def _state(wanted: Wanted, batch: Sequence[dict[str, Any]]) -> dict[str, Any]:
    output: dict[str, Any] = {"title": wanted.output.title, "summary": wanted.output.summary}
    if wanted.output.text:
        output["text"] = wanted.output.text
    if batch:
        output["annotations"] = list(batch)
    state: dict[str, Any] = {"status": wanted.status, "output": output}
    if wanted.conclusion is not None:
        state["conclusion"] = wanted.conclusion
    return state


def _inside(path: str) -> bool:
    """Whether a path can name a file of the tree (threat T40)."""
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
