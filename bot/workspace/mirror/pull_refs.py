"""A pull request's commits in the mirror, and the one way back: moving its branch forward by what was made on top.
Its branch name is a stranger's. It is never fetched by, and in argv it only ever stands after `refs/heads/` (T17)."""

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
    """Bring the commit `sha`, a head of pull request `number`, into the mirror, where it stays until `drop_head`. With
    the number 0 it is a merge queue's commit, on a branch that `mirror.fetch` has brought unless it is gone again.

    By `refs/pull/N/head`; where the request's author has replaced that, by the id itself, which GitHub gives as long
    as it has the commit. Raises Stale where it has not, else as `mirror.fetch`. Done already, it asks nobody."""
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
    """Let go of a head that `fetch_head` keeps; absent is fine. Its objects go when nothing else names them."""
    require_id(sha)
    await git("update-ref", "-d", f"{_HEADS}{sha}", git_dir=mirror)


async def drop_pull(mirror: Path, number: int) -> None:
    """Let go of the newest head known of pull request `number`, for one that is closed; absent is fine."""
    await git("update-ref", "-d", f"{_PULLS}{int(number)}", git_dir=mirror)


async def merge_base(mirror: Path, left: str, right: str) -> str | None:
    """The best common ancestor of two commits (ids, or names of `mirror.resolve`); None if they share no history.

    UserError where one of them is not in the mirror."""
    ids = [await require_commit(mirror, name) for name in (left, right)]
    found = await git("merge-base", *ids, git_dir=mirror, ok=(0, 1))
    return decode(found).strip() or None


async def push_onto(
    mirror: Path, sha: str, branch: str, expected: str, remote: Remote, *, forbidden: frozenset[str]
) -> None:
    """Move the other side's `branch` from the commit `expected` forward to `sha`; that it is there already is fine.

    Never makes a branch, never moves one to what does not follow from `expected`, nor one of `forbidden` (the default
    branch; upper and lower case are one). UserError for a name that git does not take, Refused (`protected_branch`,
    `not_forward`) before anybody is asked. Raises Stale where the branch is no longer at `expected` (T23), PushRejected
    with the other side's reason, else as `mirror.fetch`. No words of ours hold the branch's name, a stranger's."""
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
    """Fetch it if the other side has it."""
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
    """Whether git takes the name for a branch; what can't even stand in argv is not put there."""
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
