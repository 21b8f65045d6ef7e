"""Slash commands (REQ-CMD-001, 002): finds them in a comment and parses their words.

Nothing is raised for any text: a command with a mistake has a `problem`."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from bot.model import CHECK_ORDER
from bot.model.commands import SlashCommand
from bot.rules.commands.markdown_lines import CodeBlock, MarkdownLines, prose_lines, split
from bot.rules.commands.tokens import Mistake, Word, split_commas, split_words
from bot.rules.commands.verbs import PREFIX, VERBS

MAX_COMMANDS = 5
"""The limit of commands of one comment that are run (spec I)."""

_UNSEEN = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f"
"""Invisible characters that a copied text may hold. Inside of the first word they make it another word."""

_START = re.compile(rf"[{_UNSEEN}]*(?:[ \xa0][{_UNSEEN}]*){{0,3}}(/[A-Za-z][\w-]*)(?=[\s{_UNSEEN}]|\Z)")
_DROPPED = re.compile(rf"[{_UNSEEN}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ISSUE = re.compile(r"#?0*([1-9]\d{0,8})")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_NUMBER = re.compile(r"\d{1,9}")
_OPTIONS: Mapping[str, Mapping[str, range]] = {"fix": {"max": range(1, 101)}}
_DIFFS = frozenset({"", "diff", "patch"})
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a command without a mistake, and the issue numbers among them."""

    args: tuple[str, ...] = ()
    issues: tuple[int, ...] = ()


def parse_commands(
    body: str | None,
    previous: str | None = None,
    *,
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> tuple[SlashCommand, ...]:
    """The commands of a comment in their order, also those with a mistake. After an edit, `previous` is the text
    before it: commands that it had already are left out, each as often as it had them. A new diff to apply makes its
    command a new one.

    `aliases` are the short forms allowed (`rules.commands.verbs.aliases_of`)."""
    commands = _commands(body or "", aliases)
    if previous is None or not commands:
        return commands
    before = _commands(previous, aliases)
    old, blocks = Counter(map(_key, before)), {None, *(command.block for command in before)}
    added: list[SlashCommand] = []
    for command in commands:
        key = _key(command)
        if old[key] and command.block in blocks:
            old[key] -= 1
        else:
            added.append(command)
    return tuple(added)


def _key(command: SlashCommand) -> tuple[str, ...]:
    """Equal for two lines with the same command: the verb, in whichever spelling, and the words."""
    first, *rest = command.text.split()
    return (*(word.lower() for word in rest[:1]), *rest[1:]) if first.lower() == PREFIX else (command.verb, *rest)


def _commands(body: str, aliases: Mapping[str, str]) -> tuple[SlashCommand, ...]:
    if "/" not in body:
        return ()
    short_forms = {"/" + word.lower().removeprefix("/"): verb for word, verb in aliases.items()}
    verbs: Mapping[str, str | None] = {**short_forms, PREFIX: None}
    raw = split(body)
    starts = {at: match for at, line in enumerate(raw) if "/" in line and (match := _START.match(line))}
    starts = {at: match for at, match in starts.items() if match.group(1).lower() in verbs}
    if not starts:
        return ()
    lines = prose_lines(raw, frozenset(starts))
    places = sorted(lines.plain)
    commands = []
    for number, at in enumerate(places):
        text = _readable(raw[at])
        verb = verbs[starts[at].group(1).lower()]
        below = places[number + 1] if number + 1 < len(places) else len(raw)
        command = _command(text, verb, _diff(lines, at, below)) if number < MAX_COMMANDS else _left_out(text, verb)
        commands.append(replace(command, text=text, line=at + 1))
    return tuple(commands)


def _readable(raw: str) -> str:
    """The line with a space for every white space and without invisible characters, so that columns are as shown."""
    text = _SURROGATE.sub("\ufffd", _DROPPED.sub("", raw))
    return re.sub(r"\s", " ", text).strip()


def _diff(lines: MarkdownLines, at: int, below: int) -> str | None:
    """The first code block between the command and the next, if it is marked as a diff or has no mark."""
    block: CodeBlock | None = next((block for block in lines.blocks if at < block.line < below), None)
    return block.content if block and block.info.lower() in _DIFFS and block.content.strip() else None


def _left_out(text: str, verb: str | None) -> SlashCommand:
    """A command after the limit; its words are not parsed."""
    words = text.split(maxsplit=2)
    verb_name = verb or (words[1] if len(words) > 1 else "help")
    verb_name = verb_name.lower() if verb_name.lower() in VERBS else verb_name
    mistake = Mistake("too_many", Word("", 0, ""), values={"most": str(MAX_COMMANDS)})
    return _with_mistake(text, SlashCommand(verb_name), mistake)


def _command(text: str, verb: str | None, block: str | None) -> SlashCommand:
    words, mistake = split_words(text)
    if verb is None:
        typed = words[1].value if len(words) > 1 else "help" if mistake is None else text.split()[1]
        verb = typed.lower() if typed.lower() in VERBS else typed
        if verb not in VERBS and mistake is None:
            mistake = Mistake("unknown_verb", words[1], _nearest(typed, VERBS))
        words = words[2:]
    else:
        words = words[1:]
    prose = verb in _PROSE
    options = {word.option: word.value.partition("=")[2] for word in words if word.option and not prose}
    plain = [word for word in words if prose or not word.option]
    command = SlashCommand(verb, tuple(word.value for word in plain), MappingProxyType(options))
    mistake = mistake or _wrong_option(verb, words)
    if mistake is not None:
        return _with_mistake(text, command, mistake)
    parsed = _PARSERS.get(verb, _nothing)(plain)
    if isinstance(parsed, _Words) and verb == "apply" and block is None:
        parsed = Mistake("missing_diff", values={"example": "```diff"})
    if isinstance(parsed, Mistake):
        return _with_mistake(text, command, parsed)
    return replace(command, args=parsed.args, issues=parsed.issues, block=block if verb == "apply" else None)


def _with_mistake(text: str, command: SlashCommand, mistake: Mistake) -> SlashCommand:
    usage = VERBS[command.verb].usage if command.verb in VERBS else ""
    got = mistake.word.raw if mistake.word else ""
    values = {"verb": command.verb, "usage": f"{PREFIX} {usage}", "got": got, **mistake.values}
    return replace(
        command,
        column=mistake.word.at if mistake.word else len(text),
        suggestion=mistake.meant,
        problem=mistake.problem,
        values=MappingProxyType({name: _cut(value) for name, value in values.items()}),
    )


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"


def _nearest(word: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word[:30].lower(), list(known), n=1)), None)


def _wrong_option(verb: str, words: Sequence[Word]) -> Mistake | None:
    known = _OPTIONS.get(verb, {})
    for word in words if verb in VERBS and verb not in _PROSE else ():
        if not word.option:
            continue
        if word.option not in known:
            return Mistake("unknown_option", replace(word, raw=word.option), _nearest(word.option, known))
        value, bounds = word.value.partition("=")[2], known[word.option]
        if not (value.isascii() and _NUMBER.fullmatch(value) and int(value) in bounds):
            limits = {"least": str(bounds[0]), "most": str(bounds[-1]), "option": word.option}
            return Mistake("bad_value", word, values={"got": value, **limits})
    return None


def _nothing(words: Sequence[Word]) -> _Words | Mistake:
    return Mistake("unexpected", words[0]) if words else _Words()


def _anything(words: Sequence[Word]) -> _Words | Mistake:
    return _Words(tuple(word.value for word in words))


def _checks(known: Sequence[str], words: Sequence[Word]) -> _Words | Mistake:
    parts = split_commas(words)
    for part in parts:
        if part.value.lower() not in known:
            return Mistake("unknown_check", part, _nearest(part.value, known), {"known": ", ".join(known)})
    return _Words(tuple(dict.fromkeys(part.value.lower() for part in parts)))


_GROUP = ("show", "split", "add", "remove")


def _group(words: Sequence[Word]) -> _Words | Mistake:
    known = {"known": ", ".join(_GROUP)}
    if not words:
        return Mistake("missing_word", values=known)
    action = words[0].value.lower()
    if action not in _GROUP:
        return Mistake("unknown_word", words[0], _nearest(action, _GROUP), known)
    if action in ("show", "split") and len(words) > 1:
        return Mistake("unexpected", words[1])
    parts = split_commas(words[1:])
    for part in parts:
        if not _ISSUE.fullmatch(part.value):
            return Mistake("bad_issue", part, values={"example": "#12"})
    if action == "add" and not parts:
        return Mistake("missing_issues", values={"verb": "group add", "example": "#12"})
    numbers = tuple(dict.fromkeys(int(part.value.lstrip("#")) for part in parts))
    return _Words((action, *(word.value for word in words[1:])), numbers)


def _file(words: Sequence[Word]) -> _Words | Mistake:
    if not words or not words[0].value:
        return Mistake("missing_file", values={"example": "history src/cart.py"})
    return Mistake("second_file", words[1]) if len(words) > 1 else _Words((words[0].value,))


def _commit(words: Sequence[Word]) -> _Words | Mistake:
    for word in words[:1]:
        if not _COMMIT.fullmatch(word.value.lower()):
            return Mistake("bad_commit", word)
    return Mistake("unexpected", words[1]) if len(words) > 1 else _Words(tuple(w.value.lower() for w in words))


_PROSE = frozenset({"resolved", "help"})
"""Verbs whose words are text, with `=` or without."""

_PARSERS: Mapping[str, Callable[[Sequence[Word]], _Words | Mistake]] = {
    "check": partial(_checks, CHECK_ORDER),
    "retest": partial(_checks, ("all", *CHECK_ORDER)),
    "group": _group,
    "history": _file,
    "ok-to-test": _commit,
    "resolved": _anything,
    "help": _anything,
}
