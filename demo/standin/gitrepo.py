"""A bare git repository on disk, asked and changed through git itself, as GitHub's servers do.

Nothing here knows HTTP or GitHub; pull requests need git 2.38 or newer for a merge without a work tree."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import proc
from demo.standin.fast_import import FilesIn, gather, import_line
from demo.standin.git_refs import is_plain, read_branches, read_ref

ZERO = "0" * 40
_WHOLE = proc.OutputLimit(head=1 << 29, tail=1 << 10, total=1 << 29)


class GitFailed(Exception):
    """git said no; the text is what it printed."""


class MergeConflict(GitFailed):
    """The two branches cannot be merged by a machine."""


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit; the dates are ISO 8601 in UTC, as GitHub writes them."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Identity
    authored_at: str
    committer: Identity
    committed_at: str
    message: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    path: str
    previous_path: str | None
    status: str
    blob: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a tree: `kind` is blob, tree or commit (a submodule)."""

    mode: str
    kind: str
    sha: str
    size: int
    path: str


def scrubbed_env() -> dict[str, str]:
    """The environment of every git child: no configuration of this machine, no prompt, no locale."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }


_SERVER_CONFIG = """
[http]
	receivepack = true
[receive]
	autogc = false
[gc]
	auto = 0
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
"""

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
_LASTING = re.compile(r"[0-9a-f]{40}(\.{2,3}[0-9a-f]{40})?")
"""Revisions of which git always says the same."""
_LOG_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B%x01"


class BareRepo:
    """Promises: every method either does the whole thing or raises `GitFailed` with git's own words."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = asyncio.Lock()
        self._known: dict[tuple[str, ...], bytes] = {}
        """What git printed of commits and files that their full ids name, since a process takes long."""

    async def git(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        argv = ("git", "--git-dir", str(self.path), *args)
        done = await proc.run(
            argv, cwd=self.path, env=scrubbed_env(), timeout_s=60, stdin=stdin, limit=_WHOLE, merge_stderr=False
        )
        if done.exit_code not in ok or done.dropped_bytes:
            said = done.spawn_error or done.errors.decode(errors="replace").strip()
            raise GitFailed(f"git {args[0]} failed ({done.exit_code}): {said}")
        return done.output

    async def text(self, *args: str) -> str:
        return (await self.git(*args)).decode(errors="surrogateescape").strip()

    async def _read(self, *args: str, of: Sequence[str], ok: Sequence[int] = (0,)) -> bytes:
        """What a reading command prints of the revisions `of`; git is asked once if all of them are full ids."""
        if not all(_LASTING.fullmatch(revision) for revision in of):
            return await self.git(*args, ok=ok)
        if args not in self._known:
            self._known[args] = await self.git(*args, ok=ok)
        return self._known[args]

    async def init(self, branch: str) -> None:
        """Make it: receive-pack on, no background work, every object reachable by its id as on GitHub."""
        self.path.mkdir(parents=True)
        await self.git("init", "--bare", "--quiet", f"--initial-branch={branch}", str(self.path))
        with (self.path / "config").open("a") as config:
            config.write(_SERVER_CONFIG)

    async def commit(
        self, branch: str, files: FilesIn | Path, message: str, author: Identity, *, instead: bool = False
    ) -> str:
        """Commit `files` on `branch` (made from HEAD where it is new); None as content deletes. -> the new sha.

        A directory stands for all regular files and links in it; modes are kept. `instead`: the commit takes the
        place of the branch's last one, whose changes are gone."""
        tip = await self.resolve(f"refs/heads/{branch}")
        parent = await self.resolve(f"{tip}^") if tip and instead else tip or await self.resolve("HEAD")
        who = f"{author.name} <{author.email}> now"
        text = message.encode()
        stream = [
            f"commit refs/heads/{branch}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n".encode(),
            text,
            b"\n",
        ]
        if parent:
            stream.append(f"from {parent}\n".encode())
        stream += [import_line(path, mode, data) for path, mode, data in gather(files)]
        await self.git("fast-import", "--quiet", "--force", "--date-format=now", stdin=b"".join(stream))
        sha = await self.resolve(f"refs/heads/{branch}")
        assert sha is not None
        return sha

    async def resolve(self, rev: str) -> str | None:
        """The commit `rev` names, or None."""
        if is_plain(rev):
            found = read_ref(self.path, rev)
            if found is None or rev.startswith(("refs/heads/", "refs/pull/")):  # these name commits alone
                return found
        if (rev + "^{commit}",) in self._known:
            return rev
        out = await self.git("rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}", ok=(0, 1, 128))
        lines = [line for line in out.decode().split() if line != "--end-of-options"]
        if lines == [rev]:
            self._known[rev + "^{commit}",] = b""
        return lines[0] if lines else None

    async def branches(self) -> dict[str, str]:
        """Each branch and the commit it is at."""
        return read_branches(self.path)

    async def update_ref(self, ref: str, sha: str | None) -> None:
        await self.git("update-ref", *(("-d", ref) if sha is None else (ref, sha)))

    async def fetch(self, other: BareRepo, sha: str, ref: str) -> None:
        """Bring `sha` of another repository here, at `ref` (the head of a fork's pull request)."""
        await self.git("fetch", "--quiet", "--no-tags", str(other.path), f"+{sha}:{ref}")

    async def log(self, *revisions: str, limit: int = 250) -> tuple[CommitInfo, ...]:
        """Commits, newest first; `revisions` as git log takes them, never from outside."""
        form = (f"--format={_LOG_FORMAT}", "--date=format:%Y-%m-%dT%H:%M:%SZ")
        out = await self._read("log", f"-{limit}", *form, *revisions, "--", of=revisions)
        records = out.decode(errors="replace").split("\x01")
        return tuple(_commit(record.lstrip("\n")) for record in records if record.strip())

    async def commit_info(self, sha: str) -> CommitInfo:
        return (await self.log(sha, limit=1))[0]

    async def count(self, base: str, head: str) -> int:
        return int(await self._read("rev-list", "--count", f"{base}..{head}", of=(base, head)))

    async def merge_base(self, one: str, other: str) -> str | None:
        """The commit at which two lines parted; None where they never met."""
        found = await self._read("merge-base", one, other, of=(one, other), ok=(0, 1))
        return found.decode().strip() or None

    async def is_ancestor(self, old: str, new: str) -> bool:
        return await self.merge_base(old, new) == old if old != ZERO else True

    async def diff(self, base: str, head: str, *, patches: bool = False) -> tuple[FileDiff, ...]:
        """What `head` changed since it left `base` (three dots); `base` may be the empty tree's parentless side."""
        span = f"{base}...{head}" if base != ZERO else head
        against = ("diff", span) if base != ZERO else ("diff-tree", "--root", "--no-commit-id", "-r", head)
        raw = await self._read(*against, "--raw", "--numstat", "-z", "-M", "--abbrev=40", of=(base, head))
        files = _parse_diff(raw.decode(errors="surrogateescape"))
        if not patches:
            return files
        return tuple([await self._with_patch(against, file) for file in files])

    async def _with_patch(self, against: Sequence[str], file: FileDiff) -> FileDiff:
        names = [file.path, *([file.previous_path] if file.previous_path else [])]
        out = await self._read(*against, "-M", "-p", "--no-color", "--", *names, of=against[-1:])
        text = out.decode(errors="replace")
        at = text.find("\n@@")
        patch = text[at + 1 :].rstrip("\n") if at >= 0 else None
        return FileDiff(file.path, file.previous_path, file.status, file.blob, file.additions, file.deletions, patch)

    async def entries(self, rev: str, path: str = "") -> tuple[Entry, ...]:
        """The names in the directory `path` at `rev` ("" is the top), or the one entry where `path` is a file."""
        spec = [path, f"{path}/"] if path else []
        out = await self._read("ls-tree", "-z", "-l", rev, "--", *spec, of=(rev,))
        rows = [row.split("\t", 1) for row in out.decode(errors="surrogateescape").split("\0") if row]
        found = []
        for meta, name in rows:
            mode, kind, sha, size = meta.split()
            found.append(Entry(mode, kind, sha, 0 if size == "-" else int(size), name))
        inside = [entry for entry in found if entry.path != path]
        return tuple(inside or found)

    async def blob(self, sha: str) -> bytes:
        return await self._read("cat-file", "blob", sha, of=(sha,))

    async def merge(self, base: str, head: str, message: str, author: Identity) -> str:
        """A merge commit of the two, in no branch yet; `MergeConflict` where a person must decide."""
        out = await self.git("merge-tree", "--write-tree", "--name-only", base, head, ok=(0, 1))
        tree, *conflicts = out.decode(errors="replace").splitlines()
        if conflicts:
            raise MergeConflict("conflicts in " + ", ".join(line for line in conflicts if line))
        who = ("-c", f"user.name={author.name}", "-c", f"user.email={author.email}")
        return await self.text(*who, "commit-tree", tree, "-p", base, "-p", head, "-m", message)


def _commit(record: str) -> CommitInfo:
    sha, tree, parents, author, author_mail, authored, committer, committer_mail, committed, body = record.split("\0")
    return CommitInfo(
        sha=sha,
        tree=tree,
        parents=tuple(parents.split()),
        author=Identity(author, author_mail),
        authored_at=authored,
        committer=Identity(committer, committer_mail),
        committed_at=committed,
        message=body.strip("\n"),
    )


def _parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Read `--raw --numstat -z`: first all raw records (they begin with a colon), then one count per file."""
    fields = text.split("\0")
    raw: list[tuple[str, str, str | None, str]] = []
    at = 0
    while fields[at].startswith(":"):
        _, _, _, blob, letter = fields[at].split(" ")
        renamed = letter[0] in "RC"
        previous = fields[at + 1] if renamed else None
        raw.append((fields[at + 2] if renamed else fields[at + 1], letter[0], previous, blob))
        at += 3 if renamed else 2
    files = []
    for path, letter, previous, blob in raw:
        added, deleted, _ = fields[at].split("\t", 2)
        at += 3 if previous else 1
        counts = [0 if number == "-" else int(number) for number in (added, deleted)]
        files.append(FileDiff(path, previous, _STATUS.get(letter, "changed"), blob, counts[0], counts[1], None))
    return tuple(files)
