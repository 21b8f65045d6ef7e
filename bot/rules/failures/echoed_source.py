"""Finds the lines of a log that are not the tool's own messages: source code around an error, values of variables,
and output of tests. A docstring or a `raise` in there looks like an error that the check did not report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

_HEADING = re.compile(r"=+ (?P<title>.+?) =+$")
_TEST = re.compile(r"_{1,200} (?=.*[^_ ]).* _{1,200}$")
_CAPTURED = re.compile(r"-+ Captured \w.* -+$")
_FAILED_AT = re.compile(r"E  |\S+\.py:\d+: (?:assert |[\w.]*(?:Error|Exception|Exit|Failed)\b)")
_VALUE = re.compile(r"\w+ += |\d{3} ")
"""An argument of a function, and a line of a doctest, as pytest's long form shows them."""
_FILE = re.compile(r'(\s*)File "[^"]{1,400}", line \d+')
_MARKS = re.compile(r"\s*(?:[~^][~^ -]*|\^-+\^? SC\d{4} \(.*)$|\t\S{1,400}\.go:\d+(?: \+0x[0-9a-f]+)?$")
"""What points into the line above, and the place of the Go call that stands there."""
_UNITTEST = re.compile(r"(?:ERROR|FAIL): \S+ \(")
_DIFFERENCE = re.compile(r"\s*- Expected(?:\s+- \d+)?$")

_FRAMED = re.compile(
    r"^\s*(?:\[error\]\s+)?(?:>\s*)?\d*\s*[|│┃](?! (?:Error|Warning): )"  # beside a bar, behind which Terraform speaks
    r"|^(?:\[error\]\s+)?>\s|^\s*(?:\[error\]\s+)?\d+ +[-+~] "  # what a fix would change
    r"|^\s+(?:at|raise|throw)\s|^\s*File \"|^\s*[╰╭]"
)
_FRAME = re.compile(
    r":\d+: in \S+$|: note: (?!.*\[SC\d{4}\]$)|^\s*❯ .*(?::\d+:\d+$|\(\d+ tests?\b)|^\t\S+\.go:\d+(?: \+0x|$)|^panic\("
    r"|^\s+\d+: \S*::|^\s*\w*Error \{$|^\s*= (?:note|help): "
)

_Region = Literal["", "failed", "passed"]
_REGIONS: dict[str, _Region] = {
    **dict.fromkeys(("FAILURES", "ERRORS"), "failed"),
    **dict.fromkeys(("PASSES", "XFAILURES", "XPASSES"), "passed"),
}
"""Parts of pytest's output by their titles."""


def is_framed(line: str) -> bool:
    """Whether a line by itself is one of code or of a stack."""
    return _FRAMED.match(line) is not None or _FRAME.search(line) is not None


class Echoes:
    """Tracks the parts of a log while its lines are read in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._region: _Region = ""
        self._captured = False
        self._deeper = -1  # a Python frame shows lines that are indented more than this
        self._compared = 0  # 1 in the head of a comparison, 2 in its lines

    def hides(self, index: int) -> bool:
        """Whether the line echoes source. Call it for every line, in order, empty ones included."""
        line = self._lines[index]
        if not line:
            self._compared = 0 if self._compared == 2 else self._compared
            return False
        first = line[0]
        if first in "=_-" and self._opens(line):
            return True
        if self._captured and _FAILED_AT.match(line):  # `--tb=line` has no headings
            self._captured = False
        if self._region == "passed" or self._captured:
            return True
        if self._region == "failed" and first != "E":
            return first in " \t>" or _VALUE.match(line) is not None
        return self._is_shown(line) or self._is_docstring(index)

    def marked(self, index: int) -> bool:
        """Whether the line below does nothing but point into this one: it is source then, whatever it holds."""
        line, *below = self._lines[index : index + 2]
        return bool(below and below[0]) and _MARKS.match(below[0]) is not None and not _MARKS.match(line)

    def _opens(self, line: str) -> bool:
        """Whether the line heads a part of pytest's output, which is noted then."""
        heading = _HEADING.match(line)
        if heading is not None:
            self._region, self._captured = _REGIONS.get(heading["title"], ""), False
        elif _TEST.match(line) and (self._region or line.startswith("___")):
            # the beginning of a long log may have been cut
            self._region, self._captured = self._region or "failed", False
        elif self._region and _CAPTURED.match(line):
            self._captured = True
        else:
            return False
        return True

    def _is_shown(self, line: str) -> bool:
        """Whether the line is source below a Python frame or of two values that are compared."""
        if 'File "' in line and (found := _FILE.match(line)):
            self._deeper = len(found[1])
            return True
        if self._deeper >= 0:
            if len(line) - len(line.lstrip()) > self._deeper:
                return True
            self._deeper = -1
        if "- Expected" in line and _DIFFERENCE.match(line):
            self._compared = 1
            return True
        if self._compared:
            if line.lstrip().startswith("+ Received"):
                return True
            self._compared = 2 if line[0] in " \t-+" else 0
        return self._compared == 2

    def _is_docstring(self, index: int) -> bool:
        """Whether unittest shows the first line of a test's docstring here, below its name."""
        around = self._lines[index - 1 : index + 2] if index else ()
        return len(around) == 3 and around[2].startswith("-----") and _UNITTEST.match(around[0]) is not None
