"""The commands of comments (REQ-CMD-002): the table of verbs, the threads on which each works, and the short forms
that a repository may allow. The help is made from this table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from bot.model.commands import SlashCommand, Verb, Where

PREFIX = "/mendbot"

_BOTH: frozenset[Where] = frozenset({"issue", "pull"})
_ISSUE: frozenset[Where] = frozenset({"issue"})
_PULL: frozenset[Where] = frozenset({"pull"})

_TABLE = (
    Verb("fix", "fix [max=N]", _BOTH, author_may=True),
    Verb("check", "check [typecheck|lint|test]…", _PULL),
    Verb("retest", "retest [all|typecheck|lint|test]…", _PULL, author_may=True),
    Verb("retry", "retry", _BOTH),
    Verb("cancel", "cancel", _BOTH, author_may=True),
    Verb("status", "status", _BOTH, reads=True),
    Verb("group", "group show|split|add #N…|remove #N…", _ISSUE),
    Verb("apply", "apply", _BOTH),
    Verb("explain", "explain", _BOTH, reads=True),
    Verb("history", "history FILE", _BOTH, reads=True),
    Verb("resolved", "resolved [HOW]", _BOTH),
    Verb("ok-to-test", "ok-to-test [SHA]", _PULL),
    Verb("pause", "pause", _BOTH),
    Verb("resume", "resume", _BOTH),
    Verb("help", "help", _BOTH, reads=True),
)
VERBS: Mapping[str, Verb] = MappingProxyType({verb.name: verb for verb in _TABLE})

DEFAULT_ALIASES: Mapping[str, str] = MappingProxyType(
    {f"/{name}": name for name in ("fix", "retest", "check", "retry", "cancel")}
)
_ALIAS = re.compile(r"/[a-z][\w-]*")


def aliases_of(value: bool | Mapping[str, str] | Iterable[str]) -> Mapping[str, str]:
    """The short forms that the configuration's `aliases` allow, as `/word` → verb, all in lower case.

    `true` means the default ones; a list of verbs means each by its own name. An entry that names no verb, or that is
    no word after a slash, is left out."""
    if isinstance(value, bool):
        return DEFAULT_ALIASES if value else MappingProxyType({})
    pairs = value if isinstance(value, Mapping) else {verb: verb.strip().removeprefix("/") for verb in value}
    lowered = (("/" + short.strip().lower().removeprefix("/"), verb.strip().lower()) for short, verb in pairs.items())
    return MappingProxyType(
        {short: verb for short, verb in lowered if verb in VERBS and short != PREFIX and _ALIAS.fullmatch(short)}
    )


def only_reads(command: SlashCommand) -> bool:
    """Whether the command changes nothing, here or on GitHub, except for its reply."""
    verb = VERBS.get(command.verb)
    return (verb is not None and verb.reads) or (command.verb == "group" and command.args[:1] == ("show",))


def misplaced(command: SlashCommand, where: Where) -> SlashCommand | None:
    """The command with its problem, if its verb does not work on such a thread; None if it does."""
    verb = VERBS.get(command.verb)
    if command.problem or verb is None or where in verb.where:
        return None
    problem = "only_pull" if where == "issue" else "only_issue"
    column = max(0, command.text.lower().find(verb.name))
    return replace(command, column=column, problem=problem, values=MappingProxyType({"verb": verb.name}))
