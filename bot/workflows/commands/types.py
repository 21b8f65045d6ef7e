"""A request: the commands of one comment on their way to the job that executes them, and the result of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from bot.config import Policy
from bot.model import Language, Repo
from bot.model.commands import SlashCommand, Where
from bot.reports.commands.replies import refused_reply
from bot.reports.locale.catalog import t
from bot.rules.events.types import CommentKind
from bot.rules.triage.decisions import RunCommands
from bot.store.database.database import now_ms
from bot.store.inbox.candidates import QueuedIssue


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """What one comment asks for. `head` is the head of its pull request that was known when it was delivered, with the
    moment at which GitHub saw it: an approval that names no commit is for that one (T11). `alone` says that no other
    head was ever seen."""

    repo: Repo
    number: int
    is_pull: bool
    kind: CommentKind
    comment_id: int
    by: str
    at: datetime | None
    commands: tuple[SlashCommand, ...]
    busy: bool = False
    head: tuple[str, datetime | None] | None = None
    alone: bool = False

    @property
    def where(self) -> Where:
        return "pull" if self.is_pull else "issue"


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One command as its verb's function gets it; `id` is what it is recorded under."""

    id: str
    order: CommandRequest
    command: SlashCommand
    policy: Policy
    language: Language

    @property
    def repo(self) -> Repo:
        return self.order.repo

    @property
    def number(self) -> int:
        return self.order.number

    @property
    def by(self) -> str:
        return self.order.by


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of a command: whether it was done, and words for the thread's comment of that purpose; without words
    the reaction says all."""

    done: bool
    words: str = ""
    purpose: str = "reply"


def refused(ask: CommandCall, why: str, **values: object) -> CommandResult:
    """Not done, for that reason of `reports.locale.refusals`."""
    return CommandResult(False, refused_reply(ask.command, t(ask.language, f"refused.{why}", **values), ask.language))


def queued_issue(ask: CommandCall, number: int, *, quiet_ms: int) -> QueuedIssue:
    """The issue as it waits for a run because of this command."""
    return QueuedIssue(
        repo=ask.repo,
        issue=number,
        at=now_ms(),
        quiet_ms=quiet_ms,
        since=ask.order.at,
        asked_by=ask.by,
    )


def command_id(request: RunCommands, command: SlashCommand) -> str:
    """The same for the same command of the same version of a comment, however often it is delivered."""
    at = request.at.isoformat() if request.at else ""
    parts = (request.repo.full_name.lower(), request.kind, str(request.comment_id), at, str(command.line), command.text)
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def question_id(order: CommandRequest) -> str:
    """The same for the same version of a comment: what its replies are about. Its time is told in whole seconds, so
    that the commands count, too."""
    at = order.at.isoformat() if order.at else ""
    texts = [command.text for command in order.commands]
    return sha256("\0".join((order.kind, str(order.comment_id), at, *texts)).encode()).hexdigest()[:16]


def to_args(order: CommandRequest, ids: Mapping[int, str]) -> dict[str, Any]:
    """The request as JSON, with the id of each command by its place."""
    head = order.head
    return {
        **{name: getattr(order, name) for name in ("number", "is_pull", "kind", "comment_id", "by", "busy", "alone")},
        "repo": order.repo.model_dump(),
        "at": order.at.isoformat() if order.at else None,
        "head": None if head is None else [head[0], head[1].isoformat() if head[1] else None],
        "commands": [_command_args(command) for command in order.commands],
        "ids": [ids[place] for place in range(len(order.commands))],
    }


def from_args(args: Mapping[str, Any]) -> tuple[CommandRequest, tuple[str, ...]]:
    """The request and its commands' ids."""
    head = args["head"]
    order = CommandRequest(
        repo=Repo.model_validate(args["repo"]),
        number=args["number"],
        is_pull=args["is_pull"],
        kind=args["kind"],
        comment_id=args["comment_id"],
        by=args["by"],
        at=_moment(args["at"]),
        commands=tuple(_command(item) for item in args["commands"]),
        busy=args["busy"],
        head=None if head is None else (head[0], _moment(head[1])),
        alone=args["alone"],
    )
    return order, tuple(args["ids"])


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _command_args(command: SlashCommand) -> dict[str, Any]:
    plain = {name: getattr(command, name) for name in command.__slots__}
    return {**plain, "options": dict(command.options), "values": dict(command.values)}


def _command(item: Mapping[str, Any]) -> SlashCommand:
    fields = dict(item)
    for name in ("args", "issues"):
        fields[name] = tuple(fields[name])
    for name in ("options", "values"):
        fields[name] = MappingProxyType(fields[name])
    return SlashCommand(**fields)
