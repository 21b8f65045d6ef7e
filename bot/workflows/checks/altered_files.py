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

MAX_RESTORED = 20
"""Paths that a step names; a formatter may rewrite every file of a repository."""

_UNDER_WAY = "mendbot-check-under-way"
"""A file in the git directory of a tree in which a check runs. Where the next check finds it, a crash or a cancellation
cut the previous one short, which may have altered something."""


async def run_on_snapshot(
    tree: Tree,
    snapshot: str,
    run: Callable[[], Awaitable[StepRun]],
    *,
    mask: Callable[[str], str],
    before_restoring: Callable[[], Awaitable[None]] | None = None,
) -> StepRun:
    """Run one check on exactly the files of `snapshot` and restore them afterwards; the step names those that the check
    altered. New files stay. `before_restoring` may read what the check, or a person meanwhile, has altered."""
    marker = tree.git_dir / _UNDER_WAY
    if marker.exists():
        await _restore(tree, snapshot, before_restoring)
    marker.touch()
    ended = await run()
    restored = await _restore(tree, snapshot, before_restoring)
    marker.unlink(missing_ok=True)
    return replace(ended, step=with_restored_files(ended.step, restored, mask))


async def _restore(tree: Tree, snapshot: str, before: Callable[[], Awaitable[None]] | None) -> tuple[str, ...]:
    if before is not None and await tree.altered(snapshot):
        await before()
    return await tree.restore_altered(snapshot)


def with_restored_files(step: ValidationStep, restored: Sequence[str], mask: Callable[[str], str]) -> ValidationStep:
    """The step with the files that its command altered and that were restored after it."""
    if not restored:
        return step
    paths = tuple(mask(path) for path in restored[:MAX_RESTORED])
    return step.model_copy(update={"restored": paths, "restored_count": len(restored)})


def log_with_restored(log: str, restored: Sequence[str]) -> str:
    """A setup command's log, with the commit's files that it had changed and that were restored."""
    if not restored:
        return log
    listed = ", ".join(restored[:MAX_RESTORED]) + (", …" if len(restored) > MAX_RESTORED else "")
    note = english(make_reason("log.restored", count=len(restored), paths=listed))
    return f"{log}\n\n{note}\n"
