"""The commands of one comment as a job's arguments, one command as its function gets it, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from bot.config import Policy
from bot.model import Language, Model, Repo
from bot.model.commands import SlashCommand, Where
from bot.reports.commands.replies import refused_reply
from bot.reports.locale.catalog import t
from bot.rules.events.types import CommentKind
from bot.rules.triage.decisions import RunCommands
from bot.store.database.database import now_ms
from bot.store.inbox.candidates import QueuedIssue


class CommandRequest(Model):
    """The commands of one comment: the arguments of the job that executes them."""

    repo: Repo
    number: int
    is_pull: bool
    kind: CommentKind
    comment_id: int
    by: str
    at: datetime | None
    commands: tuple[SlashCommand, ...]
    ids: tuple[str, ...]
    """What each command is recorded under."""
    busy: bool
    """A command of the comment was over the hourly limit."""
    head: tuple[str, datetime | None] | None
    """The head of the pull request that was known when the comment was delivered, and when GitHub saw it. An approval
    that names no commit is for that one (T11)."""
    alone: bool
    """No other head of the pull request was ever seen."""

    @property
    def where(self) -> Where:
        return "pull" if self.is_pull else "issue"


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One command as its function gets it; `id` is what it is recorded under."""

    id: str
    request: CommandRequest
    command: SlashCommand
    policy: Policy
    language: Language

    @property
    def repo(self) -> Repo:
        return self.request.repo

    @property
    def number(self) -> int:
        return self.request.number

    @property
    def by(self) -> str:
        return self.request.by


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command: whether it was done, and the text for the thread's comment of that purpose. Without a
    text the reaction is the only answer."""

    done: bool
    text: str = ""
    purpose: str = "reply"


def refused(call: CommandCall, kind: str, **values: object) -> CommandResult:
    """Not done, for the reason `refused.KIND` of the catalog."""
    reason = t(call.language, f"refused.{kind}", **values)
    return CommandResult(False, refused_reply(call.command, reason, call.language))


def queued_issue(call: CommandCall, number: int, *, quiet_ms: int) -> QueuedIssue:
    """The issue as it waits for a run because of this command."""
    return QueuedIssue(
        repo=call.repo,
        issue=number,
        at=now_ms(),
        quiet_ms=quiet_ms,
        since=call.request.at,
        asked_by=call.by,
    )


def command_id(request: RunCommands, command: SlashCommand) -> str:
    """The same for the same command of the same version of a comment, however often it is delivered."""
    at = request.at.isoformat() if request.at else ""
    parts = (request.repo.full_name.lower(), request.kind, str(request.comment_id), at, str(command.line), command.text)
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def request_id(request: CommandRequest) -> str:
    """The same for the same version of a comment: what its replies are about. GitHub's times are whole seconds, so the
    commands count, too."""
    at = request.at.isoformat() if request.at else ""
    texts = [command.text for command in request.commands]
    return sha256("\0".join((request.kind, str(request.comment_id), at, *texts)).encode()).hexdigest()[:16]
