"""The replies to slash commands (REQ-CMD-002): one for all mistakes of a comment, the help, and one per result.

Each mistake is shown with its line and a caret. No reply mentions a person or can be read as a command."""

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
_MAX_SHOWN = 5
"""Mistakes shown with their line: as many as the commands that are read in a comment."""

_BEFORE, _AFTER = 70, 30
"""Characters of a long line that are shown around its caret."""

_NUMBERS = frozenset({"most", "least", "count"})
_LISTS = frozenset({"known", "checks"})
_WHY_CHARS = 1_000
_MAX_ITEMS = 50

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
    """Returns one comment on the commands that have a problem, at most 65,000 characters; empty if none has."""
    faulty = [command for command in commands if command.problem]
    if not faulty:
        return ""
    surplus = [command for command in faulty if command.problem == "too_many"]
    shown = [command for command in faulty if command.problem != "too_many"]
    parts = [f"😕 {t(language, 'reply.error', author=inline_code(f'@{author}', 60))}"]
    parts.extend(_mistake(command, language) for command in shown[:_MAX_SHOWN])
    if shown[_MAX_SHOWN:]:
        parts.append(t(language, "reply.error.others", count=len(shown) - _MAX_SHOWN))
    if surplus:
        why = mistake_text(surplus[0], language)
        parts.append(t(language, "reply.error.too_many", count=len(surplus), line=surplus[0].line, why=why))
    parts.append(t(language, "reply.error.help", help=inline_code(f"{_PREFIX} help")))
    return page(parts, language)


def _mistake(command: SlashCommand, language: Language) -> str:
    """Returns the line with a caret below it, what is wrong, and what was probably meant."""
    meant = None if command.suggestion is None else _corrected(command, command.suggestion)
    return f"{fence(_with_caret(command.text, command.column), 'text')}\n\n{mistake_text(command, language, meant)}"


def mistake_text(command: SlashCommand, language: Language, meant: str | None = None) -> str:
    """Returns what is wrong with the command, and what was probably `meant`, as Markdown."""
    values = {name: _value(name, value) for name, value in command.values.items()}
    text = t(language, f"reply.problem.{command.problem}", **values)
    return text if meant is None else f"{text} {t(language, 'reply.error.meant', meant=inline_code(meant))}"


def _value(key: str, value: str) -> str:
    if key in _NUMBERS:
        return escape(value)
    return ", ".join(map(inline_code, value.split(", "))) if key in _LISTS else inline_code(value)


def _corrected(command: SlashCommand, suggestion: str) -> str:
    """Returns the whole line with the suggestion in it, or only the suggestion if the line is long or the word was
    cut."""
    word, column = command.values.get("got", ""), command.column or 0
    if not word or not command.text.startswith(word, column) or len(command.text) > _BEFORE + _AFTER:
        return suggestion
    return command.text[:column] + suggestion + command.text[column + len(word) :]


def _with_caret(text: str, column: int | None) -> str:
    """Returns the line, or its part around the column if it is long, and a caret below that column."""
    line = strip_control(text).replace("\n", " ").replace("\t", " ")
    position = min(column or 0, len(line))
    first = max(0, position - _BEFORE)
    last = max(position + _AFTER, first + _BEFORE + _AFTER)
    before = ("…" if first else "") + line[first:position]
    shown = before + line[position:last] + ("…" if last < len(line) else "")
    return shown if column is None else f"{shown}\n{''.join(map(_padding, before))}^"


def _padding(sign: str) -> str:
    """Returns white space as wide as the sign in a monospaced font."""
    if unicodedata.combining(sign):
        return ""
    return "\u3000" if unicodedata.east_asian_width(sign) in "WF" else " "


def refused_reply(command: SlashCommand, why: str, language: Language) -> str:
    """Returns the reply to a valid command that could not be executed; `why` is a sentence, untrusted."""
    return f"😕 {t(language, 'reply.refused', command=inline_code(command.text), why=with_code(why, _WHY_CHARS))}"


def busy_reply(language: Language, cap: int) -> str:
    """Returns the reply to a person whose commands have reached the hourly limit `cap`."""
    return t(language, "reply.busy", count=cap)


def help_reply(
    verbs: Iterable[Verb],
    language: Language,
    *,
    where: Where | None = None,
    aliases: Mapping[str, str] | None = None,
) -> str:
    """Returns a table of the verbs that such a thread accepts (None: all), and the aliases of this repository."""
    available = [verb for verb in verbs if where is None or where in verb.where]
    rows = [(inline_code(f"{_PREFIX} {verb.usage}"), t(language, f"reply.help.{verb.name}")) for verb in available]
    authors = [inline_code(verb.name) for verb in available if verb.author_may]
    names = {verb.name for verb in available}
    alias_texts = [
        f"{inline_code(a, 40)} = {inline_code(f'{_PREFIX} {v}', 40)}" for a, v in (aliases or {}).items() if v in names
    ]
    parts = [
        t(language, "reply.help"),
        t(language, "reply.help.intro", prefix=inline_code(_PREFIX)),
        table((t(language, "reply.help.command"), t(language, "reply.help.meaning")), rows),
        t(language, "reply.help.author", verbs=joined(language, authors)) if authors and where != "issue" else "",
        t(language, "reply.help.aliases", aliases=", ".join(alias_texts[:_MAX_ITEMS])) if alias_texts else "",
    ]
    return page(parts, language)


def done_reply(verb: str, facts: Mapping[str, str], language: Language) -> str:
    """Returns one sentence about a command that was executed, or a plainer one if facts are missing. Facts are
    untrusted.

    `fix`, `retry`: `run`, its id · `check`, `retest`: `checks`, names separated by `, `, and `sha` · `cancel`: `what`
    was stopped · `group show`, `group split`, `group add`, `group remove`: `issues`, numbers with any separator ·
    `apply`, `ok-to-test`: `sha` · `resolved`: `count` of errors · `pause`, `resume`: none. Raises KeyError for an
    unknown verb."""
    if verb == "resolved" and re.fullmatch("[1-9][0-9]{0,8}", facts.get("count", "")):
        return t(language, "reply.done.resolved", count=int(facts["count"]))
    values = {name: _fact(name, facts.get(name, ""), language) for name in _FACTS[verb]}
    if verb == "resolved" or not values or not all(values.values()):
        return t(language, f"reply.done.{verb}.plain", resume=inline_code(f"{_PREFIX} resume"))
    return t(language, f"reply.done.{verb}", **values)


def _fact(name: str, value: str, language: Language) -> str:
    """Returns the fact as Markdown; empty if there is none."""
    if not value.strip():
        return ""
    if name == "issues":
        return joined(language, [f"#{number}" for number in re.findall(r"[0-9]{1,10}", value)[:_MAX_ITEMS]])
    return inline_code(value[:12], 40) if name == "sha" else _value(name, value)
