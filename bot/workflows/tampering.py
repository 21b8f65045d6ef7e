"""Whether a change makes the checks see less: the texts before and after are read from git, the judgement is the
rules' (`rules.weakened`, REQ-STOP-006)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from bot.errors import Refused
from bot.rules.pipeline import named_by
from bot.rules.weakened import WEAKENED_TESTS, FileTexts, refusal, weakened
from bot.workspace.differences import texts
from bot.workspace.tree import PathChange, Tree

_SCRIPTS = ("package.json", "Makefile", "justfile")
"""Where checks keep their command lines."""


async def weakenings(
    tree: Tree,
    before: str,
    after: str,
    changed: Sequence[PathChange],
    *,
    named: Collection[str],
    commands: Sequence[str] = (),
) -> tuple[str, ...]:
    """What people should look at in a change, a sentence each; raises Refused where tests or checks lose their force.

    Paths in `named` are those that the task itself is about; a file that one of the `commands` of the checks names, or
    a script of theirs, is itself a test."""
    paths = [change.path for change in changed if not change.binary]
    old, new = await asyncio.gather(texts(tree.git_dir, before, [*paths, *_SCRIPTS]), texts(tree.git_dir, after, paths))
    checked = named_by([*commands, *(old.get(path, "") for path in _SCRIPTS)], paths)
    files = [FileTexts(path=path, before=old.get(path), after=new.get(path)) for path in paths]
    found = await asyncio.to_thread(weakened, files, named, checked)
    why = refusal(found)
    if why is not None:
        raise Refused(WEAKENED_TESTS, why)
    return tuple(one.message for one in found)
