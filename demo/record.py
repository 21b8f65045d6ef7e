"""`python -m demo.record`: runs the demo and writes what it prints as an animated picture, `docs/pictures/demo.svg`.

The picture is a terminal with the lines of a real run at their times; only long waits are shortened."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from demo.main import SCENARIOS, Stop, play
from demo.narrator import Story

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "demo.svg"
COLUMNS = 112
ROWS = 26
MIN_GAP_S = 0.08
MAX_GAP_S = 1.2
END_S = 6.0
"""How long the last screen stands before the picture starts again."""

_FONT_PX, _ROW_PX, _PADDING_PX, _BAR_PX = 13, 18, 14, 30
_COLUMN_PX = 7.9
"""A little wider than a character of common monospaced fonts of that size, so that no line is cut off."""
_CLASSES = (
    (re.compile(r"^\S"), "h"),
    (re.compile(r"✓|^  #.*: (?:proof: proven|finished: success$)"), "g"),
    (re.compile(r"✗"), "r"),
    (re.compile(r"proof: |not proven|neutral"), "y"),
    (re.compile(r"https?://"), "b"),
)
_STYLE = """\
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d1d7e0;white-space:pre}
.h{fill:#fff;font-weight:600}.g{fill:#57ab5a}.r{fill:#f47067}.y{fill:#daaa3f}.b{fill:#539bf5}
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output, in seconds after the start."""

    at_s: float
    text: str


class Recorder(Story):
    """Prints a story and remembers each of its lines with its time."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self._start = time.monotonic()

    def say(self, text: str, style: str = "") -> None:
        super().say(text, style)
        at_s = time.monotonic() - self._start
        self.lines += (Line(at_s, part) for part in text.split("\n"))


def paced(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines with every gap between `MIN_GAP_S`, so that each can be seen, and `MAX_GAP_S`; the first at once."""
    at_s = 0.0
    yield from (Line(at_s, line.text) for line in lines[:1])
    for previous, line in pairwise(lines):
        at_s += min(max(line.at_s - previous.at_s, MIN_GAP_S), MAX_GAP_S)
        yield Line(at_s, line.text)


def wrapped(lines: Iterable[Line]) -> Iterator[tuple[Line, str]]:
    """Each row of the terminal with its class of colour; a long line takes several rows."""
    for line in lines:
        color = next((name for pattern, name in _CLASSES if pattern.search(line.text)), "")
        indent = " " * (len(line.text) - len(line.text.lstrip()) + 2)
        rows = textwrap.wrap(line.text, COLUMNS, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)
        for row in rows or [""]:
            yield Line(line.at_s, row), color


def _keyframes(name: str, property_of: Sequence[tuple[float, str]], total_s: float) -> str:
    steps = {f"{100 * at_s / total_s:.2f}%": value for at_s, value in property_of}
    return f"@keyframes {name}{{" + "".join(f"{at}{{transform:{value}}}" for at, value in steps.items()) + "}\n"


def terminal(lines: Sequence[Line], title: str) -> str:
    """The SVG of a terminal in which the lines appear. A reader who prefers no motion sees the last screen."""
    rows = list(wrapped(paced(lines)))
    total_s = rows[-1][0].at_s + END_S
    width, height = round(COLUMNS * _COLUMN_PX + 2 * _PADDING_PX), ROWS * _ROW_PX + 2 * _PADDING_PX
    seen = [(row.at_s, index + 1) for index, (row, _) in enumerate(rows)]
    cover = [(at, f"translateY({min(n, ROWS) * _ROW_PX}px)") for at, n in seen]
    scroll = [(at, f"translateY({-max(n - ROWS, 0) * _ROW_PX}px)") for at, n in seen]
    texts = "\n".join(
        f'<text x="0" y="{index * _ROW_PX + _FONT_PX}"{f" class={chr(34)}{color}{chr(34)}" if color else ""}>'
        f"{escape(row.text)}</text>"
        for index, (row, color) in enumerate(rows)
        if row.text
    )
    motion = f"{total_s:.1f}s step-end infinite"
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + _BAR_PX}" width="{width}" role="img">
<title>{escape(title)}</title>
<style>
{_STYLE}{_keyframes("cover", cover, total_s)}{_keyframes("scroll", scroll, total_s)}
#cover{{animation:cover {motion};transform:{cover[-1][1]}}}
#rows{{animation:scroll {motion};transform:{scroll[-1][1]}}}
@media (prefers-reduced-motion:reduce){{#cover,#rows{{animation:none}}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#22272e"/>
<g fill="#545d68"><circle cx="18" cy="16" r="5"/><circle cx="36" cy="16" r="5"/><circle cx="54" cy="16" r="5"/></g>
<text x="76" y="20">{escape(title)}</text>
<svg x="{_PADDING_PX}" y="{_BAR_PX + _PADDING_PX}" width="{width - 2 * _PADDING_PX}" height="{ROWS * _ROW_PX}">
<g id="rows">
{texts}
</g>
<rect id="cover" width="100%" height="100%" fill="#22272e"/>
</svg>
</svg>
"""


def main() -> int:
    """Plays a scenario and writes its picture; 0 if the scenario ended as promised, else 1."""
    parser = argparse.ArgumentParser(prog="python -m demo.record", description="record the demo as an animated SVG")
    parser.add_argument("--scenario", choices=list(SCENARIOS), default="issues")
    parser.add_argument("--output", type=Path, default=PICTURE)
    options = parser.parse_args()
    recorder, stop = Recorder(), Stop()
    try:
        missing = play(SCENARIOS[options.scenario](), recorder, stop)
    finally:
        stop.close()
    command = "make demo" if options.scenario == "issues" else f"make demo SCENARIO={options.scenario}"
    if not missing:
        options.output.write_text(terminal([Line(0.0, f"$ {command}"), *recorder.lines], command), encoding="utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
