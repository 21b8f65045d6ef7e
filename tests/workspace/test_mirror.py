"""The mirror: made whole, brought up to date, read and pushed from, against real remotes on this machine."""

from __future__ import annotations

import asyncio
import base64
import http.server
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import Transient, UserError
from bot.workspace.git import GitError
from bot.workspace.mirror import (
    AccessDenied,
    PushRejected,
    Remote,
    branches,
    ensure_mirror,
    fetch,
    list_files,
    push,
    read_file,
    resolve,
    tidy,
)
from bot.workspace.tree import Tree
from tests.workspace.git_scene import HOSTILE_NAMES, make_bare, make_repo, plain


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
        head = asyncio.run(resolve(self.mirror, "main"))
        assert head is not None
        return plain("commit-tree", f"{head}^{{tree}}", "-p", head, "-m", text, cwd=self.mirror)

    def hook(self, name: str, script: str) -> None:
        hook = self.bare / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{script}\n")
        hook.chmod(0o755)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


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


def test_a_fetch_brings_branches_and_drops_those_that_are_gone(scene: Scene) -> None:
    plain("push", "-q", "origin", "main:feature/x", cwd=scene.work)
    plain("tag", "v1", cwd=scene.work)
    plain("push", "-q", "origin", "v1", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(branches(scene.mirror)) == {"main", "feature/x"}
    plain("push", "-q", "origin", ":feature/x", "main:feature", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(branches(scene.mirror)) == {"main", "feature"}
    assert "refs/tags" not in plain("for-each-ref", cwd=scene.mirror)


def test_local_branches_survive_a_fetch_and_are_counted(scene: Scene) -> None:
    plain("branch", "fix/issue-1", "refs/remotes/origin/main", cwd=scene.mirror)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(branches(scene.mirror)) == {"main", "fix/issue-1"}


def test_a_rewritten_branch_is_followed(scene: Scene) -> None:
    plain("commit", "-q", "--amend", "-m", "rewritten", cwd=scene.work)
    plain("push", "-q", "-f", "origin", "main", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(resolve(scene.mirror, "main")) == plain("rev-parse", "HEAD", cwd=scene.work)


def test_names_resolve_to_commits_and_nothing_else_does(scene: Scene) -> None:
    head = plain("rev-parse", "HEAD", cwd=scene.work)
    for rev in ("main", "refs/remotes/origin/main", head, head[:10]):
        assert asyncio.run(resolve(scene.mirror, rev)) == head
    for rev in ("nothing", "0" * 40, f"{head}^{{tree}}", "main~0", "refs/heads/main"):
        assert asyncio.run(resolve(scene.mirror, rev)) is None


def test_a_branch_that_calls_itself_like_a_commit_does_not_take_its_place(scene: Scene) -> None:
    head, other = plain("rev-parse", "HEAD", cwd=scene.work), scene.commit_here("other")
    plain("update-ref", f"refs/remotes/origin/{head}", other, cwd=scene.mirror)
    assert asyncio.run(resolve(scene.mirror, head)) == head


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_name_nothing_at_every_call(
    scene: Scene, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = asyncio.run(resolve(scene.mirror, "main")) or ""
    assert asyncio.run(resolve(scene.mirror, name)) is None
    assert asyncio.run(read_file(scene.mirror, name, "a.txt")) is None
    assert asyncio.run(read_file(scene.mirror, "main", name)) is None
    assert asyncio.run(list_files(scene.mirror, name)) == ()
    for call in (push(scene.mirror, head, name, scene.remote), fetch(scene.mirror, Remote(name))):
        with pytest.raises(UserError):
            asyncio.run(call)
    with pytest.raises(ValueError, match="no commit's id"):
        asyncio.run(push(scene.mirror, name, "fix/issue-1", scene.remote))
    assert not list(tmp_path.rglob("CANARY"))


def test_a_remote_with_hostile_branches_is_fetched_safely(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ("-x", "--upload-pack=touch${IFS}CANARY", "$(id)", "a'b", "|x", 'zzz";echo${IFS}"hello";#')
    for name in wanted:
        plain("update-ref", f"refs/heads/{name}", "refs/heads/main", cwd=scene.bare)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(branches(scene.mirror)) == {"main", *wanted}
    assert not list(tmp_path.rglob("CANARY"))


def test_files_are_read_at_a_commit(scene: Scene) -> None:
    (scene.work / "link").symlink_to("a.txt")
    (scene.work / "odd\nname").write_text("odd")
    (scene.work / "--force").write_bytes(b"\xff\n")
    (scene.work / "big").write_bytes(b"x" * (5 << 20))
    plain("add", "-A", cwd=scene.work)
    plain("commit", "-q", "-m", "more", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))

    def read(path: str) -> str | None:
        return asyncio.run(read_file(scene.mirror, "main", path))

    assert read("src/b.py") == "x = 1\n"
    assert read("odd\nname") == "odd"
    assert read("--force") == "�\n"
    assert [read(path) for path in ("link", "src", "src/", "nothing", "*", "", "../a.txt", ":(top)a.txt")] == [None] * 8
    with pytest.raises(UserError, match="big has 5242880 bytes"):
        read("big")
    assert set(asyncio.run(list_files(scene.mirror, "main"))) == {
        "a.txt", "src/b.py", ".gitignore", "link", "odd\nname", "--force", "big",
    }  # fmt: skip


def test_a_push_creates_and_repeats_harmlessly(scene: Scene) -> None:
    sha = scene.commit_here("fix")
    for _ in range(2):
        asyncio.run(push(scene.mirror, sha, "fix/issue-1", scene.remote))
    assert plain("rev-parse", "fix/issue-1", cwd=scene.bare) == sha


def test_a_push_never_moves_a_branch(scene: Scene) -> None:
    first, second = scene.commit_here("one"), scene.commit_here("two")
    asyncio.run(push(scene.mirror, first, "fix/issue-1", scene.remote))
    with pytest.raises(PushRejected, match=f"fix/issue-1.*exists already, at {first[:12]}"):
        asyncio.run(push(scene.mirror, second, "fix/issue-1", scene.remote))
    later = plain("commit-tree", f"{first}^{{tree}}", "-p", first, "-m", "later", cwd=scene.mirror)
    with pytest.raises(PushRejected):  # not even forward
        asyncio.run(push(scene.mirror, later, "fix/issue-1", scene.remote))
    assert plain("rev-parse", "fix/issue-1", cwd=scene.bare) == first


def test_a_declined_push_tells_the_other_sides_reason(scene: Scene) -> None:
    scene.hook("pre-receive", "echo >&2; echo 'error: GH006: Protected branch update failed' >&2; exit 1")
    with pytest.raises(PushRejected, match=r"GH006: Protected branch update failed \(pre-receive hook declined\)"):
        asyncio.run(push(scene.mirror, scene.commit_here("fix"), "fix/issue-1", scene.remote))


def test_a_declined_ref_tells_gits_word(scene: Scene) -> None:
    scene.hook("update", "exit 1")
    with pytest.raises(PushRejected, match="hook declined"):
        asyncio.run(push(scene.mirror, scene.commit_here("fix"), "fix/issue-1", scene.remote))


def test_the_token_travels_as_a_header_and_is_never_shown(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    seen: list[dict[str, str]] = []
    with server(403, seen) as url, pytest.raises(AccessDenied) as caught:
        asyncio.run(fetch(scene.mirror, Remote(url, SecretStr(token))))
    assert seen[0]["Authorization"] == f"Basic {encoded}"
    shown = repr(caught.value) + repr(caught.value.__context__) + repr(Remote(url, SecretStr(token)))
    assert token not in shown and encoded not in shown
    everything = b"".join(path.read_bytes() for path in scene.mirror.rglob("*") if path.is_file())
    assert token.encode() not in everything and encoded.encode() not in everything


def test_a_token_that_the_other_side_echoes_is_masked(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    remote = Remote("https://h/x", SecretStr(token))
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert remote.mask(f"a {token} b {encoded} c") == "a *** b *** c"
    with server(400) as url, pytest.raises(GitError) as caught:
        asyncio.run(fetch(scene.mirror, Remote(url, SecretStr(token))))
    assert "you sent Basic ***" in caught.value.stderr and encoded not in caught.value.stderr


def test_the_token_is_on_no_command_line_while_it_travels(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    lines: list[bytes] = []

    class Spy(list[dict[str, str]]):
        def append(self, _: dict[str, str]) -> None:
            lines.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline"))

    with server(404, Spy()) as url, pytest.raises(AccessDenied):
        asyncio.run(push(scene.mirror, scene.commit_here("x"), "fix/issue-1", Remote(url, SecretStr(token))))
    joined = b"".join(lines)
    assert b"--force-with-lease=refs/heads/fix/issue-1:" in joined
    assert token.encode() not in joined and encoded.encode() not in joined


@pytest.mark.parametrize(("status", "kind"), [
    (500, Transient), (502, Transient), (503, Transient), (429, Transient),
    (401, AccessDenied), (403, AccessDenied), (404, AccessDenied),
])  # fmt: skip
def test_what_the_other_side_answers_decides_the_error(scene: Scene, status: int, kind: type[Exception]) -> None:
    with server(status) as url:
        for token in (None, SecretStr("t0k")):
            with pytest.raises(kind, match=r"127\.0\.0\.1"):
                asyncio.run(fetch(scene.mirror, Remote(url, token)))
            with pytest.raises(kind):
                asyncio.run(push(scene.mirror, scene.commit_here("x"), "fix/issue-1", Remote(url, token)))


def test_a_closed_port_is_transient(scene: Scene) -> None:
    with server(200) as url:
        pass
    with pytest.raises(Transient):
        asyncio.run(fetch(scene.mirror, Remote(url)))


def test_a_redirect_elsewhere_is_not_followed(scene: Scene) -> None:
    seen: list[dict[str, str]] = []
    with (
        server(200, seen) as other,
        server(301, headers={"Location": f"{other}/info/refs"}) as url,
        pytest.raises(UserError, match="has moved"),
    ):
        asyncio.run(fetch(scene.mirror, Remote(url, SecretStr("t0k"))))
    assert seen == []


@pytest.mark.parametrize("url", [
    "ext::sh -c 'touch CANARY'", "file:///tmp", "ssh://git@h/x", "git@h:o/r", "https://user:secret@h/x", "http://",
    "relative", "https://[", "ftp://h/x",
])  # fmt: skip
def test_other_addresses_are_refused_in_words(scene: Scene, url: str) -> None:
    with pytest.raises(UserError) as caught:
        asyncio.run(fetch(scene.mirror, Remote(url)))
    assert "secret" not in str(caught.value)


def test_a_local_path_that_is_no_repository_is_told(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not found"):
        asyncio.run(fetch(scene.mirror, Remote(str(tmp_path / "nothing"))))


def _half_made(mirror: Path) -> None:
    mirror.mkdir(parents=True)
    (mirror / "objects").mkdir()


def _no_head(mirror: Path) -> None:
    asyncio.run(ensure_mirror(mirror))
    (mirror / "HEAD").unlink()


def _emptied(mirror: Path) -> None:
    asyncio.run(ensure_mirror(mirror))
    (mirror / "HEAD").write_bytes(b"")
    (mirror / "config").write_bytes(b"")


def _left_over(mirror: Path) -> None:
    half = mirror.with_name(f".{mirror.name}.new")
    half.mkdir(parents=True)
    (half / "HEAD").write_text("garbage")


def _locked(mirror: Path) -> None:
    mirror.mkdir(parents=True)
    lock = mirror / "HEAD.lock"
    lock.touch()
    os.utime(lock, (time.time() - 3600,) * 2)


@pytest.mark.parametrize("damage", [_half_made, _no_head, _emptied, _left_over, _locked])
def test_a_half_made_mirror_is_made_whole(scene: Scene, tmp_path: Path, damage: object) -> None:
    mirror = tmp_path / "mirrors/o/other.git"
    damage(mirror)  # type: ignore[operator]
    for _ in range(2):
        asyncio.run(ensure_mirror(mirror))
    asyncio.run(fetch(mirror, scene.remote))
    assert asyncio.run(branches(mirror)) == {"main"}
    assert not list(mirror.parent.glob("*.new"))


def test_planted_locks_do_not_stop_a_fetch(scene: Scene) -> None:
    plain("push", "-q", "origin", "main:gone", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    plain("pack-refs", "--all", cwd=scene.mirror)
    plain("push", "-q", "origin", ":gone", cwd=scene.work)
    for name in ("packed-refs.lock", "shallow.lock", "HEAD.lock", "config.lock", "refs/remotes/origin/main.lock"):
        lock = scene.mirror / name
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        os.utime(lock, (time.time() - 3600,) * 2)
    plain("commit", "-q", "--allow-empty", "-m", "second", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    assert asyncio.run(branches(scene.mirror)) == {"main"}
    assert asyncio.run(resolve(scene.mirror, "main")) == plain("rev-parse", "HEAD", cwd=scene.work)


def test_many_fetches_at_once_all_succeed(scene: Scene) -> None:
    plain("commit", "-q", "--allow-empty", "-m", "second", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)

    async def work() -> None:
        await asyncio.gather(*(fetch(scene.mirror, scene.remote) for _ in range(6)))

    asyncio.run(work())
    assert asyncio.run(resolve(scene.mirror, "main")) == plain("rev-parse", "HEAD", cwd=scene.work)


def test_tidying_keeps_what_is_named_and_the_trees_snapshots(scene: Scene, tmp_path: Path) -> None:
    plain("worktree", "add", "-q", "-b", "w", str(tmp_path / "w"), "refs/remotes/origin/main", cwd=scene.mirror)
    tree = Tree(tmp_path / "w", scene.mirror / "worktrees/w")
    (tree.path / "new").write_text("n")
    snapshot = asyncio.run(tree.snapshot())
    asyncio.run(tidy(scene.mirror))
    (tree.path / "new").unlink()
    asyncio.run(tree.restore(snapshot))
    assert (tree.path / "new").read_text() == "n"
