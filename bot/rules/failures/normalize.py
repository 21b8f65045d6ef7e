"""Normalises errors, so that the same error has the same text on every machine and day. Parts that change between
two runs are masked (directories, positions, addresses, ids, times, temporary names). Parts that distinguish errors
stay: base names, error codes, numbers in the message (REQ-RA-310)."""

from __future__ import annotations

import re

from bot.rules.failures.log_lines import plain
from bot.rules.failures.opposite_values import masked_values

LIMIT = 200
_READ = 4_000
"""Characters looked at: the answer has at most LIMIT, and masks only shorten what is long."""

_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_QUOTED_PATH = re.compile(r"""(["'])((?:/|~/|[A-Za-z]:[\\/])[^"'<>\n]{1,400})\1""")
_TOKEN = re.compile(r"""<PATH>/[^\s"'`()<>\[\]{},;|=]*+|[^\s"'`()<>\[\]{},;|=]++""")
_LOCAL_URL = re.compile(r"^(?:file|webpack|webpack-internal|vite|app)://(?=/)")
_ROOTED = re.compile(r"^(?:[A-Za-z]:[\\/]|\.{0,2}/|~/|\.{1,2}\\)")
_TEMPORARY = re.compile(
    r"^(?:/private)?/(?:var/)?tmp/|^(?:/private)?/var/folders/|[\\/]AppData[\\/]Local[\\/]Temp[\\/]", re.IGNORECASE
)

_ASSERTS = re.compile(
    r"\b[Aa]ssert|\b[Ee]xpected\b|\b[Rr]eceived\b|\bto (?:be|equal|deeply|strictly|match)\b|[!=]==?\s|\bwant\b",
    re.ASCII,
)
"""A line that compares values: what it quotes is a value then, and two paths are two errors."""
_VALUE = re.compile(r"""((?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|`[^`\n]*`)""")
_MACHINE = re.compile(
    r"""['"`](?:file://)?(?:/(?:home|Users|root|tmp|private|builds|srv|opt|usr|workspaces?|var/(?:tmp|lib|folders))/|~/|[A-Za-z]:[\\/])"""
)
"""A quoted path that is another one on each machine, whatever it is compared with."""

_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?\s)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?"
_STAMP_CLOCK = r"\d\d[:-]\d\d(?:[:-]\d\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\b)?"
_UNIT = r"(?:(?:[nuµμm]|nano|micro|milli)?(?:s|secs?|seconds?)|min(?:ute)?s?|hrs?|hours?|days?)"
_HEX = "[0-9a-f]"
_WORD = "[0-9A-Za-z]"
_AT = r"\d{1,7}(?:[:-]\d{1,7}){0,3}"
_SOURCE = (
    "py|pyi|jsx?|tsx?|[cm]js|[cm]ts|vue|svelte|astro|go|rs|java|kts?|scala|cc?|cpp|cxx|hpp|hh?|mm?|cs|fs|vb|rb|php|"
    "p[lm]|lua|swift|dart|exs?|[eh]rl|hs|mli?|clj|sh|bash|sql|html?|s?css|sass|less|jsonc?|ya?ml|toml|xml|md|txt|ini|"
    "cfg|proto|sol|zig|rst|tex|tf|gradle|groovy"
)

_TIMES = (
    rf"(?<!\d)\d{{4}}[-/]\d\d[-/]\d\d(?:[T ,_]{{1,2}}{_STAMP_CLOCK}{_ZONE})?(?!\d)",
    rf"(?<!\w)\d{{1,2}}/{_MONTH}/\d{{4}}(?::{_CLOCK}{_ZONE})?",
    rf"(?<!\w){_DAY}{_MONTH}\s\d{{1,2}},?\s(?:\d{{4}},?\s)?{_CLOCK}{_ZONE}(?:\s\d{{4}})?",
    rf"(?<!\w){_DAY}{_MONTH}\s\d{{1,2}},?\s\d{{4}}(?!\d)",
    rf"(?<!\w){_DAY}\d{{1,2}}\s{_MONTH}\s\d{{4}}(?:,?\s{_CLOCK}{_ZONE})?",
    r"(?<![\w.])\d{1,2}[./]\d{1,2}[./]\d{4}(?![\w.])",
    rf"(?<![\w.:]){_CLOCK}(?:\s?[AP]M\b)?{_ZONE}(?![\w:])",
    r"(?<![\w.:])\d{1,2}:\d\d\s?[AP]M\b",
    r"(?<![\w.])1[4-9]\d{8}(?:\d{3})?(?![\w.])",  # seconds or milliseconds since 1970, from 2014 to 2033
    rf"(?<![\w.:,])(?:\d{{1,4}}h\s?)?(?:\d{{1,4}}m\s?)?\d{{1,12}}(?:[.,]\d{{1,9}})*\s?{_UNIT}\b",
    r"(?<![\w.:,])\d{1,4}h(?:\s?\d{1,4}m)?\b",
)

# (what to find, what to write instead), in this order: each may rely on those before it
_MASKS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        *((pattern, "<TIME>") for pattern in _TIMES),
        (rf"(?<!{_WORD})(?i:{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})(?!{_WORD})", "<ID>"),
        (r"\bsha(?:1|256|384|512)-[A-Za-z0-9+/]{20,}={0,2}", "<ID>"),
        # an address, but no Windows status or HRESULT, which are error codes
        (rf"\b0x(?i:(?!(?:c000|800[0-9]){_HEX}{{4}}\b){_HEX}{{5,16}})\b", "<ADDR>"),
        (rf"\+0x{_HEX}{{1,16}}\b", "+<ADDR>"),
        (rf"(?<![0-9A-Za-z#])(?=[a-f]*[0-9])(?=[0-9]*[a-f]){_HEX}{{7,128}}(?!{_WORD})", "<ID>"),
        (rf"(?<![0-9A-Za-z#])(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{{12,128}}(?!{_WORD})", "<ID>"),
        (r"(?i:\b(pid|process))([ =:#]{1,2})\d{1,8}\b", r"\1\2<ID>"),
        (r"(\bthread '[^']{0,200}' \()\d{1,20}(?=\) panicked\b)", r"\1<ID>"),
        (r"\s\[\s{0,2}\d{1,3}%\]$", ""),  # how far the tests have come
        # a port of five digits was drawn at random, as a rule; 5432 or 6379 names the missing service
        (r"((?:\blocalhost|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]|(?<!\w)::1):)\d{5}\b", r"\1<PORT>"),
        (rf"\btmp(?=[a-z_]{{0,7}}[0-9])[a-z0-9_]{{8}}(?!{_WORD})|\btmp\.[A-Za-z0-9]{{6,10}}\b", "<TMP>"),
        (rf"(<PATH>/[^\s:\"'()]*+):{_AT}", r"\1:<POS>"),
        (rf"(\w\.(?:{_SOURCE})):{_AT}\b", r"\1:<POS>"),
        (r"(?<=[^\s\d:]):\d{1,7}:\d{1,7}(?:[-:]\d{1,7}){0,2}\b", ":<POS>"),
        (r"(\w\.[A-Za-z][A-Za-z0-9]{0,9})\(\d{1,7}(?:,\s?\d{1,7}){0,3}\)(?=:)", r"\1(<POS>)"),
        (
            r"\b((?i:(?:end_?)?(?:lines?|columns?|cols?)|char(?:acter)?|position))([ :=#]{1,2})\d{1,9}(?:-\d{1,9})?\b",
            r"\1\2<POS>",
        ),
        (r"^\d{1,7}:\d{1,7}(?:-\d{1,7}:\d{1,7})?(?=\s)", "<POS>"),
        (r"^(>\s?)?\d{1,7}\s?\|", r"\1<POS> |"),
        (r"^(?:\[?<TIME>\]?:?\s)+", ""),  # a log's own clock in front of the line
    )
)

_FAILED = "FAILED "
_PARTED = " - "
_NAME = 120
"""Characters of a test's name: what is wrong with it needs the rest."""

_NAME_MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![\w.])(?:/|~/|[A-Za-z]:[\\/])[^\s:\[\]]*[\\/](?=[^\s:\[\]/\\]*\.[A-Za-z])"), "<PATH>/"),
    (re.compile(rf"\b0x(?i:{_HEX}{{5,16}})\b"), "<ADDR>"),
    (re.compile(r" in \d{1,9}(?:\.\d{1,9})?\s?m?s$"), " in <TIME>"),
    (re.compile(r"\(line \d{1,7}\)$"), "(line <POS>)"),  # where Rust's documentation has the example
)


def normalize_error(text: str) -> str:
    """The error as one line of at most 200 characters, trimmed, with what changes between runs masked (REQ-RA-310).

    A failed test's error (`test_error`) is identified by the test's name, which keeps its directories below the
    project: many files are called `index.test.ts`."""
    line = " ".join(plain(text[:_READ]).split())
    if line.startswith(_FAILED):
        name, parted, message = line.removeprefix(_FAILED).partition(_PARTED)
        return _cut(f"{_FAILED}{_named(name)}{parted}{_masked(message)}")
    return _cut(_masked(line))


def _masked(line: str) -> str:
    if _ASSERTS.search(line):
        parts = _VALUE.split(line)  # every second one is quoted
        line = "".join(
            part if at % 2 and not _MACHINE.match(part) else _pathless(part) for at, part in enumerate(parts)
        )
    else:
        line = _pathless(line)
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    return line


def _pathless(text: str) -> str:
    text = _QUOTED_PATH.sub(lambda match: f"{match[1]}{_without_directories(match[2])}{match[1]}", text)
    return _TOKEN.sub(lambda match: _without_directories(match[0]), text)


def _named(name: str) -> str:
    for pattern, mask in _NAME_MASKS:
        name = pattern.sub(mask, name)
    return name if len(name) <= _NAME else f"{name[: _NAME // 2]}…{name[1 - _NAME // 2 :]}"


def _cut(line: str) -> str:
    return line[:LIMIT].strip()


def test_error(name: str, message: str) -> str:
    """The error of a failed test: `FAILED name - message`, as pytest sums it up, whichever runner it was.

    The name stays as it is, but for what differs between two runs or machines: rows such as `[10 ms]` identify
    tests. Where it has the text that parts the two, that is written otherwise."""
    shown = " ".join(plain(name).split()).replace(_PARTED, " – ")
    return normalize_error(f"{_FAILED}{shown}{_PARTED if message else ''}{message}")


def test_of(error: str) -> str:
    """What identifies the failed test of an error, whatever was wrong with it; empty for an error of no test."""
    return error.partition(_PARTED)[0] if error.startswith(_FAILED) else ""


def loose_key(text: str) -> str:
    """The looser key, for when the exact one finds nothing: quoted strings and all numbers masked as well.

    Codes such as TS2345 stay, and so does what makes an error another's opposite (`rules.failures.opposite_values`); a
    normalised text gives the same key as the text it came from."""
    return masked_values(normalize_error(text))[:LIMIT].strip()


def _without_directories(token: str) -> str:
    """The token with `<PATH>` for the directories if it is a path: a rooted one, or a relative one to a file.

    What only looks like one stays: `and/or`, `import/no-unresolved`, `@scope/package`, addresses of the web."""
    if token.startswith("<PATH>") or ("/" not in token and "\\" not in token):
        return token
    local = _LOCAL_URL.sub("", token)
    if "://" in local:
        return token
    colon = local.find(":", 2)  # past a drive's
    head, rest = (local, "") if colon < 0 else (local[:colon], local[colon:])
    stem = head.rstrip(".!?")
    stem, rest = stem.rstrip("/\\"), head[len(stem) :] + rest
    cut = max(stem.rfind("/"), stem.rfind("\\"))
    base = stem[cut + 1 :]
    extension = _EXTENSION.search(base)
    if cut < 0 or not base or not (extension or (cut > 0 and _ROOTED.match(stem))):
        return token
    if extension is None and _TEMPORARY.match(stem):
        base = "<TMP>"
    return f"<PATH>/{base}{rest}"
