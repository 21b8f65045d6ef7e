"""After each check and after setup: the files that the command altered are restored and named, so that the next check
judges, and a push holds, exactly what was proposed (REQ-PROOF-003)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from bot.model import ValidationStep
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.workspace.checks.step import StepRun
from bot.workspace.git.tree import Tree

MOST_RESTORED = 20
"""Paths that a step names; a formatter may rewrite every file of a repository."""

_UNDER_WAY = "mendbot-check-under-way"
"""A file in the git directory of a tree in which a check runs: found by the next one, it tells that a crash or a
cancellation cut that check short, which may have altered something."""


async def judged(
    tree: Tree,
    snapshot: str,
    run: Callable[[], Awaitable[StepRun]],
    *,
    mask: Callable[[str], str],
    before_restoring: Callable[[], Awaitable[None]] | None = None,
) -> StepRun:
    """Run one check on exactly the files of `snapshot`, which are so again afterwards; the step names those that it had
    altered. New files stay. `before_restoring` may look at what the check, or a person meanwhile, has altered."""
    mark = tree.git_dir / _UNDER_WAY
    if mark.exists():
        await _restored(tree, snapshot, before_restoring)
    mark.touch()
    ended = await run()
    restored = await _restored(tree, snapshot, before_restoring)
    mark.unlink(missing_ok=True)
    return replace(ended, step=noting(ended.step, restored, mask))


async def _restored(tree: Tree, snapshot: str, before: Callable[[], Awaitable[None]] | None) -> tuple[str, ...]:
    if before is not None and await tree.altered(snapshot):
        await before()
    return await tree.restore_altered(snapshot)


def noting(step: ValidationStep, restored: Sequence[str], mask: Callable[[str], str]) -> ValidationStep:
    """The step with the files that it had altered, and that were restored after it."""
    if not restored:
        return step
    paths = tuple(mask(path) for path in restored[:MOST_RESTORED])
    return step.model_copy(update={"restored": paths, "restored_count": len(restored)})


def with_restored(log: str, restored: Sequence[str]) -> str:
    """A setup command's log, with the commit's files that it had changed and that were restored."""
    if not restored:
        return log
    listed = ", ".join(restored[:MOST_RESTORED]) + (", …" if len(restored) > MOST_RESTORED else "")
    note = english(make_reason("log.restored", count=len(restored), paths=listed))
    return f"{log}\n\n{note}\n"
