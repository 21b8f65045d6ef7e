"""Selects the frame of a stack to show: the frame in the tree's own files that is nearest to the error. Python
prints the error below its stack; JavaScript, Go and Rust print it above theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.rules.failures.findings import NEAR, Finding
from bot.rules.failures.places import Place

_GAPS = {"javascript": 1, "go": 2, "vitest": 12}
"""Lines from one frame of a stack to the next; Go writes a call above each, Vitest some code below."""

_PYTHON_GAP = 12
_PYTEST_GAP = 300
"""Pytest's long form shows the whole function between two frames."""

_ERROR = re.compile(r"^\s*(?:E\s+|Uncaught\s)?[\w.]*(?:Error|Exception|Failure|Exit|Interrupt)\b(?:\s\[\w+\])?(?::|$)")
_CODE = re.compile(r"\s*(?:\d+ *)?\|")


def placed_findings(places: Iterable[Place], lines: Sequence[str]) -> Iterator[Finding]:
    """The findings of a log in order, with paths in the tree, each stack as one finding with the error's message."""
    log = _Stacks(lines)
    for index, finding, path in places:
        yield from log.ended(index, finding, path)
        here = None if path is None else finding if path == finding.path else finding._replace(path=path)
        if finding.frame in ("python", "pytest"):
            log.below(index, here)
        elif finding.frame in ("javascript", "vitest", "go"):
            yield from log.above(index, finding, here)
        elif finding.frame == "rust_backtrace":
            yield from log.after_rust_panic(here)
        elif here is not None:
            yield here
        if finding.frame == "rust_panic":
            log.rust_panic, log.rust_panic_placed = finding, here is not None
    yield from log.rest()


class _Stacks:
    """Tracks the stacks while a log is read."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.rust_panic: Finding | None = None
        self.rust_panic_placed = False
        self._lines = lines
        self._pending: Finding | None = None  # the deepest frame so far of a Python stack, which ends at the error
        self._pending_at = 0
        self._shown: set[tuple[str, int]] = set()  # places of frames; the same one again is the same stack, or as good
        self._shown_at = -_PYTEST_GAP  # the last line of a stack of which a frame was shown

    def ended(self, index: int, finding: Finding, path: str | None) -> Iterator[Finding]:
        """The frame of the Python stack that ends before this finding."""
        pending = self._pending
        if pending is None or self._goes_on(pending, index, finding):
            return
        self._pending = None
        if finding.frame != "crash" or pending.frame != "pytest":
            yield self._with_message(pending, self._pending_at)
        elif path is None:  # it went wrong in somebody else's code, which this frame called
            yield pending._replace(message=finding.message, title=finding.title)

    def below(self, index: int, here: Finding | None) -> None:
        if here is not None or self._pending is not None:
            self._pending, self._pending_at = here or self._pending, index

    def above(self, index: int, finding: Finding, here: Finding | None) -> Iterator[Finding]:
        """The frame, if it is the first of its stack in the tree."""
        gap = index - self._shown_at
        between = self._lines[self._shown_at + 1 : index] if gap <= _GAPS[finding.frame] else ()
        goes_on = gap <= _GAPS[finding.frame]
        if finding.frame == "vitest":
            goes_on = goes_on and all(not line or _CODE.match(line) for line in between)
        if goes_on:
            self._shown_at = index
        elif here is not None:
            self._shown_at = index
            if (here.path, here.line) not in self._shown:
                self._shown.add((here.path, here.line))
                yield self._with_message(here, index)

    def after_rust_panic(self, here: Finding | None) -> Iterator[Finding]:
        """The frame, if neither the panic itself nor a frame above was in the tree."""
        if here is not None and not self.rust_panic_placed:
            self.rust_panic_placed = True
            panic = self.rust_panic
            yield here if panic is None else here._replace(message=panic.message, title=panic.title)

    def rest(self) -> Iterator[Finding]:
        if self._pending is not None:
            yield self._with_message(self._pending, self._pending_at)

    def _goes_on(self, pending: Finding, index: int, finding: Finding) -> bool:
        if pending.frame == "pytest":
            return finding.frame != "crash" and index - self._pending_at <= _PYTEST_GAP
        if finding.frame != "python" or index - self._pending_at > _PYTHON_GAP:
            return False
        quoted = self._lines[index].startswith("E ")  # pytest quotes a whole traceback so
        between = self._lines[self._pending_at + 1 : index]
        return quoted or all(not line or line[0] in " \t|" for line in between)

    def _with_message(self, frame: Finding, index: int) -> Finding:
        message, title = _frame_message(self._lines, index, frame.frame)
        return frame._replace(message=message, title=title)


def _frame_message(lines: Sequence[str], index: int, frame: str) -> tuple[str, str]:
    """(message, title) of the error whose stack has a frame at `index`."""
    above = range(index - 1, max(-1, index - NEAR), -1)
    if frame in ("python", "pytest"):
        below = lines[index + 1 : index + NEAR]
        message = next((text for text in below if _ERROR.match(text) or text.startswith("E  ")), "")
        return re.sub(r"^E\s+", "", message).strip(), ""
    if frame == "go":
        panics = (lines[at].strip() for at in above if lines[at].lstrip().startswith(("panic: ", "fatal error: ")))
        return next(panics, ""), ""
    nearest = ""
    for at in above:
        text = lines[at].strip()
        if text.startswith("● "):
            title = text[2:]
            return next((line.strip() for line in lines[at + 1 : index] if line), title), title
        if _ERROR.match(text):
            more = next((line.strip() for line in lines[at + 1 : index] if line), "") if text.endswith(":") else ""
            return f"{text} {more}".strip(), ""
        if text and not nearest and not text.startswith(("at ", "❯ ", "|")):
            nearest = text
    return nearest, ""
