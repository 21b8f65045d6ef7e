"""What can be done to check suites and check runs, with GitHub's limits (REST docs, "Check runs"; threats.md 4).

The size limits count bytes, whatever the documentation says about characters (github/docs issue 35252)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from demo.standin.answers import ApiError, invalid, malformed, permit, require
from demo.standin.gitrepo import CommitInfo
from demo.standin.json.check import suite_state
from demo.standin.records import App, CheckRun, CheckSuite, Json, Repository, User
from demo.standin.webhooks import Hooks

MAX_OUTPUT_BYTES = 65_535
MAX_ANNOTATIONS = 50
MAX_MESSAGE_BYTES = 65_536
MAX_ACTIONS = 3

_STATUSES = ("queued", "in_progress", "completed")
_CONCLUSIONS = (
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "success",
    "skipped",
    "timed_out",
)
_LEVELS = ("notice", "warning", "failure")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")


def ensure_suite(
    hooks: Hooks, repo: Repository, commit: CommitInfo, branch: str | None, before: str | None, app: App | None = None
) -> tuple[CheckSuite, bool]:
    """An App's one suite for a commit, this App's unless told otherwise. -> it and whether it is new."""
    app = app or hooks.state.app
    for suite in repo.suites:
        if suite.head_sha == commit.sha and suite.app is app:
            return suite, False
    now = hooks.state.now()
    suite = CheckSuite(hooks.state.new_id(), app, repo, commit.sha, branch, before, commit, now, now)
    repo.suites.append(suite)
    return suite, True


async def create_run(hooks: Hooks, repo: Repository, body: Any, app: App | None = None) -> CheckRun:
    """A check run of this App's, or of another."""
    asked = require(body, name=str, head_sha=str)
    if not re.fullmatch(r"[0-9a-f]{40}", asked["head_sha"]) or not await repo.git.resolve(asked["head_sha"]):
        raise ApiError(422, f"No commit found for SHA: {asked['head_sha']}")
    if not asked["name"].strip():
        raise malformed('"name" is blank.')
    _check(asked, creating=True)
    branches = await repo.git.branches()
    at = next((name for name, sha in branches.items() if sha == asked["head_sha"]), None)
    commit = await repo.git.commit_info(asked["head_sha"])
    suite, _ = ensure_suite(hooks, repo, commit, at, None, app)
    run = CheckRun(hooks.state.new_id(), suite, asked["name"], hooks.state.now())
    suite.runs.append(run)
    hooks.state.runs[run.id] = run
    _apply(hooks, run, asked)
    _tell(hooks, run, "created", suite.app.bot)
    _settle(hooks, run, was="queued")
    return run


def update_run(hooks: Hooks, run: CheckRun, body: Any) -> None:
    asked = require(body)
    _check(asked, creating=False)
    was = run.status
    _apply(hooks, run, asked)
    hooks.state.pulse.beat()
    _settle(hooks, run, was)


def ask_again(hooks: Hooks, run: CheckRun, actor: User, identifier: str | None = None) -> None:
    """A person presses Re-run, which sets back the suite and leaves the run, or one of the run's own buttons. Only
    the App that made the run hears of either (REST docs, "Using the REST API to interact with checks")."""
    if identifier is not None and identifier not in [action["identifier"] for action in run.actions]:
        raise ValueError(f"the check run {run.name!r} has no button {identifier!r}")
    run.suite.asked_again |= identifier is None
    if run.suite.app is not hooks.state.app:
        return
    if identifier is None:
        _tell(hooks, run, "rerequested", actor)
        return
    _tell(hooks, run, "requested_action", actor, requested_action={"identifier": identifier})


def ask_suite_again(hooks: Hooks, suite: CheckSuite, actor: User) -> None:
    suite.asked_again = True
    if suite.app is hooks.state.app:
        parts = {"check_suite": hooks.state.checks.suite(suite)}
        hooks.emit("check_suite", "rerequested", suite.repo, actor, parts)


def _tell(hooks: Hooks, run: CheckRun, action: str, sender: User, **more: Any) -> None:
    parts = {"check_run": hooks.state.checks.run_event(run), **more}
    hooks.emit("check_run", action, run.suite.repo, sender, parts)


def _settle(hooks: Hooks, run: CheckRun, was: str) -> None:
    run.suite.updated_at, run.suite.asked_again = hooks.state.now(), False
    if run.status != "completed" or was == "completed":
        return
    bot = run.suite.app.bot
    _tell(hooks, run, "completed", bot)
    if suite_state(run.suite)[0] == "completed":
        parts = {"check_suite": hooks.state.checks.suite(run.suite)}
        hooks.emit("check_suite", "completed", run.suite.repo, bot, parts)


def _check(asked: Json, *, creating: bool) -> None:
    permit(asked, name=str, status=str, conclusion=str, external_id=str, details_url=str, output=dict, actions=list)
    for name, allowed in (("status", _STATUSES), ("conclusion", _CONCLUSIONS)):
        if asked.get(name) is not None and asked[name] not in allowed:
            raise malformed(f"For 'properties/{name}', {asked[name]!r} is not a possible value. Must be one of: "
                            f"{', '.join(allowed)}.")  # fmt: skip
    if asked.get("status") == "completed" and asked.get("conclusion") is None:
        raise malformed('Missing conclusion: a check run with status "completed" needs a "conclusion".')
    for name in ("started_at", "completed_at"):
        if asked.get(name) is not None and not _STAMP.fullmatch(str(asked[name])):
            raise malformed(f"For 'properties/{name}', {asked[name]!r} is not a date-time.")
    if asked.get("output") is not None:
        _check_output(asked["output"], creating=creating)
    _check_actions(asked.get("actions") or [])


def _check_output(output: Json, *, creating: bool) -> None:
    needed = {"title": str, "summary": str} if creating else {"summary": str}
    require(output, **needed)
    permit(output, title=str, text=str, annotations=list)
    for name in ("summary", "text"):
        size = len((output.get(name) or "").encode())
        if size > MAX_OUTPUT_BYTES:
            message = f"{name} exceeds a maximum bytesize of {MAX_OUTPUT_BYTES}"
            raise invalid("CheckRun", name, "custom", message)
    annotations = output.get("annotations") or []
    if len(annotations) > MAX_ANNOTATIONS:
        raise malformed(f"No more than {MAX_ANNOTATIONS} items are allowed; {len(annotations)} were supplied.")
    for annotation in annotations:
        _check_annotation(annotation)


def _check_annotation(given: Any) -> None:
    require(given, path=str, start_line=int, end_line=int, annotation_level=str, message=str)
    permit(given, title=str, raw_details=str, start_column=int, end_column=int)
    path, start, end = given["path"], given["start_line"], given["end_line"]
    if given["annotation_level"] not in _LEVELS:
        raise malformed(f"annotation_level must be one of: {', '.join(_LEVELS)}.")
    if not path or path.startswith(("/", "./", "../")):
        raise invalid("CheckAnnotation", "path", "invalid", f"path {path!r} is not relative to the repository")
    if not 1 <= start <= end:
        raise invalid("CheckAnnotation", "end_line", "invalid", "end_line must not be before start_line, nor 0")
    if start != end and ("start_column" in given or "end_column" in given):
        raise invalid("CheckAnnotation", "start_column", "invalid", "columns need start_line and end_line to be equal")
    if not given["message"] or len(given["message"].encode()) > MAX_MESSAGE_BYTES:
        raise invalid("CheckAnnotation", "message", "custom", "message must have 1 byte to 64 KB")
    if len(given.get("title") or "") > 255 or len((given.get("raw_details") or "").encode()) > MAX_MESSAGE_BYTES:
        raise invalid("CheckAnnotation", "title", "custom", "title or raw_details is too long")


def _check_actions(actions: list[Any]) -> None:
    if len(actions) > MAX_ACTIONS:
        raise malformed(f"No more than {MAX_ACTIONS} items are allowed; {len(actions)} were supplied.")
    for action in actions:
        require(action, label=str, description=str, identifier=str)
        for name, most in (("label", 20), ("description", 40), ("identifier", 20)):
            if len(action[name]) > most:
                raise malformed(f"For 'properties/{name}', only {most} characters are allowed.")


def _apply(hooks: Hooks, run: CheckRun, asked: Json) -> None:
    for name in ("name", "external_id", "details_url"):
        if asked.get(name) is not None:
            setattr(run, name, asked[name])
    run.conclusion = asked.get("conclusion") or run.conclusion
    # a conclusion completes the run whatever the status says; a new status takes the old conclusion back
    if asked.get("conclusion"):
        run.status = "completed"
    elif asked.get("status"):
        run.status, run.conclusion, run.completed_at = asked["status"], None, None
    if asked.get("started_at"):
        run.started_at = _moment(asked["started_at"])
    if run.status == "completed":
        given = asked.get("completed_at")
        run.completed_at = _moment(given) if given else run.completed_at or hooks.state.now()
    output = asked.get("output")
    if output:
        run.title = output.get("title", run.title)
        run.summary, run.text = output["summary"], output.get("text", run.text)
        run.annotations.extend(output.get("annotations") or [])
    if "actions" in asked:
        run.actions = list(asked["actions"] or [])


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
