"""The policy of a tree on this machine: a local run reads it from `origin/HEAD`, else from the branch checked out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bot.config import POLICY_PATH, ChecksPolicy, Policy, PolicyProblem, parse_policy_file
from bot.errors import UserError
from bot.model import CHECK_ORDER, CheckName
from bot.reports.locale.reasons import english
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import situated
from bot.workspace.git.command import GitError, git

_REVISIONS = ("refs/remotes/origin/HEAD", "HEAD")


async def local_policy(tree: Path) -> Policy:
    """The tree's policy; the default one where there is none or no repository. UserError names what is wrong in it."""
    parsed = parse_policy_file(await _committed(tree) or b"")
    if isinstance(parsed, Policy):
        return parsed
    raise UserError(f"{POLICY_PATH} is wrong: {'; '.join(_message(problem) for problem in parsed)}")


def _message(problem: PolicyProblem) -> str:
    return f"line {problem.line}: {f'{problem.key}: ' if problem.key else ''}{english(problem.reason)}"


async def _committed(tree: Path) -> bytes | None:
    for revision in _REVISIONS if tree.is_dir() else ():
        try:
            return await git("cat-file", "blob", f"{revision}:{POLICY_PATH}", cwd=tree)
        except GitError:
            continue  # no such revision, no such file, or no repository
    return None


def checks_with_a_command(tree: Path, policy: ChecksPolicy, finds: Callable[[str], bool]) -> tuple[CheckName, ...]:
    """The checks that can run here; all of them where none can, so that the answer names what was looked for.

    `finds` knows which programs there are beside the tree's own."""
    top, focus = situated(tree)
    found = tuple(
        name for name in CHECK_ORDER if not isinstance(detect(top, name, policy, focus, unasked=finds), NoCommand)
    )
    return found or CHECK_ORDER
