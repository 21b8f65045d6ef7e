"""The problem matchers: a literal table of the shapes in which tools write a place and what is wrong there.
The first row that fits a line decides; `findings` has what reads it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from bot.rules.failures import findings
from bot.rules.failures.findings import LEVEL_WORD, Reader

_START_HINT = re.compile(
    r"[ \t]+(?:\d+(?::\d| \|)|\[\d|\^--|[✖⚠×ℹ]\s+\d)|FAILED |ERROR|[Ww]ould reformat|\[warn\] |rspec "
    r"|\[error\] |L: +\d|\^--|[A-Z](?:: +|\d\d\d )\d"
)


_HINTS = (
    re.compile(
        r"[:(\[](?:(?<![\d\s].)\d|(?<=\.[A-Za-z]\d.)\d|(?<=\.[A-Za-z]\d\d.)\d|(?<=:) \(\d|(?<=\()\d+:\d+\)$)",
        re.MULTILINE,
    ),
    re.compile(rf"\n(?:{_START_HINT.pattern}|::)"),
    re.compile(" line "),
    re.compile("panicked at"),
)


def hinting_lines(lines: Sequence[str]) -> list[int]:
    """The indexes of the lines for which `hints_at_place` holds, in order; much quicker than asking line by line."""
    text = "\n" + "\n".join(lines)
    ends = list(accumulate(len(line) + 1 for line in lines))  # where, in the text, the line break after it is
    return sorted({bisect_left(ends, match.end() - 1) for hint in _HINTS for match in hint.finditer(text)})


def hints_at_place(line: str) -> bool:
    """Whether a line may name a place: a quick look that lets most of a log pass at little cost."""
    return any(hint.search("\n" + line) for hint in _HINTS)


_PATH = r"(?P<path>(?:[A-Za-z]:(?=[\\/])|file://)?[^\s:()\[\]\"'<>|,;=*]{1,400})"
_PLACE = r":(?P<line>\d{1,7})(?::\d{1,7})?(?:[-:](?P<end>\d{1,7})(?::\d{1,7})?)?"

_ANYWHERE = r"(?<![\w./\\@+~-])(?P<path>[\w./\\@+~-]{1,300}\.[A-Za-z]\w{0,9})"


# (a text that the line must hold, asked first because it is cheap; the shape; what reads it)
MATCHERS: tuple[tuple[str, re.Pattern[str], Reader], ...] = tuple(
    (guard, re.compile(pattern), reader)
    for guard, pattern, reader in (
        # by far the most common shape; the rows before the general one of its kind can't fit it
        (":", rf"^(?P<path>[\w./\\@+~-]*\.[A-Za-z]\w{{0,9}}){_PLACE}(?P<rest>(?:[:\s,].*)?)$", findings.read_colon),
        # lists below a file's name
        ("L: ", r"^L: +(?P<line>\d{1,7}) \| P: +\d+ \| +(?P<rule>\w{1,20}) \| (?P<rest>.+)", findings.read_listed),
        (": ", r"^(?P<level>[CREWFI]): *(?P<line>\d{1,7}): *\d+: (?P<rest>.+)", findings.read_listed),
        (":", r"^(?P<rule>[A-Z]\d{3}) (?P<line>\d{1,7}):\d+ (?P<rest>.+)", findings.read_listed),
        ("^--", r"^\s*\^-+\^? (?P<rule>SC\d{4}) \((?P<level>\w+)\): (?P<rest>.+)", findings.read_marked),
        # a place in a headline, or at an end
        (
            "CMake ",
            rf"^CMake (?:\w+ )?(?P<level>Error|Warning)(?: \(dev\))? at {_PATH}{_PLACE}",
            findings.read_headline,
        ),
        ("]:", rf"^\s*(?P<title>[\w:]+#\S+) \[{_PATH}{_PLACE}\]:$", findings.read_headline),
        (
            "Diff in ",
            r"^Diff in (?P<path>\S{1,400}?)(?::| at line )(?P<line>\d{1,7}):?(?P<rest>)$",
            findings.read_format,
        ),
        ("Error: ", rf"^\s*\w*Error: {_PATH}: (?P<rest>.+) \((?P<line>\d{{1,7}}):\d+\)$", findings.read_described),
        (
            "[error] ",
            r"^\[error\] (?P<path>\S{1,400}): (?P<rest>\w*Error: .+) \((?P<line>\d{1,7}):\d+\)$",
            findings.read_described,
        ),
        (" line ", rf"^(?P<rest>.+) at {_PATH} line (?P<line>\d{{1,7}})(?:\.|, .*)$", findings.read_colon),
        (
            "::",
            r"^::(?P<level>error|warning|notice)(?P<values>(?:\s[^\n]*?)?)::(?P<rest>.*)",
            findings.read_workflow_command,
        ),
        ("-->", rf"^\s*-->\s*{_PATH}{_PLACE}", findings.read_arrow),
        ("─[", rf"^\s*[╭┌]─+\[\s?{_PATH}{_PLACE}", findings.read_arrow),
        ("┌─ ", rf"^\s*┌─ {_PATH}{_PLACE}", findings.read_arrow),
        (
            " ",
            r"^\s+(?P<line>\d{1,7}):\d{1,7}(?:-\d+:\d+)?\s+(?:(?P<level>error|warning|info|[✖⚠×])\s+"
            r"|(?=[A-Z]{1,8}\d{2,5} |[a-z]+-[a-z]+: ))"
            r"(?P<rest>.+)",
            findings.read_row,
        ),
        (
            " ",
            r"^\s+(?P<mark>[✖⚠×ℹ])\s+(?P<line>\d{1,7}):\d{1,7}\s+(?P<rest>.+)",
            findings.read_marked_row,
        ),
        ("]:", r"^\s+\[(?P<line>\d{1,7})(?:, \d+)*\]:(?P<level>)(?P<rest>.+)", findings.read_row),
        (" | ", r"^\s*(?P<line>\d{1,7}) \| (?P<level>ERROR|WARNING)\s*\|\s*(?:\[.\])?(?P<rest>.+)", findings.read_row),
        (
            ": line ",
            r"^(?P<path>[^\n]{1,400}?): line (?P<line>\d{1,7}), col \d+, (?P<level>\w+) - (?P<rest>.+)",
            findings.read_described,
        ),
        (
            " on line ",
            rf"^{_PATH} - (?P<level>ERROR|WARNING): (?P<rest>.+) on line (?P<line>\d{{1,7}})",
            findings.read_described,
        ),
        (
            " on line ",
            rf"^(?:PHP )?(?P<level>\w+(?: \w+)?): +(?P<rest>.+) in {_PATH} on line (?P<line>\d{{1,7}})",
            findings.read_described,
        ),
        (": line ", rf"^{_PATH}: line (?P<line>\d{{1,7}})(?:, col \d+)?[:,] (?P<rest>.+)", findings.read_colon),
        (
            'File "',
            r"^\s*(?:E\s+)?File \"(?P<path>[^\"]{1,400})\", line (?P<line>\d{1,7})",
            findings.frame_reader("python"),
        ),
        ("at ", rf"^\s*at (?:[^(\n]{{0,300}}\()?{_PATH}:(?P<line>\d{{1,7}})(?::\d+)?\)?$", findings.read_frame),
        # in the YAML of TAP a stack's frames are written without `at`
        (" (", rf"^\s+[\w.$<>\[\] ]{{1,200}} \({_PATH}:(?P<line>\d{{1,7}}):\d+\)$", findings.read_frame),
        ("❯ ", rf"^\s*❯ (?:[^\s]{{1,200}} )?{_PATH}:(?P<line>\d{{1,7}}):\d+$", findings.frame_reader("vitest")),
        (".go:", rf"^\t{_PATH}:(?P<line>\d{{1,7}})(?: \+0x[0-9a-f]+)?$", findings.frame_reader("go")),
        (
            "panicked at ",
            rf"^(?:thread '(?P<thread>[^']{{0,200}})' (?:\(\d+\) )?)?panicked at (?P<message>){_PATH}{_PLACE}:?$",
            findings.read_rust_panic,
        ),
        (
            "panicked at '",
            rf"^(?:thread '(?P<thread>[^']{{0,200}})' )?panicked at '(?P<message>.*)', {_PATH}{_PLACE}$",
            findings.read_rust_panic,
        ),
        (
            "(",
            r"^\s*(?:\[\w+\]\s+)?(?P<path>[^\s(:][^(\n]{0,400}?)(?<=\S)"
            r"\((?P<line>\d{1,7})(?:,\s?\d+)?(?:,(?P<end>\d{1,7}),\d+)?\)\s?:(?P<rest>.+)",
            findings.read_described,
        ),
        ("[", rf"^\[{_PATH}{_PLACE}\] (?P<rest>.+)", findings.read_described),
        (": (", rf"^[ew]: {_PATH}: \((?P<line>\d{{1,7}}), \d+\): (?P<rest>.+)", findings.read_described),
        (
            ":",
            r"^\s*(?:vet: |[-*✖×>] |#\d+ |# |(?!node:)[a-z][\w-]{1,20}:(?=[^\s:]{1,400}:\d)|"
            rf"\[?(?P<level>{LEVEL_WORD}|[ew])\]?:?\s+|)"
            rf"{_PATH}{_PLACE}(?P<rest>(?:[:\s,].*)?)$",
            findings.read_colon,
        ),
        ("", r"^(?:FAILED|ERROR) (?P<path>[^\s:]{1,400}\.py)(?:::\S+)?(?: - (?P<rest>.*))?$", findings.read_whole_file),
        ("rspec ", r"^rspec (?P<path>\S{1,400}):(?P<line>\d{1,7}) # (?P<rest>.+)", findings.read_whole_file),
        ("ould reformat", r"^[Ww]ould reformat:? (?P<path>\S{1,400})$", findings.read_whole_file),
        ("[warn]", r"^\[warn\] (?P<path>\S{1,400}\.\w+)$", findings.read_whole_file),
        ("ERROR: ", r"^ERROR: (?P<path>\S{1,400}\.pyi?) (?P<rest>Imports are .*)", findings.read_whole_file),
        (".", rf"^(?P<before>.*?){_ANYWHERE}:(?P<line>\d{{1,7}}):\d+", findings.read_anywhere),
    )
)

_Row = tuple[str, re.Pattern[str], Reader]
INDENTED: tuple[_Row, ...] = tuple(
    row for row in MATCHERS if row[1].pattern.startswith((r"^\s", r"^\t", "^(?P<before>"))
)
"""The rows that lines may fit which begin with white space."""

FLUSH: tuple[_Row, ...] = tuple(row for row in MATCHERS if not row[1].pattern.startswith((r"^\s+", r"^\t")))
"""The rows that all other lines may fit."""
