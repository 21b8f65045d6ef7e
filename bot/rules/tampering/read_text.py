"""Reads a test file by the look of its lines: the rule for languages without a grammar, and for texts that are too
large or too costly to parse. One set of patterns serves every language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.rules.tampering.ignored_findings import ignored
from bot.rules.tampering.readings import Case, Reading

_LINE_STRINGS = r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'?"
# comments as group 1; strings are matched too, so that no comment is seen inside them
_HASHES = re.compile(rf"'''[\s\S]*?(?:'''|\Z)|\"\"\"[\s\S]*?(?:\"\"\"|\Z)|{_LINE_STRINGS}|(\#[^\n]*)")
_SLASHES = re.compile(rf"{_LINE_STRINGS}|`[^`\\]*+(?:\\[\s\S][^`\\]*+)*(?:`|\\?\Z)|(//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))")
_HASH_SUFFIXES = "py pyi rb sh bash bats ex exs pl pm t r jl nim tcl cr"
_WITH_HASHES = frozenset(_HASH_SUFFIXES.split())
_DASHES = re.compile(rf"{_LINE_STRINGS}|(--[^\n]*)")
_WITH_DASHES = frozenset(("lua", "hs", "sql", "elm", "ada"))

_HEAD = re.compile(
    # a name behind an annotation, a name that begins with test, or a title
    r"(?:@(?:\w*Test|TestFactory)\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b|\#\[(?:\w+::)*test\b)[^{};=]{0,300}?"
    r"\b(\w+|`[^`\n]+`)[ \t]*\([^()\n]{0,200}\)[^;{}\n]{0,100}[{=]"
    r"|^[ \t]*(?:\w+[ \t]+){0,3}(?:def|func|fun|fn|function)[ \t]+([Tt]est\w*)"
    r"|^[ \t]*(?:@?test|it|specify)\b[ \t]*\(?[ \t]*['\"]([^'\"\n]*)",
    re.MULTILINE,
)
_ASSERTS = re.compile(
    r"\b[Aa]ssert\w*|\bexpect\w*[!(.<]|\brefute\w*|\.[Ss]hould\b|\bmust_\w+|\bverify\(|\bREQUIRE\w*\(|\bCHECK\w*\("
    r"|\b(?:pytest\.raises|fail)\(|\b[tb]\.(?:Error|Fatal|Fail)\w*\("
)
_NO_ASSERTION = re.compile(
    r"^(?:from|import|use|using|require|\#include)\b|\bassert\w*[!.]?\w*\(\s*(?:true|True|1)\s*[,)]"
)
_SKIPS = re.compile(
    r"@(?:Disabled\w*|Ignore|skip\w*|tag :skip)\b|\[Ignore\b|\bSkip\s*=|\benabled\s*=\s*false|\bassume\w*\(|\.Skip\w*\("
    r"|\bmark\.(?:skip|skipif|xfail)\b|\.(?:skip|only|todo)\(|^\s*skip\b|^\s*x(?:it|describe)\b|\#\[ignore\b",
    re.MULTILINE,
)
_QUITS = re.compile(r"\breturn(?: 0)?;?$|\bcatch\s*(?:\([^()]*\))?\s*\{\s*\}", re.MULTILINE)
_EXITS = re.compile(
    r"\b(?:System\.exit|Environment\.Exit|sys\.exit|process\.exit)\(0\)"
    r"|\|\|\s*(?:true|:)\s*$|^\s*exit 0\b|^\s*set \+e\b",
    re.MULTILINE,
)
_COMMENT_LINE = re.compile(r"\s*(?:$|#|//|/\*|\*|--|%|;|'|\(\*|\{-|<!--|REM\b|\")")
"""A line without code, in whatever language."""
_ROWS = re.compile(r"\[(?:TestCase|InlineData)\([^\n]*|@CsvSource[^\n]*")


def read_text(suffix: str, text: str) -> Reading:
    """The reading of a text in a language of files with that suffix."""
    code, comments = _split(text, suffix)
    cases, outside = _cases(code)
    return Reading(
        cases=cases,
        loose=_asserting(outside),
        skips=len(_SKIPS.findall(code)),
        ignores=ignored(comments, code),
        rows=tuple(" ".join(match[0].split()) for match in _ROWS.finditer(code)),
        exits=len(_EXITS.findall(code)),
        empty=all(_COMMENT_LINE.match(line) for line in code.split("\n")),
    )


def _split(text: str, suffix: str) -> tuple[str, str]:
    """(the text without comments, the comments); a text block counts as an empty comment."""
    comments: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match[1] is not None:
            comments.append(match[1])
            return ""
        return '""' if match[0].startswith(("'''", '"""')) else match[0]

    pattern = _HASHES if suffix in _WITH_HASHES else _DASHES if suffix in _WITH_DASHES else _SLASHES
    return pattern.sub(keep, text), "\n".join(comments)


def _cases(code: str) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases, each from its head to where the indentation falls back to it, and the lines in none of them."""
    lines = code.split("\n")
    starts: dict[int, str] = {}
    line, position = 0, 0
    for match in _HEAD.finditer(code):
        group = next((at for at in range(1, _HEAD.groups + 1) if match[at] is not None), 0)
        # the line that names it, past what is written above it; a name may stand in a line of its own
        named = match.start(group) if match[0].lstrip().startswith(("@", "#[", "[")) else match.start()
        named += len(match[0]) - len(match[0].lstrip("\n")) if named == match.start() else 0
        line += code.count("\n", position, named)
        position = named
        starts[line] = match[group].strip("`")
    cases: list[Case] = []
    inside: set[int] = set()
    for start, name in starts.items():
        end = _end(lines, start, starts)
        inside.update(range(start, end))
        body = _evened(lines[start:end])
        cases.append(Case(name, body[1:], _asserting(body), len(_QUITS.findall("\n".join(body[1:])))))
    return tuple(cases), _evened(text for at, text in enumerate(lines) if at not in inside)


def _end(lines: list[str], start: int, starts: Mapping[int, str]) -> int:
    indent = _indent(lines[start])
    for at in range(start + 1, len(lines)):
        bare = lines[at].lstrip()
        if at in starts and _indent(lines[at]) <= indent:
            return at
        if bare and _indent(lines[at]) <= indent and not bare.startswith((")", "}", "]", "{", "end")):
            return at
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _evened(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(" ".join(line.split()) for line in lines if line.strip())


def _asserting(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line for line in lines if _ASSERTS.search(line) and not _NO_ASSERTION.search(line))
