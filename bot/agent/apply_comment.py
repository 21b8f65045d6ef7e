"""The agent for `/mendbot apply`: it proposes the diff of a person's comment, once and unchanged.

It only parses the text. What a change may touch is checked where it is applied, as for any other agent (T20, T21)."""

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
class CommentPatchAgent:
    """Proposes `patch` at the first attempt only, as a second time it would not help either.

    The constructor raises UserError if `parse_comment_patch` rejects the text."""

    patch: str
    name: str = "given"

    def __post_init__(self) -> None:
        parse_comment_patch(self.patch)

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        if task.attempt > 1:
            return Proposal(agent=self.name, offered=False, because=make_reason("agent.given_once"), untouched=True)
        changes = parse_comment_patch(self.patch)
        note = make_reason("agent.comment_diff")
        return Proposal(agent=self.name, offered=True, changes=changes, note=note, untouched=True)


def parse_comment_patch(text: str) -> tuple[Change, ...]:
    """The changes of a person's diff, one for each file, in order; text around the diff is ignored.

    The diff may have git's headers or plain ones, a code fence, any line ends, and new or deleted files. Raises
    UserError if the text is no diff, or has a part that can't be applied: a rename, no file, or no change."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise _rejection("no_text")
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")  # browsers send a comment's lines so
    parts = parse_diff(text)
    if not parts:
        raise _rejection("no_diff")
    return tuple(Change(path=_path(part), patch=_render(part, _path(part))) for part in parts)


def _rejection(kind: str, **values: str) -> UserError:
    return user_error(make_reason(f"given.{kind}", **values))


def _path(part: FileDiff) -> str:
    """The only file of the part; raises UserError if it has none or two."""
    if part.moved:
        raise _rejection("moved", path=repr(part.moved[0][:_SHOWN]))
    if not part.paths:
        raise _rejection("no_file")
    if len(part.paths) > 1:
        names = ", ".join(repr(path[:_SHOWN]) for path in part.paths)
        raise _rejection("two_files", paths=names)
    path = part.paths[0].removeprefix("./")
    if any("\ud800" <= sign <= "\udfff" for sign in path):
        raise _rejection("no_utf8", path=repr(path[:_SHOWN]))
    if not (part.hunks or part.new_mode or part.creates or part.deletes or part.binary):
        raise _rejection("nothing", path=repr(path[:_SHOWN]))
    return path


def _render(part: FileDiff, path: str) -> str:
    """The part as git writes it, with all that the change policy judges by: names, modes, binary content."""
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
    """A name as git's headers write it, with octal escapes (git-config(1), `core.quotePath`)."""
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    return '"' + "".join(chr(byte) if _plain(byte) else f"\\{byte:03o}" for byte in name.encode()) + '"'


def _plain(byte: int) -> bool:
    return 32 <= byte < 127 and byte not in b'"\\'
