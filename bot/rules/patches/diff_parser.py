"""Reads unified diffs into values: which paths each part names, which modes it sets, and its hunks.
It reads what models and people write as well as what git writes: `patches` judges it, `workspace.patch` applies it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(r"index [0-9a-fA-F]+\.\.[0-9a-fA-F]+ ([0-7]+)$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_PREFIXES = ("a/", "b/", "i/", "w/", "c/", "o/")
_AFTER_HUNKS = ("@@", "diff --git ", "diff --cc ", "diff --combined ")
_OF_DIFFS = ("@@", "+", "diff --git ", "--- ", "rename ", "copy ")
DEV_NULL = "/dev/null"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. `header` is its `@@` line; `lines` keep their first character (an empty line is empty context).

    `counted` is false where the header's counts and the lines disagree; the look of the lines then decides the end."""

    header: str
    lines: tuple[str, ...]
    counted: bool

    @property
    def old_lines(self) -> tuple[str, ...]:
        """What must stand in the file, without the markers."""
        return tuple(line[1:] for line in self.lines if line[:1] in ("", " ", "-"))

    @property
    def starts(self) -> tuple[int, int] | None:
        """The line numbers (from 1) that the header gives for the old and the new side; None where it gives none."""
        found = _HUNK.match(self.header)
        return (int(found[1]), int(found[3])) if found else None

    @property
    def section(self) -> str:
        """What the header holds after its numbers: most often the start of the function the hunk is in."""
        return self.header.removeprefix("@@").rpartition("@@")[2].strip()


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's part of a diff. `names` are as written: prefixes kept, quotes undone, `/dev/null` left out.

    `moved` names come from rename and copy lines, which have no prefix."""

    names: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    new_mode: str | None = None
    creates: bool = False
    deletes: bool = False
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths it touches, sorted, read as `git apply` reads them: a prefix goes where both sides carry one."""
        if self.moved:
            return tuple(sorted(set(self.moved)))
        bare = len(set(self.names)) == 1 and len(self.names) > 1
        return tuple(sorted({name if bare else without_prefix(name) for name in self.names}))


@dataclass(slots=True)
class _Draft:
    git: bool = False
    named: bool = False
    from_line: tuple[str, ...] = ()
    names: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    new_mode: str | None = None
    creates: bool = False
    deletes: bool = False
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    def done(self) -> FileDiff:
        # spaces make the `diff --git` line ambiguous: it counts only where no other line names a path
        names = tuple(self.names) or (() if self.moved else self.from_line)
        return FileDiff(
            names, tuple(self.moved), tuple(self.modes), self.new_mode,
            self.creates, self.deletes, self.binary, tuple(self.hunks),
        )  # fmt: skip


def without_prefix(name: str) -> str:
    """The name without git's `a/` or `b/` (or a mnemonic one: i, w, c, o)."""
    return name[2:] if name.startswith(_PREFIXES) else name


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Every file's part, in order; text that belongs to none (a mail's head, a code fence) is passed over.

    Hunks before any header make a part without names. Nothing is raised: what can't be read is simply not there."""
    lines = text.split("\n")
    if len(lines) > 1 and lines[0].endswith("\r") and all(line.endswith("\r") or not line for line in lines):
        lines = [line.removesuffix("\r") for line in lines]
    return tuple(draft.done() for block in _blocks(lines) for draft in _read_block(block))


def _blocks(lines: list[str]) -> list[list[str]]:
    """What stands in code fences, where the diff is given in them; else all of it, as a file may hold fences too."""
    blocks: list[list[str]] = []
    rest = lines
    while (opening := next((at for at, line in enumerate(rest) if line.startswith("```")), None)) is not None:
        if any(line.startswith(_OF_DIFFS) for line in rest[:opening]):
            return [lines]
        rest = rest[opening + 1 :]
        closing = next((at for at, line in enumerate(rest) if line.rstrip() == "```"), len(rest))
        blocks.append(rest[:closing])
        rest = rest[closing + 1 :]
    if not blocks or any(line.startswith(_OF_DIFFS) for line in rest):
        return [lines]
    return blocks


def _read_block(lines: list[str]) -> list[_Draft]:
    drafts: list[_Draft] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("@@") and not line.startswith("@@@"):
            if not drafts:
                drafts.append(_Draft())
            hunk, at = _read_hunk(lines, at)
            drafts[-1].hunks.append(hunk)
            continue
        _read_header_line(drafts, line, lines[at + 1] if at + 1 < len(lines) else "")
        at += 1
    return drafts


def _read_header_line(drafts: list[_Draft], line: str, following: str) -> None:
    line = line.removesuffix("\r")
    if line.startswith(("diff --git ", "diff --cc ", "diff --combined ")):
        drafts.append(_Draft(git=True, from_line=_git_line_names(line.split(" ", 2)[2])))
        return
    current = drafts[-1] if drafts else None
    in_git_header = current is not None and current.git and not current.hunks
    if line.startswith("--- ") and following.startswith("+++ ") and (not in_git_header or (current and current.named)):
        current = _Draft()
        drafts.append(current)
    if current is None or current.hunks:
        return
    if line.startswith("--- "):
        current.named = True
        current.creates |= _add_name(current, line)
    elif line.startswith("+++ ") and (current.git or current.named):
        current.deletes |= _add_name(current, line)
    else:
        _read_extended(current, line)


def _add_name(draft: _Draft, line: str) -> bool:
    """Notes the name of a `---` or `+++` line; true where it is /dev/null."""
    name = _name(line[4:])
    if name != DEV_NULL:
        draft.names.append(name)
    return name == DEV_NULL


def _read_extended(draft: _Draft, line: str) -> None:
    match line.split(" ", 3):
        case ["old", "mode", mode]:
            draft.modes.append(mode)
        case ["new", "mode", mode]:
            draft.modes.append(mode)
            draft.new_mode = mode
        case ["new", "file", "mode", mode]:
            draft.modes.append(mode)
            draft.new_mode, draft.creates = mode, True
        case ["deleted", "file", "mode", mode]:
            draft.modes.append(mode)
            draft.deletes = True
        case [("rename" | "copy"), ("from" | "to"), *_]:
            draft.moved.append(_name(line.split(" ", 2)[2]))
        case ["GIT", "binary", "patch"] | ["Binary", "files", *_]:
            draft.binary = True
        case _:
            if found := _INDEX.match(line):
                draft.modes.append(found[1])


def _name(text: str) -> str:
    """A path as a header writes it: C-quoted, or plain up to a tab (what follows is a date)."""
    if quoted := _QUOTED.match(text):
        return unquote(quoted[1])
    return text.split("\t", 1)[0]


def unquote(text: str) -> str:
    """Undoes git's C-style quoting (git-config core.quotePath); bytes that are no UTF-8 become surrogates."""
    raw = bytearray()
    at = 0
    for escape in _ESCAPE.finditer(text):
        raw += text[at : escape.start()].encode("utf-8", "surrogatepass")
        code = escape[1]
        raw += bytes([int(code, 8) & 255]) if len(code) == 3 else bytes([_ESCAPES.get(code, 63)])
        at = escape.end()
    raw += text[at:].encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "surrogateescape")


def _git_line_names(rest: str) -> tuple[str, ...]:
    """The names of `diff --git A B`; where they hold spaces, both being the same file tells where A ends, as in git."""
    if rest.startswith('"') and (first := _QUOTED.match(rest)):
        return unquote(first[1]), _name(rest[first.end() :].removeprefix(" "))
    if rest.endswith('"') and (cut := rest.find(' "')) >= 0:
        return rest[:cut], _name(rest[cut + 1 :])
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " " and without_prefix(rest[:middle]) == without_prefix(rest[middle + 1 :]):
        return rest[:middle], rest[middle + 1 :]
    cut = max(rest.find(" b/"), rest.find(" "))
    return (rest[:cut], rest[cut + 1 :]) if cut >= 0 else (rest,)


def _read_hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    """The hunk whose header stands at `at`, and the index of the first line after it.

    Where the counts are wrong, a line without a marker is a context line that has lost it, if more of the hunk
    follows: what stood after it would be lost otherwise."""
    header = _HUNK.match(lines[at])
    end = _end_by_counts(lines, at + 1, int(header[2] or 1), int(header[4] or 1)) if header else None
    if end is not None:
        return Hunk(lines[at], tuple(lines[at + 1 : end]), counted=True), end
    end = last = at + 1
    while end < len(lines) and not _ends_hunks(lines, end):
        end += 1
        if lines[end - 1] not in ("", "\r") and _is_body(lines[end - 1]):
            last = end
    body = tuple(line if _is_body(line) else " " + line for line in lines[at + 1 : last])
    return Hunk(lines[at], body, counted=False), end


def _end_by_counts(lines: list[str], at: int, old: int, new: int) -> int | None:
    """Where the hunk ends by its header's counts; None where the lines do not agree."""
    while old > 0 or new > 0:
        if at >= len(lines) or not _is_body(lines[at]):
            return None
        mark = lines[at][:1]
        old -= mark in ("", " ", "-", "\r")
        new -= mark in ("", " ", "+", "\r")
        at += 1
    while at < len(lines) and lines[at].startswith("\\"):
        at += 1
    return None if old < 0 or new < 0 or _more_follows(lines, at) else at


def _more_follows(lines: list[str], at: int) -> bool:
    """Whether lines that look like a hunk's stand before the next header: the counts were too small then."""
    while at < len(lines) and not _ends_hunks(lines, at):
        if lines[at][:1] in (" ", "+", "-"):
            return True
        at += 1
    return False


def _ends_hunks(lines: list[str], at: int) -> bool:
    return lines[at].startswith(_AFTER_HUNKS) or _starts_file(lines, at) or _is_signature(lines, at)


def _is_body(line: str) -> bool:
    return line[:1] in ("", " ", "+", "-", "\\", "\r")


def _starts_file(lines: list[str], at: int) -> bool:
    """Git's own test of a header without a `diff --git` line: three lines that begin ---, +++ and @@."""
    return (
        at + 2 < len(lines)
        and lines[at].startswith("--- ")
        and lines[at + 1].startswith("+++ ")
        and lines[at + 2].startswith("@@ ")
    )


def _is_signature(lines: list[str], at: int) -> bool:
    """The `-- ` and version with which `git format-patch` ends."""
    return lines[at] in ("-- ", "--") and not any(lines[after] for after in range(at + 2, len(lines)))
