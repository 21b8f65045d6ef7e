"""The agent that is a person: `/mendbot apply` with a diff in its comment, offered once and as it was given.
It only reads the text; what a change may touch is asked where it is applied, as for any other agent (T20, T21)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.errors import UserError
from bot.model import AgentTask, Change, Proposal
from bot.reports.locale.reasons import user_error
from bot.rules.patches.diff_parser import DEV_NULL, FileDiff, parse_diff
from bot.rules.reasons import make_reason

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class GivenPatch:
    """Offers `patch`, at the first attempt alone: a second time it would not help either.

    Raises UserError where it is made of a text that `read_given` does not take."""

    patch: str
    name: str = "given"

    def __post_init__(self) -> None:
        read_given(self.patch)

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if task.attempt > 1:
            return Proposal(agent=self.name, offered=False, because=make_reason("agent.given_once"), untouched=True)
        note = "the diff that was given in a comment"
        return Proposal(agent=self.name, offered=True, changes=read_given(self.patch), note=note, untouched=True)


def read_given(text: str) -> tuple[Change, ...]:
    """The changes of a diff that a person gave, one for each of its files, in order; text around them is passed over.

    Git's headers or plain ones, with or without a code fence, of any line ends; files may come and go. UserError names
    what is wanted where it is no diff, or what of it can't be applied: renames, parts without a file or a change."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise _unfit("no_text")
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")  # browsers send a comment's lines so
    parts = parse_diff(text)
    if not parts:
        raise _unfit("no_diff")
    return tuple(Change(path=_path(part), patch=_render(part, _path(part))) for part in parts)


def _unfit(kind: str, **values: str) -> UserError:
    return user_error(make_reason(f"given.{kind}", **values))


def _path(part: FileDiff) -> str:
    """The one file that the part is about."""
    if part.moved:
        raise _unfit("moved", path=repr(part.moved[0][:_SHOWN]))
    if not part.paths:
        raise _unfit("no_file")
    if len(part.paths) > 1:
        names = ", ".join(repr(path[:_SHOWN]) for path in part.paths)
        raise _unfit("two_files", paths=names)
    path = part.paths[0].removeprefix("./")
    if any("\ud800" <= sign <= "\udfff" for sign in path):
        raise _unfit("no_utf8", path=repr(path[:_SHOWN]))
    if not (part.hunks or part.new_mode or part.creates or part.deletes or part.binary):
        raise _unfit("nothing", path=repr(path[:_SHOWN]))
    return path


def _render(part: FileDiff, path: str) -> str:
    """The part as git writes it. Whatever the policy judges by (names, modes, binary content) is said again."""
    before, after = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    lines = [f"diff --git {before} {after}", *_modes(part)]
    if part.binary:
        lines.append("GIT binary patch")
    if part.hunks:
        lines += [f"--- {DEV_NULL if part.creates else before}", f"+++ {DEV_NULL if part.deletes else after}"]
    for hunk in part.hunks:
        lines += [hunk.header, *hunk.lines]
    return "\n".join(lines)  # with a line's end, a hunk whose counts are too large would gain an empty line


def _modes(part: FileDiff) -> list[str]:
    lines = [f"old mode {mode}" for mode in part.modes if mode != part.new_mode]
    if part.creates and (part.new_mode or not part.hunks):
        lines.append(f"new file mode {part.new_mode or '100644'}")
    elif part.new_mode:
        lines.append(f"new mode {part.new_mode}")
    if part.deletes:
        lines.append(f"deleted file mode {part.modes[0] if part.modes else '100644'}")
    return lines


def _quoted(name: str) -> str:
    """A name as git's headers write it (git-config(1), `core.quotePath`): what isn't plain is in octal."""
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    return '"' + "".join(chr(byte) if _plain(byte) else f"\\{byte:03o}" for byte in name.encode()) + '"'


def _plain(byte: int) -> bool:
    return 32 <= byte < 127 and byte not in b'"\\'
