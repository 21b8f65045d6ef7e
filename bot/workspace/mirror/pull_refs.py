"""Fetches a pull request's commits into the mirror, and pushes commits on top of them to its branch.
The branch name is untrusted: nothing is fetched by it, and in argv it only follows `refs/heads/` (T17)."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from bot.errors import Stale
from bot.reports.locale.reasons import refused, user_error
from bot.rules.reasons import make_reason
from bot.workspace.git.command import GitError, git
from bot.workspace.git.objects import commits, decode, require_id
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.mirror.mirror import PushRejected, push_ref, push_rejection, remote_sha, require_commit
from bot.workspace.mirror.remote import Remote, transfer

_PULLS = "refs/mendbot/pulls/"
_HEADS = "refs/mendbot/heads/"
_BRANCHES = "refs/heads/"
_FETCH_FLAGS = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--end-of-options")
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MAX_BRANCH_LENGTH = 1000
_ABSENT = re.compile(r"couldn't find remote ref|not our ref|unadvertised object|no such remote ref", re.I)


async def fetch_head(mirror: Path, number: int, sha: str, remote: Remote) -> None:
    """Fetches the commit `sha`, a head of pull request `number`, into the mirror, where it stays until `drop_head`.

    The number 0 stands for a merge queue's commit, on a branch that `mirror.fetch` fetches. The ref is
    `refs/pull/N/head`; if its author replaced that commit, the id itself. Raises Stale where GitHub no longer has the
    commit, else as `mirror.fetch`. A commit that is there already needs no request."""
    require_id(sha)
    if number < 0:
        raise ValueError(f"{number} is no pull request's number")
    kept = f"{_HEADS}{sha}"
    async with exclusive(mirror, "fetch", timeout_s=1800):
        if (await commits(mirror, (kept,)))[0] == sha:
            return
        # one after the other: the first brings the usual case, and what makes the second small
        for refspec in (f"+refs/pull/{number}/head:{_PULLS}{number}" if number else None, sha):
            if refspec is not None:
                await _fetch(mirror, refspec, remote)
            if (await commits(mirror, (sha,)))[0] == sha:
                await git("update-ref", kept, sha, git_dir=mirror)
                return
    if number:
        raise user_error(make_reason("head.gone.pull", sha=sha[:12], number=number), Stale)
    raise user_error(make_reason("head.gone.merge_queue", sha=sha[:12]), Stale)


async def drop_head(mirror: Path, sha: str) -> None:
    """Deletes the ref of a head that `fetch_head` fetched, if any. Its objects go when nothing else names them."""
    require_id(sha)
    await git("update-ref", "-d", f"{_HEADS}{sha}", git_dir=mirror)


async def drop_pull(mirror: Path, number: int) -> None:
    """Deletes the ref of the newest known head of pull request `number`, which is closed; it may be absent."""
    await git("update-ref", "-d", f"{_PULLS}{int(number)}", git_dir=mirror)


async def merge_base(mirror: Path, left: str, right: str) -> str | None:
    """Returns the best common ancestor of two commits (ids or names for `mirror.resolve`); None without one.

    UserError where one of them is not in the mirror."""
    ids = [await require_commit(mirror, name) for name in (left, right)]
    found = await git("merge-base", *ids, git_dir=mirror, ok=(0, 1))
    return decode(found).strip() or None


async def push_onto(
    mirror: Path, sha: str, branch: str, expected: str, remote: Remote, *, forbidden: frozenset[str]
) -> None:
    """Moves the remote's `branch` forward from the commit `expected` to `sha`, where it may be already.

    Never creates a branch, never moves one backwards, nor one of `forbidden` (the default branch; case is ignored).
    Before any request it raises UserError for a name that git does not accept, and Refused (`protected_branch`,
    `not_forward`). Raises Stale where the branch is no longer at `expected` (T23), PushRejected with the remote's
    reason, else as `mirror.fetch`. No message holds the branch's name, which is untrusted."""
    require_id(sha)
    require_id(expected)
    await _check_branch(branch, forbidden)
    await _check_forward(mirror, expected, sha)
    ref = _BRANCHES + branch
    try:
        await push_ref(mirror, sha, ref, expected, remote)  # a guard alone: what is pushed follows from `expected`
    except GitError as error:
        there = await remote_sha(mirror, ref, remote)
        if there == sha:
            return
        if there != expected:
            moved = make_reason("push.pull.moved", now=there[:12], expected=expected[:12])
            raise user_error(moved if there else make_reason("push.pull.gone"), Stale) from error
        because = make_reason("push.pull.rejected", why=push_rejection(error, there))
        raise user_error(because, PushRejected) from error


async def _fetch(mirror: Path, refspec: str, remote: Remote) -> None:
    """Fetches the refspec if the remote has it."""
    try:
        await transfer(mirror, remote, "fetch", *_FETCH_FLAGS, remote.url, refspec)
    except GitError as error:
        if not _ABSENT.search(error.stderr):
            raise


async def _check_branch(branch: str, forbidden: frozenset[str]) -> None:
    if not await _takes(branch):
        raise user_error(make_reason("push.pull.bad_name"))
    if branch.casefold() in {name.casefold() for name in forbidden}:
        raise refused("protected_branch", make_reason("push.pull.protected"))
    if branch == "HEAD" or branch.startswith(("refs/", "tags/")):
        raise refused("protected_branch", make_reason("push.pull.other_ref"))


async def _takes(branch: str) -> bool:
    """Whether git accepts the name for a branch; a name that cannot be in argv is not passed to git."""
    if not 0 < len(branch) <= _MAX_BRANCH_LENGTH or _UNFIT.search(branch):
        return False
    try:
        await git("check-ref-format", _BRANCHES + branch)
    except GitError:
        return False
    return True


async def _check_forward(mirror: Path, expected: str, sha: str) -> None:
    new, old = await commits(mirror, (sha, expected))
    if new != sha:
        raise user_error(make_reason("mirror.no_commit", name=sha[:12]))
    if old == expected:
        with contextlib.suppress(GitError):
            await git("merge-base", "--is-ancestor", expected, sha, git_dir=mirror)
            return
    raise refused("not_forward", make_reason("push.pull.not_forward", sha=sha[:12], expected=expected[:12]))
