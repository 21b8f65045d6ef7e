"""`manage_worktree`: create, clean up and list worktrees for people, the command line and MCP (REQ-GIT-001..004).
Whatever is asked, the answer is a result with what was done or what is wrong; it does not raise."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import MendbotError
from bot.model import ManageWorktreeResult, WorktreeInfo
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.git.branch_names import branch_for, branch_problem, directory_for, issues_of
from bot.workspace.git.command import GitError, git
from bot.workspace.git.objects import commits, decode
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.registry import (
    Entry,
    canonical_path,
    create_entry,
    entries,
    open_tree,
    remove_entry,
    repair_entries,
)

_MAX_FILES_NAMED = 20
_HEAD = re.compile(rb"ref: refs/|[0-9a-f]{40}")
_STARTS = ("HEAD", "refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")


@dataclass(frozen=True, slots=True)
class _Request:
    issues: tuple[int, ...]
    branch: str
    limit: int


@dataclass(frozen=True, slots=True)
class _Repository:
    """`git_dir` is the one asked through, `common` what all its worktrees share, `base` where new ones go."""

    git_dir: Path
    common: Path
    base: Path

    def owns(self, path: Path) -> bool:
        return path.parent == self.base


async def manage_worktree(
    action: object,
    issues: object = None,
    branch_name: object = None,
    *,
    repo: str | Path | None = None,
    base: str | Path | None = None,
    max_worktrees: int = 3,
) -> ManageWorktreeResult:
    """Do one of `create`, `cleanup`, `list` on the repository at `repo` (the working directory by default).

    `issues` are positive integers; `branch_name` overrides `fix/issue-1-2-3`; worktrees go to `base` (by default
    `worktrees`, beside the repository), in `fix-issue-1-2-3`. Never raises for bad input: `success` is false and
    `error` is what is wrong and how to fix it, and nothing was made."""
    try:
        perform = _ACTIONS.get(action) if isinstance(action, str) else None
        if perform is None:
            raise user_error(make_reason("manage.action", action=repr(action)))
        request = _request(action != "list", issues, branch_name, max_worktrees)
        return await perform(await _repository(repo, base), request)
    except MendbotError as error:
        problem = str(error)
    except GitError as error:
        problem = error.text
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    worktrees = () if action == "list" else None
    return ManageWorktreeResult(action=str(action), success=False, error=problem, worktrees=worktrees)


async def _create(repository: _Repository, request: _Request) -> ManageWorktreeResult:
    common, path = repository.common, repository.base / directory_for(request.issues)
    async with exclusive(common, "worktrees"):
        held = await repair_entries(common, repository.owns)
        known, *found = await commits(repository.git_dir, (f"refs/heads/{request.branch}", *_STARTS))
        if known is not None:
            raise user_error(make_reason("manage.branch_exists", branch=request.branch))
        if path.exists() or path.is_symlink():
            raise user_error(make_reason("manage.path_exists", path=str(path)))
        if sum(1 for entry in held if _uses_slot(entry, repository)) >= request.limit:
            raise user_error(make_reason("manage.limit"))
        start = next(filter(None, found), None)
        if start is None:
            raise user_error(make_reason("manage.no_start", path=str(repository.git_dir)))
        await create_entry(common, path, request.branch, start, fresh=True)
    return ManageWorktreeResult(action="create", success=True, worktree_path=str(path), branch=request.branch)


async def _cleanup(repository: _Repository, request: _Request) -> ManageWorktreeResult:
    common = repository.common
    async with exclusive(common, "worktrees"):
        held = await repair_entries(common, repository.owns)
        matching = [entry for entry in held if issues_of(entry.path, entry.branch) == request.issues]
        chosen = [entry for entry in matching if repository.owns(entry.path)] or matching
        if len(chosen) > 1:
            paths = ", ".join(str(entry.path) for entry in chosen)
            raise user_error(make_reason("manage.several", paths=paths))
        for entry in chosen:
            await _refuse_loss(entry, open_tree(common, entry.path) if not entry.missing else None)
            await remove_entry(common, entry.path)
    branch = chosen[0].branch if chosen else request.branch
    return ManageWorktreeResult(action="cleanup", success=True, branch=branch)


async def _list(repository: _Repository, _: _Request) -> ManageWorktreeResult:
    found = [entry for entry in await entries(repository.common) if not (entry.missing or entry.half_made)]
    infos = tuple(
        WorktreeInfo(path=str(entry.path), branch=entry.branch, issues=issues_of(entry.path, entry.branch))
        for entry in found
    )
    return ManageWorktreeResult(action="list", success=True, worktrees=infos)


_ACTIONS: Mapping[str, Callable[[_Repository, _Request], Awaitable[ManageWorktreeResult]]] = {
    "create": _create,
    "cleanup": _cleanup,
    "list": _list,
}


def _uses_slot(entry: Entry, repository: _Repository) -> bool:
    """Detached checkouts elsewhere take none (spec G.6); one here is on a branch that is being rebased."""
    return not entry.missing and (bool(entry.branch) or repository.owns(entry.path))


async def _refuse_loss(entry: Entry, tree: Tree | None) -> None:
    """UserError if removing the worktree would lose anything; there is no force (REQ-GIT-002)."""
    path = str(entry.path)
    if entry.locked is not None:
        if not entry.locked:
            raise user_error(make_reason("manage.locked", path=path))
        raise user_error(make_reason("manage.locked.because", path=path, why=entry.locked))
    if tree is None:
        return
    if dirty := await _dirty(tree):
        files = ", ".join(dirty[:_MAX_FILES_NAMED])
        if (more := len(dirty) - _MAX_FILES_NAMED) > 0:
            raise user_error(make_reason("manage.dirty.more", path=path, files=files, more=more))
        raise user_error(make_reason("manage.dirty", path=path, files=files))
    if not entry.branch and not await git("for-each-ref", "--count=1", "--contains", "HEAD", git_dir=tree.git_dir):
        raise user_error(make_reason("manage.detached", path=path))


async def _dirty(tree: Tree) -> list[str]:
    # submodules are not entered: git would run there under a configuration that anyone may have written (T18)
    flags = ("--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    status = await git("status", *flags, git_dir=tree.git_dir, work_tree=tree.path)
    dirty = [line[3:].decode("utf-8", "backslashreplace") for line in status.split(b"\0") if line]
    staged = decode(await git("ls-files", "--stage", "-z", git_dir=tree.git_dir, work_tree=tree.path)).split("\0")
    submodules = [tree.path / entry.partition("\t")[2] for entry in staged if entry.startswith("160000 ")]
    return dirty + [f"{path.name} (a submodule)" for path in submodules if path.is_dir() and any(path.iterdir())]


def _request(needed: bool, issues: object, branch_name: object, limit: object) -> _Request:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise user_error(make_reason("manage.max_worktrees", value=repr(limit)))
    if branch_name is not None and (problem := branch_problem(branch_name)) is not None:
        raise user_error(problem)
    if not needed:
        return _Request((), "", limit)
    if not isinstance(issues, list | tuple | set | frozenset) or not issues:
        if issues is None:
            raise user_error(make_reason("manage.no_issues"))
        raise user_error(make_reason("manage.bad_issues", value=repr(issues)))
    for number in issues:
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise user_error(make_reason("manage.issue_number", value=repr(number)))
    numbers = tuple(sorted(set(issues)))
    branch = str(branch_name) if branch_name is not None else branch_for(numbers)
    if (problem := branch_problem(branch_for(numbers))) is not None:
        raise user_error(make_reason("manage.too_many_issues", why=problem))
    return _Request(numbers, branch, limit)


async def _repository(repo: str | Path | None, base: str | Path | None) -> _Repository:
    place = Path.cwd() if repo is None else Path(repo).expanduser().absolute()
    if not place.is_dir():
        raise user_error(make_reason("manage.no_directory", path=str(place)))
    if (plain := _plain_checkout(place)) is not None:
        return _Repository(plain, plain, _base(plain.parent, base))
    asked = ("--git-dir", "--git-common-dir", "--is-bare-repository")
    try:
        out = decode(await git("rev-parse", "--path-format=absolute", *asked, cwd=place))
        git_dir, common, bare = out.rstrip("\n").rsplit("\n", 2)
        if bare == "true":
            main = Path(common)
        elif Path(common).name == ".git":
            main = Path(common).parent
        else:
            main = Path(decode(await git("rev-parse", "--show-toplevel", cwd=place)).rstrip("\n"))
    except GitError as error:
        raise user_error(make_reason("manage.no_repository", path=str(place), why=error.reason)) from error
    return _Repository(Path(git_dir), Path(common), _base(main, base))


def _plain_checkout(place: Path) -> Path | None:
    """The git directory, where `place` is so ordinary a checkout that git need not be asked for it
    (gitrepository-layout(5)); None sends one to git."""
    git_dir = Path(os.path.realpath(place), ".git")
    parts = (git_dir / "objects", git_dir / "refs")
    if git_dir.is_symlink() or (git_dir / "commondir").exists() or not all(part.is_dir() for part in parts):
        return None
    try:
        head, config = (git_dir / "HEAD").read_bytes(), (git_dir / "config").read_bytes().lower()
    except OSError:
        return None
    lines = [line.strip() for line in config.splitlines()]
    # `core.bare`, `core.worktree` and what an included file may set of them move the checkout elsewhere
    moved = any(line.startswith((b"bare", b"worktree", b"[include")) and line != b"bare = false" for line in lines)
    return git_dir if _HEAD.match(head) and not moved else None


def _base(main: Path, base: str | Path | None) -> Path:
    chosen = main.parent / "worktrees" if base is None else Path(base).expanduser()
    return canonical_path(chosen / "x").parent
