"""The answers to slash commands (REQ-CMD-002): one comment for all mistakes of a comment, each with its line and a
caret, the help, and a sentence for what was done or refused. Nobody is mentioned, and no answer reads as a command."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from bot.model import Language
from bot.model.commands import SlashCommand, Verb, Where
from bot.reports.format.markdown import escape, page, table, with_code
from bot.reports.format.truncate import fence, inline_code, strip_control
from bot.reports.locale.catalog import joined, t

_PREFIX = "/mendbot"
_SHOWN = 5
"""Mistakes shown with their line: as many as commands are read in a comment."""

_BEFORE, _AFTER = 70, 30
"""Characters of a long line that are shown around its caret."""

_NUMBERS = frozenset({"most", "least", "count"})
_LISTS = frozenset({"known", "checks"})
_WHY = 1_000
_ISSUES = 50

_FACTS: Mapping[str, tuple[str, ...]] = {
    "fix": ("run",),
    "check": ("checks", "sha"),
    "retest": ("checks", "sha"),
    "retry": ("run",),
    "cancel": ("what",),
    "group show": ("issues",),
    "group split": ("issues",),
    "group add": ("issues",),
    "group remove": ("issues",),
    "apply": ("sha",),
    "resolved": ("count",),
    "ok-to-test": ("sha",),
    "pause": (),
    "resume": (),
}


def error_reply(commands: Sequence[SlashCommand], language: Language, *, author: str) -> str:
    """One comment about the commands that have a problem; empty where none has. At most 65,000 characters."""
    faulty = [command for command in commands if command.problem]
    if not faulty:
        return ""
    spare = [command for command in faulty if command.problem == "too_many"]
    shown = [command for command in faulty if command.problem != "too_many"]
    parts = [f"😕 {t(language, 'reply.error', author=inline_code(f'@{author}', 60))}"]
    parts.extend(_mistake(command, language) for command in shown[:_SHOWN])
    if shown[_SHOWN:]:
        parts.append(t(language, "reply.error.others", count=len(shown) - _SHOWN))
    if spare:
        why = mistake_text(spare[0], language)
        parts.append(t(language, "reply.error.too_many", count=len(spare), line=spare[0].line, why=why))
    parts.append(t(language, "reply.error.help", help=inline_code(f"{_PREFIX} help")))
    return page(parts, language)


def _mistake(command: SlashCommand, language: Language) -> str:
    """The line with a caret below it, what is wrong, and what was probably meant."""
    meant = None if command.suggestion is None else _corrected(command, command.suggestion)
    return f"{fence(_picture(command.text, command.column), 'text')}\n\n{mistake_text(command, language, meant)}"


def mistake_text(command: SlashCommand, language: Language, meant: str | None = None) -> str:
    """What is wrong with the command, and what was probably `meant`, as Markdown."""
    values = {name: _value(name, value) for name, value in command.values.items()}
    text = t(language, f"reply.problem.{command.problem}", **values)
    return text if meant is None else f"{text} {t(language, 'reply.error.meant', meant=inline_code(meant))}"


def _value(key: str, value: str) -> str:
    if key in _NUMBERS:
        return escape(value)
    return ", ".join(map(inline_code, value.split(", "))) if key in _LISTS else inline_code(value)


def _corrected(command: SlashCommand, suggestion: str) -> str:
    """The whole line with the suggestion put in, or the suggestion alone where the line is long or its word cut."""
    got, at = command.values.get("got", ""), command.column or 0
    if not got or not command.text.startswith(got, at) or len(command.text) > _BEFORE + _AFTER:
        return suggestion
    return command.text[:at] + suggestion + command.text[at + len(got) :]


def _picture(text: str, column: int | None) -> str:
    """The line, or what is around the column of a long one, and a caret below that column."""
    line = strip_control(text).replace("\n", " ").replace("\t", " ")
    at = min(column or 0, len(line))
    first = max(0, at - _BEFORE)
    last = max(at + _AFTER, first + _BEFORE + _AFTER)
    before = ("…" if first else "") + line[first:at]
    shown = before + line[at:last] + ("…" if last < len(line) else "")
    return shown if column is None else f"{shown}\n{''.join(map(_blank, before))}^"


def _blank(sign: str) -> str:
    """White space as wide as the sign is in a fixed font."""
    if unicodedata.combining(sign):
        return ""
    return "\u3000" if unicodedata.east_asian_width(sign) in "WF" else " "


def refused_reply(command: SlashCommand, why: str, language: Language) -> str:
    """A command that was understood and could not be done; `why` is a sentence, untrusted."""
    return f"😕 {t(language, 'reply.refused', command=inline_code(command.text), why=with_code(why, _WHY))}"


def busy_reply(language: Language, cap: int) -> str:
    """The one polite sentence for somebody whose commands of this hour have reached the cap."""
    return t(language, "reply.busy", count=cap)


def help_reply(
    verbs: Iterable[Verb],
    language: Language,
    *,
    where: Where | None = None,
    aliases: Mapping[str, str] | None = None,
) -> str:
    """The table of the verbs that such a thread takes (None: of all), and the short forms of this repository."""
    here = [verb for verb in verbs if where is None or where in verb.where]
    rows = [(inline_code(f"{_PREFIX} {verb.usage}"), t(language, f"reply.help.{verb.name}")) for verb in here]
    authors = [inline_code(verb.name) for verb in here if verb.author_may]
    names = {verb.name for verb in here}
    short = [
        f"{inline_code(a, 40)} = {inline_code(f'{_PREFIX} {v}', 40)}" for a, v in (aliases or {}).items() if v in names
    ]
    parts = [
        t(language, "reply.help"),
        t(language, "reply.help.intro", prefix=inline_code(_PREFIX)),
        table((t(language, "reply.help.command"), t(language, "reply.help.meaning")), rows),
        t(language, "reply.help.author", verbs=joined(language, authors)) if authors and where != "issue" else "",
        t(language, "reply.help.aliases", aliases=", ".join(short[:_ISSUES])) if short else "",
    ]
    return page(parts, language)


def done_reply(verb: str, facts: Mapping[str, str], language: Language) -> str:
    """One sentence about a command that was run; the facts are untrusted, and without them a plainer one is said.

    `fix`, `retry`: `run`, its id · `check`, `retest`: `checks`, names parted by `, `, and `sha` · `cancel`: `what` was
    stopped · `group show`, `group split`, `group add`, `group remove`: `issues`, numbers parted by anything · `apply`,
    `ok-to-test`: `sha` · `resolved`: `count` of errors · `pause`, `resume`: none. An unknown verb is a KeyError."""
    if verb == "resolved" and re.fullmatch("[1-9][0-9]{0,8}", facts.get("count", "")):
        return t(language, "reply.done.resolved", count=int(facts["count"]))
    values = {name: _fact(name, facts.get(name, ""), language) for name in _FACTS[verb]}
    if verb == "resolved" or not values or not all(values.values()):
        return t(language, f"reply.done.{verb}.plain", resume=inline_code(f"{_PREFIX} resume"))
    return t(language, f"reply.done.{verb}", **values)


def _fact(name: str, value: str, language: Language) -> str:
    """The fact as Markdown; empty where there is none."""
    if not value.strip():
        return ""
    if name == "issues":
        return joined(language, [f"#{number}" for number in re.findall(r"[0-9]{1,10}", value)[:_ISSUES]])
    return inline_code(value[:12], 40) if name == "sha" else _value(name, value)
