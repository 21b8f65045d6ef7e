"""Places named in tool output, as annotations of files in the tree: what a check run shows beside the code.
Nothing outside the tree is named and no more than a check run can carry (T40)."""

# `from __future__ import annotations` would take the name of the function below
import re
from collections.abc import Iterator
from dataclasses import replace

from bot.model import Annotation
from bot.rules.log_lines import log_lines
from bot.rules.matchers import MATCHERS, Finding, Here, frame_message, hints_at_place

MOST = 200
"""Annotations of one output (T40); GitHub takes 50 a call."""

_FOREIGN = frozenset({".git", "node_modules", "site-packages", "dist-packages", ".venv", ".tox", ".nox", "__pycache__"})
_CONTROL = re.compile(r"[\x00-\x1f]")
_WINDOWS = re.compile(r"^[A-Za-z]:/")
_STACK_GAP = 4
"""Lines between two frames of one Python stack: the frame, its code, its markers."""


def annotations(output: str, stage: str, tree: str, limit: int = MOST) -> tuple[Annotation, ...]:
    """The findings in a tool's output, first come first, each once, at most `limit`.

    `tree` is the absolute path of the work tree; places outside it, and in what was installed into it, are dropped.
    Paths are relative with `/`, lines count from 1. `stage` titles what brings no title of its own."""
    lines = log_lines(output)
    seen: dict[tuple[str, int, str], Finding] = {}
    whole_files: dict[tuple[str, int, str], Finding] = {}
    for finding in _in_tree(lines, tree):
        place = whole_files if finding.whole else seen
        place.setdefault((finding.path, finding.line, finding.message), finding)
        if len(seen) >= limit or len(whole_files) >= limit:
            break
    located = {path for path, _, _ in seen}
    for key, finding in whole_files.items():  # a summary's line says less than the place it summarises
        if finding.path not in located:
            seen.setdefault(key, finding)
    return tuple(_annotation(finding, stage) for finding in seen.values())[:limit]


def relative_path(path: str, tree: str) -> str | None:
    """The path relative to the tree, with `/` and without `.` and `..`; None for what lies outside or isn't ours."""
    path = path.removeprefix("file://").replace("\\", "/")
    root = tree.replace("\\", "/").rstrip("/")
    if path.startswith("/") or _WINDOWS.match(path):
        if not root or not path.startswith(root + "/"):
            return None
        path = path[len(root) + 1 :]
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts or not _FOREIGN.isdisjoint(parts) or _CONTROL.search(path):
        return None
    return "/".join(parts)


def _in_tree(lines: list[str], tree: str) -> Iterator[Finding]:
    """The findings inside the tree with their messages; of a stack the frame that is nearest to the error."""
    pending: Finding | None = None  # the deepest frame so far of a Python stack, which ends at the error
    pending_at = 0
    stack_told_at = -2  # the last line of a JavaScript stack of which a frame has been told
    told: set[tuple[str, int]] = set()  # places of frames; the same one again is the same stack, or as good as
    for index, found in _found(lines):
        path = relative_path(found.path, tree)
        if pending is not None and (found.frame != "python" or index - pending_at > _STACK_GAP):
            yield _with_message(pending, lines, pending_at)
            pending = None
        if found.frame == "javascript" and index - stack_told_at == 1:
            stack_told_at = index
        elif path is None:
            pending_at = index if pending is not None else pending_at
        elif not found.frame:
            yield replace(found, path=path)
        elif (path, found.line) not in told:
            told.add((path, found.line))
            here = replace(found, path=path)
            if found.frame == "python":
                pending, pending_at = here, index
            else:
                stack_told_at = index
                yield _with_message(here, lines, index)
    if pending is not None:
        yield _with_message(pending, lines, pending_at)


def _found(lines: list[str]) -> Iterator[tuple[int, Finding]]:
    header = ""
    for index, line in enumerate(lines):
        if not line:
            continue
        if line[0] not in " \t":
            header = line
        if not hints_at_place(line):
            continue
        for guard, pattern, reader in MATCHERS:
            match = pattern.match(line) if guard in line else None
            finding = reader(match, Here(lines, index, header)) if match is not None else None
            if finding is not None:
                yield index, finding
                break


def _with_message(frame: Finding, lines: list[str], index: int) -> Finding:
    message, title = frame_message(lines, index, frame.frame)
    return replace(frame, message=message, title=title)


def _annotation(finding: Finding, stage: str) -> Annotation:
    return Annotation(
        path=finding.path,
        start_line=finding.line,
        end_line=finding.end_line,
        level=finding.level,
        message=finding.message or "problem reported here",
        title=(finding.title or finding.rule or stage)[:255],
        rule=finding.rule,
    )
