"""Creates, fetches, reads and pushes from a mirror: the bare clone of a repository to which its worktrees belong.
The remote's branches are `refs/remotes/origin/*` here, so that local ones (`refs/heads/*`) are the bot's alone."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from bot.errors import UserError
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason, quoted
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.git.branch_names import branch_problem
from bot.workspace.git.command import GitError, git
from bot.workspace.git.objects import commits, decode, encode, is_id, require_id, split_names
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.mirror.remote import Remote, transfer

_TRACKING = "refs/remotes/origin/"
_LOCAL = "refs/heads/"
_ABBREVIATED = re.compile(r"[0-9a-f]{7,64}")
_UNUSABLE = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|^-|//|/$|^$")  # git-check-ref-format(1)
_MAX_FILE_BYTES = 4 << 20
_MAX_MESSAGE_CHARS = 250
_PROGRESS = re.compile(r"(?:Resolving|Counting|Compressing|Writing|Total|Processing)\b")


class PushRejected(UserError):
    """The remote rejected a push; the message gives its own reason (a protected branch, a hook)."""


async def ensure_mirror(path: Path) -> None:
    """Makes `path` a bare repository: a new one in one step; a half-made or damaged one is completed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    async with exclusive(path, "mirror"):
        if is_complete(path):
            return
        if path.is_dir() and any(path.iterdir()):
            for name in ("HEAD", "config"):
                if (path / name).is_file() and not (path / name).read_bytes().strip():
                    (path / name).unlink()  # emptied by a crash; `init` writes it anew
            await _init(path)
            return
        fresh = path.with_name(f".{path.name}.new")
        await remove_directory(fresh)
        await _init(fresh)
        fresh.replace(path)


async def fetch(mirror: Path, remote: Remote) -> None:
    """Fetches every branch of `remote` to `refs/remotes/origin/*` and deletes those that are gone; no tags.

    Raises Transient for network trouble, AccessDenied for 401, 403 and 404 (`remote.transfer`)."""
    flags = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    async with exclusive(mirror, "fetch", timeout_s=1800):
        await transfer(mirror, remote, "fetch", *flags, remote.url, f"+{_LOCAL}*:{_TRACKING}*")


async def resolve(mirror: Path, rev: str) -> str | None:
    """Returns the commit of `rev`: a full ref, a branch (the remote's before ours), a commit's id, or `HEAD`."""
    return next((commit for commit in await commits(mirror, possible_names(rev)) if commit), None)


async def require_commit(mirror: Path, rev: str) -> str:
    """Returns what `resolve` does. Raises UserError where `rev` names no commit."""
    commit = await resolve(mirror, rev)
    if commit is None:
        raise user_error(make_reason("mirror.no_commit", name=repr(rev[:80])))
    return commit


def possible_names(rev: str) -> tuple[str, ...]:
    """Returns git's full names that `rev` may stand for, the likeliest first; none for an impossible name."""
    if _UNUSABLE.search(rev):
        return ()
    if is_id(rev) or rev == "HEAD" or rev.startswith("refs/"):
        return (rev,)  # a branch that calls itself like a commit must not take its place
    return (_TRACKING + rev, _LOCAL + rev, *((rev,) if _ABBREVIATED.fullmatch(rev) else ()))


async def read_file(mirror: Path, rev: str, path: str) -> str | None:
    """Returns the text of a regular file at `rev`, None without such a commit or file. UserError past 4 MiB."""
    commit = await resolve(mirror, rev)
    if commit is None or "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return None
    entry = decode(await git("ls-tree", "-z", "-l", commit, "--", path, git_dir=mirror)).partition("\0")[0]
    meta, _, name = entry.partition("\t")
    if name != path or not meta.startswith("100"):  # a link or a directory is no file
        return None
    _, _, blob, size = meta.split()
    if int(size) > _MAX_FILE_BYTES:
        raise user_error(make_reason("mirror.large_file", path=path, size=size, limit=_MAX_FILE_BYTES >> 20))
    return (await git("cat-file", "blob", blob, git_dir=mirror)).decode("utf-8", "replace")


async def list_files(mirror: Path, rev: str) -> tuple[str, ...]:
    """Every path at `rev`, in git's order; empty if there is no such commit."""
    commit = await resolve(mirror, rev)
    if commit is None:
        return ()
    out = await git("ls-tree", "-r", "-z", "--name-only", commit, git_dir=mirror)
    return tuple(map(decode, split_names(out)))


async def branches(mirror: Path) -> frozenset[str]:
    """Short names of all branches, the other side's and ours together."""
    out = await git("for-each-ref", "--format=%(refname)", _LOCAL, _TRACKING, git_dir=mirror)
    names = decode(out).splitlines()
    return frozenset(name.removeprefix(_LOCAL).removeprefix(_TRACKING) for name in names) - {"HEAD"}


async def push(mirror: Path, sha: str, branch: str, remote: Remote) -> None:
    """Creates `branch` at the commit `sha` in the remote; it may exist already, at `sha`.

    Never moves a branch (T23). Raises PushRejected with git's or the remote's reason, else as `fetch`."""
    if (problem := branch_problem(branch)) is not None:
        raise user_error(problem)
    require_id(sha)
    ref = _LOCAL + branch
    try:
        await push_ref(mirror, sha, ref, "", remote)  # nothing is expected: the ref must not exist, git-push(1)
    except GitError as error:
        there = await remote_sha(mirror, ref, remote)
        if there != sha:
            because = make_reason("push.rejected", branch=branch, why=push_rejection(error, there))
            raise user_error(because, PushRejected) from error


async def push_ref(mirror: Path, sha: str, ref: str, expected: str, remote: Remote) -> None:
    """Sets the full ref in the remote if it names `expected` there. Raises GitError, else as `fetch`."""
    flags = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")
    lease = f"--force-with-lease={ref}:{expected}"
    await transfer(mirror, remote, "push", *flags, lease, "--end-of-options", remote.url, f"{sha}:{ref}")


async def remote_sha(mirror: Path, ref: str, remote: Remote) -> str:
    """Returns the object that the full ref names in the remote, empty without such a ref. Raises as `fetch`."""
    out = decode(await transfer(mirror, remote, "ls-remote", "--end-of-options", remote.url, ref))
    # git goes by how names end, so a branch `x/refs/heads/y` is listed too where `refs/heads/y` is asked for
    return next((line.partition("\t")[0] for line in out.split("\n") if line.partition("\t")[2] == ref), "")


async def collect_garbage(mirror: Path) -> None:
    """Packs objects and deletes those that nothing has named for two weeks; this may take minutes."""
    async with exclusive(mirror, "fetch"):
        await git("gc", "--quiet", "--prune=2.weeks.ago", git_dir=mirror, timeout_s=1800)


def is_complete(path: Path) -> bool:
    """Whether `path` is a mirror with all its parts, judged by a few files."""
    try:
        head, config = (path / "HEAD").read_text("utf-8"), (path / "config").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return (
        head.startswith("ref: ") and "bare = true" in config and all((path / d).is_dir() for d in ("objects", "refs"))
    )


async def _init(path: Path) -> None:
    path.mkdir(exist_ok=True)
    await git("init", "--bare", "--quiet", "--template=", "--initial-branch=main", git_dir=path)


def push_rejection(error: GitError, there: str) -> Reason:
    """Returns why a push failed: the remote's first message and git's short one. The ref names `there` now."""
    lines = (line.removeprefix("remote:").strip() for line in error.stderr.splitlines() if line.startswith("remote:"))
    first = next((line for line in lines if line and not _PROGRESS.match(line)), "").removeprefix("error: ")
    verdict = re.search(r"^!\t[^\t]*\t\[[^\]]*\] \((.*)\)$", error.stdout, re.M)
    if verdict and verdict[1] == "stale info":
        short = make_reason("push.exists", sha=there[:12]) if there else make_reason("push.changed")
    else:
        short = quoted(verdict[1]) if verdict else error.reason
    reason = make_reason("push.message", message=first, why=short) if first else short
    return reason.map_text(lambda text: "".join(filter(str.isprintable, text))[:_MAX_MESSAGE_CHARS])


_RUNS = ("refs/mendbot/runs/", "refs/mendbot/salvage/")
_PULLS = "refs/mendbot/pulls/"


async def checked_pulls(mirror: Path) -> frozenset[int]:
    """Returns the pull requests that were checked and are not known to be closed; none without a mirror."""
    if not mirror.is_dir():
        return frozenset()
    names = (name.removeprefix(_PULLS) for name in await _refs(mirror, _PULLS))
    return frozenset(int(name) for name in names if name.isdecimal())


async def delete_run_refs(mirror: Path, run_ids: Collection[str], branches: Collection[str]) -> int:
    """Deletes these runs' refs and these local branches, and returns how many there were.

    The remote's branches stay; refs may be absent."""
    if not mirror.is_dir():
        return 0
    own = [name for name in await _refs(mirror, *_RUNS) if name.split("/")[3] in run_ids]
    wanted = {_LOCAL + branch for branch in branches}
    own += [name for name in await _refs(mirror, _LOCAL) if name in wanted]
    if own:
        orders = "".join(f"delete {name}\0\0" for name in own)
        await git("update-ref", "--stdin", "-z", git_dir=mirror, stdin=encode(orders))
    return len(own)


async def _refs(mirror: Path, *prefixes: str) -> list[str]:
    return decode(await git("for-each-ref", "--format=%(refname)", *prefixes, git_dir=mirror)).splitlines()
