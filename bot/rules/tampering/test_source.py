"""Parses test files: their cases, the assertions of each, skips, and findings that are silenced in place. It matches
the text, so it works for every language and for files that do not parse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bot.rules.tampering.case_tables import rows
from bot.rules.tampering.early_exits import exits, hidden, quits


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name (a skipped one has the same), its lines and those that assert, white space evened out."""

    name: str
    lines: tuple[str, ...] = ()
    assertions: tuple[str, ...] = ()
    quits: int = 0
    """How often it ends early, or ignores a failure in it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text holds. `loose` are assertions outside of cases, as in a function that several tests call.

    `skips` counts the markers as written, `ignores` by their kind. `rows` are those of the tables that tests
    go through, `exits` count what ends the whole run with success, `hidden` tests in a class that is not collected;
    `calls` are the tests that the file itself calls."""

    cases: tuple[Case, ...] = ()
    loose: tuple[str, ...] = ()
    skips: int = 0
    ignores: Counter[str] = field(default_factory=Counter)
    rows: tuple[str, ...] = ()
    exits: int = 0
    hidden: int = 0
    calls: Counter[str] = field(default_factory=Counter)


_FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"), "javascript"),
    **dict.fromkeys(("java", "kt", "kts", "scala", "groovy", "cs"), "annotated"),
    "go": "go",
    "rs": "rust",
    "rb": "ruby",
    "php": "php",
    **dict.fromkeys(("sh", "bash", "bats"), "shell"),
}

_LINE_STRINGS = r"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'?"
# comments as group 1; strings are matched too, so that no comment is seen inside them
_HASHES = re.compile(
    rf"'''[\s\S]*?(?:'''|\Z)|\"\"\"[\s\S]*?(?:\"\"\"|\Z)|{_LINE_STRINGS}|(\#[^\n]*)",
)
_SLASHES = re.compile(rf"{_LINE_STRINGS}|`[^`\\]*+(?:\\[\s\S][^`\\]*+)*(?:`|\\?\Z)|(//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))")

_PROLOGUE = r"(?:[ \t]*(?:export|public|private|internal|protected|static|async|suspend|override|final|pub)[ \t]+)*"
_HEADS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)", re.MULTILINE),
    "javascript": re.compile(
        r"^[ \t]*(?:[xf]?it|x?test|specify|Deno\.test)\b(?:\.\w+)*[ \t]*(?=[(`])"
        # a table before the title, which isn't the title itself
        r"[^'\"`\n]*+(?:`[^`\n]*+`\s*+\([^'\"`\n]*+)*(?!`[^`\n]*+`\s*+\()"
        r"\s*(?:'((?:\\.|[^'\\\n])*)'|\"((?:\\.|[^\"\\\n])*)\"|`([^`]*)`)",
        re.MULTILINE,
    ),
    "go": re.compile(r"^func[ \t]+((?:Test|Fuzz|Example)\w*)", re.MULTILINE),
    "rust": re.compile(
        rf"#\[(?:\w+::)*(?:test|rstest|test_case)\b[^\]\n]*\]"
        rf"\s*(?:#\[[^\]\n]*+\]\s*+){{0,9}}{_PROLOGUE}[ \t]*fn[ \t]+(\w+)"
    ),
    "annotated": re.compile(
        r"(?:@(?:\w*Test|TestFactory)\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b)[^{};=]{0,300}?"
        r"\b(\w+|`[^`\n]+`)[ \t]*\([^()\n]{0,200}\)[^;{}\n]{0,100}[{=]"
    ),
    "ruby": re.compile(r"^[ \t]*(?:def[ \t]+(test_\w+)|[xf]?(?:it|specify|test)\b[ (]+['\"]([^'\"\n]*))", re.MULTILINE),
    "php": re.compile(r"^[ \t]*(?:public[ \t]+)?function[ \t]+(test\w+)", re.MULTILINE),
    "shell": re.compile(r"^[ \t]*@test[ \t]+['\"]([^'\"\n]*)", re.MULTILINE),
}

_ASSERTS = re.compile(
    r"\bassert\w*|\bexpect\w*[!(.<]|\brefute\w*|\.should\b|\bshould_panic\b|\bmust_\w+|\bprop_assert\w*|\bverify\("
    r"|\bpytest\.(?:raises|warns|fail)\(|\bself\.fail\(|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\brequire\.\w+\("
    r"|\bt\.(?:is|not|equal|deepEqual|notEqual|true|false|ok|throws|rejects|same|like|regex)\w*\("
)
_NO_ASSERTION = re.compile(
    r"^(?:from|import|use|using|require|\#include|export \{)\b|\brequire\(['\"]"
    # what can't fail asserts nothing
    r"|\bassert\s+(?:True|1|not False)\s*(?:,|$)|\bassert\w*[!.]?\w*\(\s*(?:true|True|1)\s*[,)]"
    r"|\bexpect\(\s*(?:true|1)\s*\)\.to(?:Be|Equal|StrictEqual|BeTruthy|BeDefined)\(\s*(?:true|1)?\s*\)"
)
_SKIPS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|\.skipTest\(|__test__\s*=\s*False"
        r"|\bunittest\.(?:skip\w*|expectedFailure|SkipTest)\b|^\s*@(?:skip(?:If|Unless)?|expectedFailure)\b"
        r"|\bcollect_ignore\w*\s*=|\bpytest_(?:collection_modifyitems|ignore_collect|deselected)\b",
        re.MULTILINE,
    ),
    "javascript": re.compile(
        r"\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*?\.(?:skip|only|todo|failing|fails|fixme|skipIf|runIf)\b"
        r"|(?<![\w.$])(?:x(?:it|test|describe|context)|f(?:it|describe|context))[ \t]*[(.]"
        r"|\b(?:this|t|ctx|context)\.(?:skip|todo)\(|\b(?:skip|only|todo)\s*:\s*(?:true\b|['\"])"
    ),
    "go": re.compile(r"\b[tbf]\.Skip(?:Now|f)?\("),
    "rust": re.compile(r"#\[(?:cfg_attr\([^\]\n]*\b)?ignore\b"),
    "annotated": re.compile(r"@(?:Disabled\w*|Ignore)\b|\[Ignore\b|\bSkip\s*=|\benabled\s*=\s*false|\bassume\w*\("),
    "ruby": re.compile(
        r"^\s*(?:x(?:it|describe|context)|pending|skip)\b|\b(?:skip|pending|focus):[ \t]|^\s*f(?:it|describe)\b", re.M
    ),
    "php": re.compile(r"\bmarkTest(?:Skipped|Incomplete)\("),
    "shell": re.compile(r"^\s*skip\b", re.MULTILINE),
}
_IGNORED_IN_COMMENTS = re.compile(
    r"\b(type:\s?ignore|pyright:\s?ignore|noqa|pylint:\s?disable|mypy:\s?(?:ignore-errors|disable|allow)\S*|nosec)\b"
    r"|\b(pragma:\s?no\s?cover|fmt:\s?(?:off|skip)|eslint-disable[\w-]*|oxlint-disable[\w-]*|biome-ignore\S*)\b"
    r"|\b(prettier-ignore|stylelint-disable[\w-]*|(?:istanbul|c8|v8) ignore|tslint:disable\S*|rubocop:\s?disable)\b"
    r"|(@ts-(?:ignore|expect-error|nocheck)|@phpstan-ignore\S*|@psalm-suppress|\bnolint\b|\bNOLINT\w*|\bnoinspection\b)"
)
_IGNORED_IN_CODE = re.compile(
    r"#!?\[(?:allow|expect)\(|#!?\[cfg_attr\([^\]\n]*\ballow\(|@SuppressWarnings\b|@Suppress\b|#pragma warning disable"
)

_CALL = re.compile(r"^(?:await |asyncio\.run\()?(test\w*)\(")
_FROM_ASSERT = re.compile(
    r"\bimport\s*\{(?P<before>[^}]*)\}\s*from\s*['\"](?:node:)?assert\b|\{(?P<after>[^}]*)\}\s*=\s*require\(['\"](?:node:)?assert\b"
)
_TEST_NAME = re.compile(
    r"^test_.+|.+_(?:test|tests|spec)\.\w+$|.+[.-](?:test|spec|cy|e2e)\.\w+$|.+(?:Test|Tests|TestCase|Spec|IT)\.\w+$"
    r"|^tests?\.\w+$|^conftest\.py$"
)
_TEST_ROOMS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e"})


def is_test(path: str) -> bool:
    """Whether the file holds tests by its name, or is source in a directory of tests (the tools' usual habits)."""
    *rooms, name = path.split("/")
    if is_snapshot(path) or _family(path) == "":
        return bool(_TEST_NAME.match(name)) and not name.endswith((".json", ".txt", ".md", ".snap", ".yml", ".yaml"))
    return bool(_TEST_NAME.match(name)) or not _TEST_ROOMS.isdisjoint(rooms)


def is_snapshot(path: str) -> bool:
    """Whether the file is what a snapshot test compares with (Jest, Vitest, syrupy, insta)."""
    return path.endswith((".snap", ".ambr")) or "/__snapshots__/" in f"/{path}"


def parse_tests(path: str, text: str, *, checked: bool = False) -> Reading:
    """The tests and silenced findings of the text; nothing where the language is unknown. A file that is `checked`,
    as a check's command names it, counts as a test file whatever its name."""
    family = _family(path)
    if not family:
        return Reading()
    code, comments = _split(text, family)
    ignores = Counter(_kinds(_IGNORED_IN_COMMENTS, comments)) + Counter(_kinds(_IGNORED_IN_CODE, code))
    if not checked and not is_test(path) and family != "rust":
        return Reading(ignores=ignores)
    cases, outside = _cases(code, family)
    loose = (*_asserting(outside), *_borrowed(outside, code))
    calls = Counter(match[1] for match in map(_CALL.match, outside) if match is not None)
    skips = len(_SKIPS[family].findall(code))
    return Reading(cases, loose, skips, ignores, rows(code, family), exits(code, family), hidden(code, family), calls)


def _borrowed(lines: Iterable[str], code: str) -> Iterator[str]:
    """Lines outside of cases that assert by a function of node's `assert` under its own name."""
    names = {
        name for match in _FROM_ASSERT.finditer(code) for name in re.findall(r"\w+", match["before"] or match["after"])
    }
    wanted = re.compile(rf"^(?:await )?(?:{'|'.join(map(re.escape, sorted(names)))})\(") if names else None
    return (line for line in lines if wanted is not None and wanted.match(line) and not _ASSERTS.search(line))


def _family(path: str) -> str:
    return _FAMILIES.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")


def _split(text: str, family: str) -> tuple[str, str]:
    """(the text without comments, the comments); a text block of Python counts as an empty comment."""
    comments: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match[1] is not None:
            comments.append(match[1])
            return ""
        return '""' if match[0].startswith(("'''", '"""')) else match[0]

    pattern = _HASHES if family in ("python", "ruby", "shell") else _SLASHES
    return pattern.sub(keep, text), "\n".join(comments)


def _kinds(pattern: re.Pattern[str], text: str) -> list[str]:
    return [" ".join(match[0].rstrip("(").split()) for match in pattern.finditer(text)]


def _cases(code: str, family: str) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases, each from its head to where the indentation falls back to it, and the lines in none of them."""
    lines, heads = code.split("\n"), _HEADS[family]
    starts: dict[int, str] = {}
    line, position = 0, 0
    for match in heads.finditer(code):
        group = next((at for at in range(1, heads.groups + 1) if match[at] is not None), 0)
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
        cases.append(Case(name, body[1:], _asserting(body), quits(body[1:], family)))
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
