"""Decides whose commands are run: those of people with write access and, for a few verbs, of the author of a pull
request from the repository itself. All others get no reply (REQ-CMD-002)."""

from __future__ import annotations

from bot.config import Policy
from bot.model.commands import SlashCommand
from bot.model.reasons import Reason
from bot.rules.commands.parser import parse_commands
from bot.rules.commands.verbs import VERBS, aliases_of
from bot.rules.events.types import CommentCreated, CommentEdited
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import WRITE_ACCESS, Decision, Facts, Ignore, Needs, RunCommands, no_write_access

CommentEvent = CommentCreated | CommentEdited


def comment_needs(event: CommentEvent, policy: Policy, app_login: str) -> Needs:
    """The facts needed about the person who wrote or edited the comment; none where it has no command."""
    if _unheard(event, app_login) is not None:
        return Needs()
    commands = commands_of(event, policy)
    if not commands:
        return Needs()
    pull = event.number if _may_be_the_authors(event, commands) else None
    return Needs(permission=True, pull=pull)


def on_comment(event: CommentEvent, policy: Policy, facts: Facts) -> Decision:
    """The decision about a comment. An edit counts as its editor's, and only commands that it adds count
    (REQ-CMD-001)."""
    unheard = _unheard(event, facts.app_login)
    if unheard is not None:
        return Ignore(unheard)
    commands = commands_of(event, policy)
    if not commands:
        return Ignore(make_reason("event.no_command"))
    trusted = facts.sender_permission in WRITE_ACCESS
    if not trusted:
        own = facts.pull is not None and _may_be_the_authors(event, commands) and _of_the_repository(event, facts)
        if not own:
            return Ignore(no_write_access(event.sender, facts, event.repo))
    listed = ", ".join(f"/mendbot {command.verb}" for command in commands)
    return RunCommands(
        repo=event.repo,
        number=event.number,
        is_pull=event.is_pull_request,
        kind=event.kind,
        comment_id=event.comment_id,
        by=event.sender,
        commands=commands,
        at=event.at,
        because=make_reason("event.commands", by=event.sender, commands=listed[:200]),
        trusted=trusted,
    )


def commands_of(event: CommentEvent, policy: Policy) -> tuple[SlashCommand, ...]:
    """The commands of the comment that its previous text did not have."""
    aliases = aliases_of(policy.aliases)
    if isinstance(event, CommentCreated):
        return parse_commands(event.body, aliases=aliases)
    if event.previous is None:
        return ()
    return parse_commands(event.body, event.previous, aliases=aliases)


def _unheard(event: CommentEvent, app_login: str) -> Reason | None:
    if event.sender_is_bot or event.sender.endswith("[bot]") or event.sender.casefold() == app_login.casefold():
        return make_reason("event.by_bot")
    if event.repo.installation_id == 0:
        return make_reason("event.no_installation")
    return None


def _may_be_the_authors(event: CommentEvent, commands: tuple[SlashCommand, ...]) -> bool:
    """Whether the author of the pull request wrote all commands and may use each of them."""
    by_author = event.is_pull_request and event.sender.casefold() == event.opened_by.casefold()
    return by_author and all(command.verb in VERBS and VERBS[command.verb].author_may for command in commands)


def _of_the_repository(event: CommentEvent, facts: Facts) -> bool:
    pull = facts.pull
    if pull is None or pull.head_repo is None or pull.author.casefold() != event.sender.casefold():
        return False
    return pull.head_repo.casefold() == event.repo.full_name.casefold()
