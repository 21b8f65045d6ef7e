"""The only module that runs git: a clean environment, settings that no repository can override, a time limit, no shell.
A repository's files must never make the bot run anything (T18), and a lock left by a crash must not stop it."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import time
from collections.abc import Callable, Container, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from bot import proc
from bot.errors import ConfigError, Shortage, Transient, shortage
from bot.model.reasons import Reason
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import english, refused, user_error
from bot.rules.reasons import make_reason, quoted
from bot.workspace.git.hazards import costly_pattern, refuse_hazards
from bot.workspace.git.repo_lock import common_dir, wait_for_git_lock

MINIMUM_VERSION = (2, 39)
"""The oldest git that is tested and still fixed by a distribution (Debian's); `merge-tree --write-tree` wants 2.38."""

_MAX_OUTPUT = 64 << 20
_LOCK_TRIES = 4
_RETRY_S = 0.05
_WATCH_AFTER_S = 1.0
"""After this time the working tree of a running command is searched for pipes at which git would wait for ever."""
_MIN_CPU_S = 60.0
_CPU_SHARE = 0.2
"""Of its time limit a command in a working tree may compute a fifth, a minute at least: large repositories need
seconds, and a pattern of 26 wildcards years."""
_MEMORY = 2 << 30
"""Bytes of data for git in a working tree; it streams large files and reads files of rules whole."""
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.filesRefLockTimeout=1000",
    "core.packedRefsTimeout=2000",
    "protocol.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.followRedirects=false",
    "safe.directory=*",  # whose it is does not matter here: what a repository could make git run is off already
)
_FLAGS = tuple(part for setting in _SETTINGS for part in ("-c", setting))
_LOCKED = re.compile(
    r"Unable to create '(?P<ref>/[^\n]+?\.lock)': File exists|lock config file (?P<config>/[^\n]+?): File exists"
)
_NO_MEMORY = re.compile(rb"[Oo]ut of memory|Cannot allocate memory|mmap failed")
_ERRNO = {
    os.strerror(number): number
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
}
_LACKING = re.compile("|".join(sorted(map(re.escape, _ERRNO), key=len, reverse=True)))
_NOT_WRITTEN = re.compile(r"(?:[Uu]nable|failed|could not) to (?:write|append|create)|could not write|write error")
"""git does not always report why."""
_MIN_FREE_BYTES = 1 << 16
_UNREAD = b"could not open directory"
_OF_THE_TREE = re.compile(r"(?:failed to encode|failed to decode|BOM is (?:required|prohibited) in) '[^\n]*")
_WORKTREE_RACE = re.compile(
    rb"(?:failed to read|Invalid path) '?/[^\n]*/worktrees/[^/\n]+(?:/[a-z]+)?'?: (?:Success|No such)"
)
"""Of a worktree's record that is half written or just gone: git looks through all of them, and the next look finds
another state."""

Unread = Callable[[tuple[str, ...], str], None]


class GitError(Exception):
    """git failed: `argv` as it was run, `exit_code` and what it wrote to `stderr` and `stdout`."""

    def __init__(self, argv: tuple[str, ...], exit_code: int | None, stderr: str, stdout: str = "") -> None:
        self.argv, self.exit_code, self.stderr, self.stdout = argv, exit_code, stderr, stdout
        super().__init__(f"git {_verb(argv)} failed ({exit_code}): {self.text}")

    @property
    def reason(self) -> Reason:
        """git's own message: the first line that is an error, else the first of all."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        first = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "")
        message = first.removeprefix("fatal: ").removeprefix("error: ")
        return quoted(message) if message else make_reason("command.silent")

    @property
    def text(self) -> str:
        """The reason in English, for logs and programs."""
        return english(self.reason)


def environment(git_dir: Path | None = None, work_tree: Path | None = None) -> dict[str, str]:
    """Returns the environment of every git process. HOME does not exist, or curl would read ~/.netrc; the names
    make reflogs possible on a machine without a git identity."""
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "",
    }
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "mendbot[bot]", f"GIT_{role}_EMAIL": "mendbot[bot]@users.noreply.github.com"}
    if git_dir is not None:
        env["GIT_DIR"] = str(git_dir)
    if work_tree is not None:
        env["GIT_WORK_TREE"] = str(work_tree)
    return env


async def git(
    *args: str,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 120,
    ok: Container[int] = (0,),
    unread: Unread | None = None,
) -> bytes:
    """Run git with the settings of threat T18 and return its stdout, at most 64 MiB.

    `args` may begin with further `-c` pairs; `env` is added to the scrubbed environment. Raises GitError for an exit
    code not in `ok`, Transient for a time-out, a full disk or a live lock, ConfigError where git is not installed,
    Refused (`unreadable_tree`) where what `work_tree` holds would keep git busy or waiting for ever.
    A lock file left by a dead process (older than a minute) is deleted and the command run once more; so is one
    that died of another's worktree, which was just being made or removed. `unread` gets `args` and stderr where git
    did its work but for directories that it could not open.
    """
    directory = cwd or work_tree or git_dir or Path("/")
    argv = ("git", *_FLAGS, *args)
    variables = {**environment(git_dir, work_tree), **(env or {})}
    deadline = time.monotonic() + timeout_s
    result = await _run(argv, directory, variables, stdin, deadline, work_tree)
    for _ in range(_LOCK_TRIES):  # several stale locks, or an unlucky race, may follow each other
        if result.exit_code in ok:
            break
        if (lock := _reported_lock(result, git_dir)) is not None:
            await wait_for_git_lock(lock, common_dir(git_dir or directory), deadline)
        elif _WORKTREE_RACE.search(result.errors) is not None:
            await asyncio.sleep(_RETRY_S)
        else:
            break
        result = await _run(argv, directory, variables, stdin, deadline, work_tree)
    if result.exit_code not in ok:
        raise _failure(args, result, directory, work_tree)
    if unread is not None and _UNREAD in result.errors:
        unread(args, result.errors.decode("utf-8", "replace"))
    return result.output


async def require_git() -> str:
    """The installed git's version; ConfigError where it is missing or older than `MINIMUM_VERSION` (T19)."""
    text = (await git("version")).decode("utf-8", "replace").strip()
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", text)
    if found is None or (int(found[1]), int(found[2])) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise user_error(make_reason("git.too_old", wanted=wanted, installed=repr(text)), ConfigError)
    return found[0]


async def _run(
    argv: tuple[str, ...],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    deadline: float,
    work_tree: Path | None,
) -> proc.ProcResult:
    limit = proc.OutputLimit(head=_MAX_OUTPUT, tail=0, total=_MAX_OUTPUT)
    left = max(0.1, deadline - time.monotonic())
    bounds = proc.Bounds(with_parent=True)
    if work_tree is not None:
        bounds = replace(bounds, cpu_s=max(_MIN_CPU_S, _CPU_SHARE * left), memory=_MEMORY)
    running = proc.run(
        argv, cwd=cwd, env=env, timeout_s=left, stdin=stdin, limit=limit, merge_stderr=False, bounds=bounds
    )
    result = await (running if work_tree is None else _run_watched(running, work_tree))
    verb = _verb(argv)
    if result.spawn_error is not None:
        _raise_not_started(result, cwd)
    if work_tree is not None and (result.timed_out or result.exit_code != 0):
        await _raise_for_tree(result, verb, work_tree)
    if result.timed_out:
        raise user_error(make_reason("git.timed_out", verb=verb), Transient)
    if result.overflowed or result.dropped_bytes:
        raise GitError(argv, result.exit_code, english(make_reason("git.overflowed", limit=_MAX_OUTPUT >> 20)))
    return result


async def _run_watched(running: Coroutine[Any, Any, proc.ProcResult], work_tree: Path) -> proc.ProcResult:
    """Returns the command's result. Raises Refused if it takes long and the tree holds a file at which git hangs."""
    task = asyncio.ensure_future(running)
    try:
        done, _ = await asyncio.wait({task}, timeout=_WATCH_AFTER_S)
        if not done:
            await asyncio.to_thread(refuse_hazards, work_tree)
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})  # until every process of it has ended


def _raise_not_started(result: proc.ProcResult, cwd: Path) -> NoReturn:
    if (lacking := shortage(result.spawn_errno)) is not None:
        raise user_error(make_reason("command.not_started", program="git", lacking=lacking), Shortage)
    if not cwd.is_dir():
        raise user_error(make_reason("git.no_directory", path=str(cwd)), Transient)
    raise user_error(make_reason("git.missing", error=result.spawn_error or ""), ConfigError)


async def _raise_for_tree(result: proc.ProcResult, verb: str, work_tree: Path) -> None:
    """Raises Refused where the tree's files made git be stopped or run out of memory."""
    exhausted = result.exit_code == -signal.SIGXCPU
    crashed = result.exit_code is None or result.exit_code < 0  # as some versions do of a huge file
    if crashed or result.timed_out or _NO_MEMORY.search(result.errors):
        await asyncio.to_thread(refuse_hazards, work_tree)
    if exhausted:
        pattern = await asyncio.to_thread(costly_pattern, work_tree)
        if pattern is None:
            raise refused("unreadable_tree", make_reason("git.exhausted", verb=verb))
        path, line = pattern
        raise refused("unreadable_tree", make_reason("git.exhausted.pattern", verb=verb, path=path, line=line))


def _reported_lock(result: proc.ProcResult, git_dir: Path | None) -> Path | None:
    found = _LOCKED.search(os.fsdecode(result.errors))
    if found is None or git_dir is None:
        return None
    lock = Path(os.path.realpath(found["ref"] or f"{found['config']}.lock"))
    # what a command prints is not to be trusted with the deletion of other files
    return lock if lock.is_relative_to(os.path.realpath(common_dir(git_dir))) else None


def _failure(args: tuple[str, ...], result: proc.ProcResult, directory: Path, work_tree: Path | None) -> Exception:
    stderr = result.errors.decode("utf-8", "replace")
    failed = {"verb": _verb(args), "path": str(directory)}
    if (found := _LACKING.search(stderr)) is not None and (lacking := shortage(_ERRNO[found[0]])) is not None:
        return user_error(make_reason("git.lacks", **failed, lacking=lacking), Shortage)
    if _NOT_WRITTEN.search(stderr) is not None and _is_full(directory):
        return user_error(make_reason("git.full", **failed, lacking=shortage(errno.ENOSPC) or ""), Shortage)
    if work_tree is not None and (found := _OF_THE_TREE.search(stderr)) is not None:
        return refused("unreadable_tree", make_reason("git.unreadable", error=one_line(found[0], 300)))
    return GitError(("git", *args), result.exit_code, stderr, result.output.decode("utf-8", "replace"))


def _is_full(directory: Path) -> bool:
    """Whether its file system has less left than git needs for one object."""
    try:
        left = os.statvfs(directory)
    except OSError:
        return False
    return left.f_bavail * left.f_frsize < _MIN_FREE_BYTES or (left.f_files > 0 and left.f_favail == 0)


def _verb(argv: tuple[str, ...]) -> str:
    words = iter(argv[1:] if argv and argv[0] == "git" else argv)
    for word in words:
        if word == "-c":
            next(words, None)
        else:
            return word
    return ""
