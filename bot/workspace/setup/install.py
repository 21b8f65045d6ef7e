"""Runs a setup plan in a tree: cached products are copied, other steps are run, and their products may be cached."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from bot import proc
from bot.errors import MendbotError, Transient
from bot.logs import get_logger
from bot.model import ShellCommand
from bot.model.setups import SetupPlan, SetupStep
from bot.proc import ProcResult
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.dependencies.cache import (
    DependencyCache,
    Listing,
    entry_lock,
    give_entry,
    listing,
    made_since,
    prepare_directory,
    store_entry,
)
from bot.workspace.dependencies.cache_key import UnknownInput, key_of
from bot.workspace.dependencies.disk_budget import trim
from bot.workspace.dependencies.relocation import Unmovable, is_plain
from bot.workspace.files.tree_digest import MADE_BY_TOOLS
from bot.workspace.git.command import GitError, git
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox

SETUP_TIMEOUT_S = 1800.0
"""The time limit of one step in seconds."""

_GUARD = Path(__file__).with_name("node_guard.cjs")
"""Loaded first by Node.js in a detected step with network: it decides which programs may be started."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")

log = get_logger()


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step that has ended; without a result, its products came from the cache and it was not run."""

    step: SetupStep
    result: ProcResult | None

    @property
    def passed(self) -> bool:
        return self.result is None or self.result.exit_code == 0


@dataclass(frozen=True, slots=True)
class Installed:
    """A setup that has ended, with its steps up to a failed one."""

    steps: tuple[StepDone, ...] = ()

    @property
    def failed(self) -> StepDone | None:
        return next((done for done in self.steps if not done.passed and not done.step.optional), None)


async def install(
    plan: SetupPlan,
    tree: Path,
    sandbox: Sandbox,
    *,
    grant: SandboxGrant,
    cache: DependencyCache | None,
    mask: Callable[[str], str],
) -> Installed:
    """Runs the plan in `tree` (absolute), step by step, up to the first failed step that is not optional.

    Problems with the cache are logged, and the step is run without it. Raises what running a command in the sandbox
    raises."""
    work = _Work(plan, tree, sandbox, grant, cache if cache is not None and prepare_directory(cache) else None, mask)
    done: list[StepDone] = []
    for step in plan.steps:
        done.append(await work.run_step(step))
        if not done[-1].passed and not step.optional:
            break
    return Installed(tuple(done))


@dataclass(slots=True)
class _Work:
    """One setup. `own` are the products in the tree that are cached or may be, each with its step's key."""

    plan: SetupPlan
    tree: Path
    sandbox: Sandbox
    grant: SandboxGrant
    cache: DependencyCache | None
    mask: Callable[[str], str]
    own: dict[str, str] = field(default_factory=dict)

    async def run_step(self, step: SetupStep) -> StepDone:
        key = await self._key(step)
        if key is None or self.cache is None:
            self.own.clear()  # it may have written to anything
            return StepDone(step, await self._run(step))
        *others, own = self.cache.directories()
        for space in filter(Path.is_dir, others):
            async with self._entry(space, key) as entry:
                if await self._is_copied(entry, step):
                    return StepDone(step, None)
        async with self._entry(own, key) as entry:
            if await self._is_copied(entry, step):
                return StepDone(step, None)
            before = await self._listing()
            result = await self._run(step)
            if result.exit_code == 0 and entry is not None and before is not None:
                await self._store(entry, step, before)
            else:
                self.own.clear()
            return StepDone(step, result)

    async def _run(self, step: SetupStep) -> ProcResult:
        command = ShellCommand(run=step.run, timeout_s=SETUP_TIMEOUT_S, programs=step.programs)
        own = self.plan.configured or not step.network  # what was detected runs no code of the tree with the network
        granted = replace(self.grant, network=step.network, tree_programs=own)
        if not own:
            env = {**granted.env, "NODE_OPTIONS": f"--require={_GUARD}"}
            granted = replace(granted, env=env, read_only=(*granted.read_only, _GUARD))
        return await self.sandbox.run(command, self.tree, grant=granted)

    async def _key(self, step: SetupStep) -> str | None:
        """The cache key of the step; None if it must run in any case."""
        if self.cache is None or not (step.shared or self.plan.configured) or not is_plain(self.tree):
            return None
        earlier = sorted({self.own[name] for name in step.products if name in self.own})
        try:
            if any(name not in self.own and os.path.lexists(self.tree / name) for name in step.products):
                return None  # it is unknown who made that, and what the step does with it
            commit = await self._commit() if self.plan.configured else ""
            return await asyncio.to_thread(
                key_of, step, self.tree, self.sandbox, self.grant.env, earlier=earlier, commit=commit
            )
        except (OSError, GitError, MendbotError) as error:
            self._log_problem("dependencies_not_known", step, error)
            return None

    async def _commit(self) -> str:
        """The commit that a repository's own setup can read all of; raises UnknownInput if the tree holds more."""
        before = await asyncio.to_thread(listing, self.tree)
        made = [name for name in before or () if PurePath(name).name in MADE_BY_TOOLS]
        if before is None or made:
            reason = make_reason("cache.already_there", name=made[0]) if made else make_reason("cache.large_tree")
            raise user_error(reason, UnknownInput)
        return (await git("rev-parse", "HEAD", cwd=self.tree)).decode().strip()

    @asynccontextmanager
    async def _entry(self, space: Path, key: str) -> AsyncIterator[Path | None]:
        """The key's entry with its lock held; None without the lock, and then the cache is not used."""
        async with AsyncExitStack() as held:
            try:
                entry = await held.enter_async_context(entry_lock(space, key))
            except Transient as error:
                log.warning("dependencies_not_locked", because=str(error))
                entry = None
            yield entry

    async def _is_copied(self, entry: Path | None, step: SetupStep) -> bool:
        try:
            names = None if entry is None else await give_entry(entry, self.tree)
        except (OSError, MendbotError) as error:
            self._log_problem("dependencies_not_given", step, error)
            return False
        if entry is None or names is None:
            return False
        self.own |= dict.fromkeys(names, entry.name)
        return True

    async def _listing(self) -> Listing | None:
        """The files of the tree, without the products of earlier steps, which this one may write to."""
        try:
            found = await asyncio.to_thread(listing, self.tree)
        except OSError:
            return None
        mine = tuple(f"{name}/" for name in self.own)
        return None if found is None else {name: at for name, at in found.items() if not f"{name}/".startswith(mine)}

    async def _store(self, entry: Path, step: SetupStep, before: Listing) -> None:
        assert self.cache is not None
        directory = self.cache.directory
        try:
            after = await self._listing()
            if after is None:
                raise user_error(make_reason("cache.large_tree"), Unmovable)
            there = (name for name in step.products if os.path.lexists(self.tree / name))
            names = _outermost({*made_since(before, after), *there})
            if not names:
                raise user_error(make_reason("cache.nothing"), Unmovable)
            await store_entry(entry, self.tree, names, self._places(), lambda size: trim(directory, need=size))
        except (OSError, MendbotError) as error:
            self.own.clear()
            self._log_problem("dependencies_not_kept", step, error)
            return
        self.own |= dict.fromkeys(names, entry.name)

    def _places(self) -> tuple[str, ...]:
        """The directories of programs that every tree can use."""
        assert self.cache is not None
        home = self.cache.directory.parent
        found = {*_SYSTEM, sys.base_prefix, str(home / "tools"), str(home / "programs")}
        found |= {os.path.dirname(place) for place in self.sandbox.search_path()}  # noqa: PTH120
        found |= {str(proc.base_python().parent.parent)}
        return tuple(sorted(place for place in found if place.strip("/")))

    def _log_problem(self, event: str, step: SetupStep, error: Exception) -> None:
        run = step.run if isinstance(step.run, str) else " ".join(step.run)
        log.warning(event, step=self.mask(run), because=self.mask(str(error)))


def _outermost(names: set[str]) -> tuple[str, ...]:
    """The names that lie below no other of them."""
    return tuple(sorted(each for each in names if not any(up.as_posix() in names for up in PurePath(each).parents)))
