"""The policy of a tree on this machine: a local run reads it from `origin/HEAD`, else from the branch checked out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bot.config import POLICY_PATH, ChecksPolicy, Policy, PolicyProblem, parse_policy_file
from bot.model import CHECK_ORDER, CheckName
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import top_and_focus
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.git.command import GitError, git

_REVISIONS = ("refs/remotes/origin/HEAD", "HEAD")


async def local_policy(tree: Path) -> Policy:
    """The tree's policy, or the default one if there is none; raises UserError for a wrong one."""
    parsed = parse_policy_file(await _committed(tree) or b"")
    if isinstance(parsed, Policy):
        return parsed
    raise user_error(make_reason("policy.wrong", path=POLICY_PATH, problems=tuple(map(_at_line, parsed))))


def _at_line(problem: PolicyProblem) -> Reason:
    if problem.key:
        return make_reason("policy.wrong_key", line=str(problem.line), key=problem.key, why=problem.reason)
    return make_reason("policy.wrong_line", line=str(problem.line), why=problem.reason)


async def _committed(tree: Path) -> bytes | None:
    for revision in _REVISIONS if tree.is_dir() else ():
        try:
            return await git("cat-file", "blob", f"{revision}:{POLICY_PATH}", cwd=tree)
        except GitError:
            continue  # no such revision, no such file, or no repository
    return None


async def has_ignored_policy(tree: Path) -> bool:
    """Whether the tree's file differs from the committed one, so that a local run ignores it."""
    if not tree.is_dir():
        return False
    top, _ = top_and_focus(tree)
    content = read_or_none(top, POLICY_PATH)  # in a hostile tree it may be a pipe, or a link to an endless device
    if content is None:
        return False
    committed = await _committed(tree)
    return committed is None or content.splitlines() != committed.splitlines()


def checks_with_a_command(tree: Path, policy: ChecksPolicy, finds: Callable[[str], bool]) -> tuple[CheckName, ...]:
    """The checks that can run here; all of them if none can, so that the result names what was looked for.

    `finds` knows which programs are installed beside the tree's own."""
    top, focus = top_and_focus(tree)
    found = tuple(
        name for name in CHECK_ORDER if not isinstance(detect(top, name, policy, focus, unasked=finds), NoCommand)
    )
    return found or CHECK_ORDER
