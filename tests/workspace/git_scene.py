"""Real repositories for the tests of this room, made with plain git and a scrubbed environment."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.model import ManageWorktreeResult
from bot.workspace.git.command import git
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.run_worktree import ensure_worktree
from bot.workspace.worktree.worktree_command import manage_worktree

ROOT = Path(__file__).parents[2]

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

HOSTILE_NAMES = (
    "-x",
    "--upload-pack=touch${IFS}CANARY",
    "--exec=touch CANARY",
    "$(touch CANARY)",
    "`touch CANARY`",
    "a'b",
    '"; touch CANARY; "',
    "|touch CANARY",
    'zzz";echo${IFS}"hello";#',
    "a\nb",
    "a b",
    "../../etc/passwd",
    "refs/../x",
    "@{-1}",
    "x:y",
    "ext::sh -c 'touch CANARY'",
    "",
)


def plain(*args: str, cwd: Path, check: bool = True, stdin: str | None = None) -> str:
    """git as a person would run it."""
    done = subprocess.run(["git", *args], cwd=cwd, env=ENV, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.strip()


def make_repo(path: Path, files: dict[str, str] | None = None) -> Path:
    """A checkout on `main` with one commit."""
    path.mkdir(parents=True)
    plain("init", "-q", "-b", "main", cwd=path)
    for name, text in (files or {"a.txt": "one\n", "src/b.py": "x = 1\n", ".gitignore": "*.log\n"}).items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    plain("add", "-A", cwd=path)
    plain("commit", "-q", "-m", "first", cwd=path)
    return path


def make_bare(path: Path, source: Path) -> Path:
    plain("clone", "-q", "--bare", str(source), str(path), cwd=source)
    return path


def executable(path: Path, canary: Path) -> Path:
    """A program that leaves a trace."""
    path.write_text(f"#!/bin/sh\necho $0 >> '{canary}'\ncat\nexit 0\n")
    path.chmod(0o755)
    return path


CREATE = """
import asyncio, sys
from bot.workspace.worktree.worktree_command import manage_worktree
result = asyncio.run(manage_worktree("create", [int(sys.argv[2])], repo=sys.argv[1]))
print(result.model_dump_json())
"""


async def manage(
    action: object, issues: object = None, branch_name: object = None, **options: object
) -> ManageWorktreeResult:
    result = await manage_worktree(action, issues, branch_name, **options)  # type: ignore[arg-type]
    json.loads(result.model_dump_json())
    return result


async def ensure(mirror: Path, path: Path, branch: str = "fix/issue-1", start: str = "main", limit: int = 3) -> Tree:
    return await ensure_worktree(mirror, path, branch, start, limit)


def python(program: str, *args: object) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)


def everything(root: Path) -> set[str]:
    """All paths but git's objects and our mutexes, which stay."""
    paths = {str(path.relative_to(root)) for path in root.rglob("*")}
    return {path for path in paths if "/objects" not in path and not path.endswith(".mutex")}


async def names(tree: Tree, snapshot: str) -> set[str]:
    out = await git("ls-tree", "-r", "-z", "--name-only", snapshot, git_dir=tree.git_dir)
    return {os.fsdecode(name) for name in out.split(b"\0") if name}


def content(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


class Scene:
    """A checkout somebody works in, the bare remote they share, our mirror of it."""

    def __init__(self, root: Path) -> None:
        self.work = make_repo(root / "work")
        self.bare = make_bare(root / "remote.git", self.work)
        plain("remote", "add", "origin", str(self.bare), cwd=self.work)
        self.mirror = root / "mirrors/o/r.git"
        self.remote = Remote(str(self.bare))
        asyncio.run(ensure_mirror(self.mirror))
        asyncio.run(fetch(self.mirror, self.remote))

    def commit_here(self, text: str) -> str:
        """A commit that only our mirror has."""
        head = plain("rev-parse", "refs/remotes/origin/main", cwd=self.mirror)
        return plain("commit-tree", f"{head}^{{tree}}", "-p", head, "-m", text, cwd=self.mirror)

    def hook(self, name: str, script: str) -> None:
        hook = self.bare / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{script}\n")
        hook.chmod(0o755)


@contextmanager
def server(
    status: int, seen: list[dict[str, str]] | None = None, headers: dict[str, str] | None = None
) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append(dict(self.headers))
            body = f"you sent {self.headers.get('Authorization')}\n".encode()
            self.send_response(status)
            for key, value in {
                "Content-Length": str(len(body)),
                "Content-Type": "text/plain",
                **(headers or {}),
            }.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}/o/r.git"
        httpd.shutdown()
        thread.join()
