"""Slash commands (REQ-CMD-001, 002): which lines of a comment ask for something, what for, and what is wrong where they
are not understood. Nothing is raised, whatever is written: a command with a mistake says so in its `error`."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from bot.model import CHECK_ORDER
from bot.model.commands import PROBLEMS, SlashCommand
from bot.rules.commands.markdown_lines import CodeBlock, MarkdownLines, prose_lines, split
from bot.rules.commands.tokens import Word, Wrong, parts_of, words_of
from bot.rules.commands.verbs import PREFIX, VERBS

__all__ = ["MAX_COMMANDS", "SlashCommand", "parse_commands"]

MAX_COMMANDS = 5
"""The most commands of one comment that are run (spec I)."""

_UNSEEN = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f"
"""What a copied text may bring along and nobody sees. Inside of the first word it makes it another word."""

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
class _Read:
    args: tuple[str, ...] = ()
    issues: tuple[int, ...] = ()


def parse_commands(
    body: str | None,
    previous: str | None = None,
    *,
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> tuple[SlashCommand, ...]:
    """The commands of a comment in their order, those with a mistake among them. After an edit, `previous` is the text
    before it: what it held already is left out, line by line and as often as it stood there; a diff to apply that it
    did not hold makes its command a new one.

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
    """What has to agree for two lines to be the same: the verb, however it was written, and the words."""
    first, *rest = command.text.split()
    return (*(word.lower() for word in rest[:1]), *rest[1:]) if first.lower() == PREFIX else (command.verb, *rest)


def _commands(body: str, aliases: Mapping[str, str]) -> tuple[SlashCommand, ...]:
    if "/" not in body:
        return ()
    short = {"/" + word.lower().removeprefix("/"): verb for word, verb in aliases.items()}
    verbs: Mapping[str, str | None] = {**short, PREFIX: None}
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
    """The line with a space for every white space and without what nobody sees: columns are what they seem."""
    text = _SURROGATE.sub("\ufffd", _DROPPED.sub("", raw))
    return re.sub(r"\s", " ", text).strip()


def _diff(lines: MarkdownLines, at: int, below: int) -> str | None:
    """The first code block between the command and the next, if it is marked as a diff or not at all."""
    block: CodeBlock | None = next((block for block in lines.blocks if at < block.line < below), None)
    return block.content if block and block.info.lower() in _DIFFS and block.content.strip() else None


def _left_out(text: str, verb: str | None) -> SlashCommand:
    """One too many: nobody looks at what it says."""
    words = text.split(maxsplit=2)
    verb_name = verb or (words[1] if len(words) > 1 else "help")
    verb_name = verb_name.lower() if verb_name.lower() in VERBS else verb_name
    return _mistaken(
        text, SlashCommand(verb_name), Wrong("too_many", Word("", 0, ""), values={"most": str(MAX_COMMANDS)})
    )


def _command(text: str, verb: str | None, block: str | None) -> SlashCommand:
    words, wrong = words_of(text)
    if verb is None:
        spoken = words[1].value if len(words) > 1 else "help" if wrong is None else text.split()[1]
        verb = spoken.lower() if spoken.lower() in VERBS else spoken
        if verb not in VERBS and wrong is None:
            wrong = Wrong("unknown_verb", words[1], _near(spoken, VERBS))
        words = words[2:]
    else:
        words = words[1:]
    prose = verb in _PROSE
    options = {word.option: word.value.partition("=")[2] for word in words if word.option and not prose}
    plain = [word for word in words if prose or not word.option]
    command = SlashCommand(verb, tuple(word.value for word in plain), MappingProxyType(options))
    wrong = wrong or _wrong_option(verb, words)
    if wrong is not None:
        return _mistaken(text, command, wrong)
    found = _READERS.get(verb, _nothing)(plain)
    if isinstance(found, _Read) and verb == "apply" and block is None:
        found = Wrong("missing_diff", values={"example": "```diff"})
    if isinstance(found, Wrong):
        return _mistaken(text, command, found)
    return replace(command, args=found.args, issues=found.issues, block=block if verb == "apply" else None)


def _mistaken(text: str, command: SlashCommand, wrong: Wrong) -> SlashCommand:
    """The command with its mistake, told in English."""
    usage = VERBS[command.verb].usage if command.verb in VERBS else ""
    got = wrong.word.raw if wrong.word else ""
    values = {"verb": command.verb, "usage": f"{PREFIX} {usage}", "got": got, **wrong.values}
    values = {key: _cut(value) for key, value in values.items() if "{" + key + "}" in PROBLEMS[wrong.problem]}
    bare = {"most", "least"}
    error = PROBLEMS[wrong.problem].format(**{k: v if k in bare else f"`{v}`" for k, v in values.items()})
    return replace(
        command,
        error=f"{error} Did you mean `{wrong.near}`?" if wrong.near else error,
        column=wrong.word.at if wrong.word else len(text),
        suggestion=wrong.near,
        problem=wrong.problem,
        values=MappingProxyType(values),
    )


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"


def _near(word: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word[:30].lower(), list(known), n=1)), None)


def _wrong_option(verb: str, words: Sequence[Word]) -> Wrong | None:
    known = _OPTIONS.get(verb, {})
    for word in words if verb in VERBS and verb not in _PROSE else ():
        if not word.option:
            continue
        if word.option not in known:
            return Wrong("unknown_option", replace(word, raw=word.option), _near(word.option, known))
        value, room = word.value.partition("=")[2], known[word.option]
        if not (value.isascii() and _NUMBER.fullmatch(value) and int(value) in room):
            ends = {"least": str(room[0]), "most": str(room[-1]), "option": word.option}
            return Wrong("bad_value", word, values={"got": value, **ends})
    return None


def _nothing(words: Sequence[Word]) -> _Read | Wrong:
    return Wrong("unexpected", words[0]) if words else _Read()


def _anything(words: Sequence[Word]) -> _Read | Wrong:
    return _Read(tuple(word.value for word in words))


def _checks(known: Sequence[str], words: Sequence[Word]) -> _Read | Wrong:
    parts = parts_of(words)
    for part in parts:
        if part.value.lower() not in known:
            return Wrong("unknown_check", part, _near(part.value, known), {"known": ", ".join(known)})
    return _Read(tuple(dict.fromkeys(part.value.lower() for part in parts)))


_GROUP = ("show", "split", "add", "remove")


def _group(words: Sequence[Word]) -> _Read | Wrong:
    known = {"known": ", ".join(_GROUP)}
    if not words:
        return Wrong("missing_word", values=known)
    action = words[0].value.lower()
    if action not in _GROUP:
        return Wrong("unknown_word", words[0], _near(action, _GROUP), known)
    if action in ("show", "split") and len(words) > 1:
        return Wrong("unexpected", words[1])
    parts = parts_of(words[1:])
    for part in parts:
        if not _ISSUE.fullmatch(part.value):
            return Wrong("bad_issue", part, values={"example": "#12"})
    if action == "add" and not parts:
        return Wrong("missing_issues", values={"verb": "group add", "example": "#12"})
    numbers = tuple(dict.fromkeys(int(part.value.lstrip("#")) for part in parts))
    return _Read((action, *(word.value for word in words[1:])), numbers)


def _file(words: Sequence[Word]) -> _Read | Wrong:
    if not words or not words[0].value:
        return Wrong("missing_file", values={"example": "history src/cart.py"})
    return Wrong("second_file", words[1]) if len(words) > 1 else _Read((words[0].value,))


def _commit(words: Sequence[Word]) -> _Read | Wrong:
    for word in words[:1]:
        if not _COMMIT.fullmatch(word.value.lower()):
            return Wrong("bad_commit", word)
    return Wrong("unexpected", words[1]) if len(words) > 1 else _Read(tuple(w.value.lower() for w in words))


_PROSE = frozenset({"resolved", "help"})
"""Verbs behind which words are words, with `=` or without."""

_READERS: Mapping[str, Callable[[Sequence[Word]], _Read | Wrong]] = {
    "check": partial(_checks, CHECK_ORDER),
    "retest": partial(_checks, ("all", *CHECK_ORDER)),
    "group": _group,
    "history": _file,
    "ok-to-test": _commit,
    "resolved": _anything,
    "help": _anything,
}
