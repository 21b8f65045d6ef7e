"""A pull request's head: fetched by its commit alone, and its branch moved forward alone, whatever it is called."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import Refused, Stale, Transient, UserError
from bot.workspace.mirror.mirror import PushRejected, collect_garbage, fetch, push, remote_sha, resolve
from bot.workspace.mirror.pull_refs import drop_head, drop_pull, fetch_head, merge_base, push_onto
from bot.workspace.mirror.remote import AccessDenied, Remote
from tests.workspace.git_scene import ENV, Scene, plain, server

NONE: frozenset[str] = frozenset()

VALID_NAMES = (
    "-x",
    "--upload-pack=touch${IFS}CANARY",
    "--exec=touch${IFS}CANARY",
    "--receive-pack=touch${IFS}CANARY",
    "$(id)",
    "$(touch${IFS}CANARY)",
    "`touch${IFS}CANARY`",
    "a'b",
    "|x",
    "|touch${IFS}CANARY",
    'zzz";echo${IFS}"hello";#',
    "'\";touch${IFS}CANARY;'",
    "+main",
    "&&touch${IFS}CANARY",
    "feature/ünïcode-가",
    "x,y=z%00",
)
"""Odd and hostile names that git takes for a branch, so that a pull request may come from one."""

INVALID_NAMES = (
    "", "a b", "a\nb", "a\0b", "x:y", "x:refs/heads/main", "../../etc/passwd", "refs/../x", "@{-1}", "a..b", "a.lock",
    "x^y", "~x", "a*", "a?", "a[b", "a\\b", "/a", "a/", "a//b", ".a", "a.", "a\x7f", "\ud800", "x" * 2000,
)  # fmt: skip


@contextmanager
def smart_http(bare: Path) -> Iterator[str]:
    """The repository as git's own server shows it (git-http-backend(1))."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            env = {
                **ENV,
                "GIT_PROJECT_ROOT": str(bare.parent),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            }
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            done = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=False)
            head, _, answer = done.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().split("\r\n"):
                self.send_header(*line.split(": ", 1))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}/{bare.name}"
        httpd.shutdown()
        thread.join()


class Contribution:
    """A pull request, number 7, on the other side: its branch there, `refs/pull/7/head`, and a clone of its author."""

    def __init__(self, scene: Scene, branch: str = "feature") -> None:
        self.scene, self.branch = scene, branch
        self.base = plain("rev-parse", "main", cwd=scene.bare)
        self.first = self.commit("first")
        self.at(self.first)

    def commit(self, text: str, parent: str | None = None) -> str:
        """A commit that only the other side has."""
        tree = plain("rev-parse", f"{self.base}^{{tree}}", cwd=self.scene.bare)
        return plain("commit-tree", tree, "-p", parent or self.base, "-m", text, cwd=self.scene.bare)

    def at(self, sha: str) -> None:
        self.point(f"refs/heads/{self.branch}", sha)
        self.point("refs/pull/7/head", sha)

    def point(self, ref: str, sha: str) -> None:
        plain("update-ref", "--stdin", cwd=self.scene.bare, stdin=f'update "{self.quoted(ref)}" {sha}\n')

    @staticmethod
    def quoted(ref: str) -> str:
        return ref.replace("\\", "\\\\").replace('"', '\\"')

    def head(self) -> str:
        return plain("rev-parse", f"refs/heads/{self.branch}", cwd=self.scene.bare)

    async def fetch(self, sha: str | None = None, remote: Remote | None = None) -> None:
        await fetch_head(self.scene.mirror, 7, self.first if sha is None else sha, remote or self.scene.remote)

    def mended(self, on: str | None = None) -> str:
        """A commit on top of the head that only our mirror has."""
        parent = on or self.first
        return plain("commit-tree", f"{parent}^{{tree}}", "-p", parent, "-m", "mend", cwd=self.scene.mirror)

    async def push(self, sha: str, expected: str | None = None, forbidden: frozenset[str] = NONE) -> None:
        mirror, remote = self.scene.mirror, self.scene.remote
        await push_onto(
            mirror, sha, self.branch, self.first if expected is None else expected, remote, forbidden=forbidden
        )


@pytest.fixture
def pull(scene: Scene) -> Contribution:
    return Contribution(scene)


async def has(mirror: Path, sha: str) -> bool:
    return await resolve(mirror, sha) == sha


def unnamed(mirror: Path) -> bool:
    """Collect what no ref names, as if two weeks had passed; whether anything of ours is named."""
    plain("reflog", "expire", "--expire=now", "--all", cwd=mirror)
    plain("gc", "-q", "--prune=now", cwd=mirror)
    return plain("for-each-ref", "refs/mendbot", cwd=mirror) == ""


async def test_a_head_is_fetched_and_kept_until_it_is_dropped(scene: Scene, pull: Contribution) -> None:
    for _ in range(2):
        await pull.fetch()
    pull.at(pull.commit("rewritten"))
    await fetch(scene.mirror, scene.remote)
    await pull.fetch(pull.head())
    await collect_garbage(scene.mirror)
    assert not unnamed(scene.mirror)
    assert await has(scene.mirror, pull.first) and await has(scene.mirror, pull.head())
    for sha in (pull.first, pull.first, pull.head(), "0" * 40):
        await drop_head(scene.mirror, sha)
    for number in (7, 7, 8):
        await drop_pull(scene.mirror, number)
    plain("update-ref", "-d", "refs/remotes/origin/feature", cwd=scene.mirror)
    assert unnamed(scene.mirror)
    assert not await has(scene.mirror, pull.first)


async def test_fetching_it_again_asks_nobody(scene: Scene, pull: Contribution) -> None:
    await pull.fetch()
    await pull.fetch(remote=Remote("/nowhere/at/all"))


async def test_a_head_that_was_built_upon_is_there_with_what_followed(scene: Scene, pull: Contribution) -> None:
    later = pull.commit("later", pull.first)
    pull.at(later)
    await pull.fetch()
    assert await has(scene.mirror, pull.first) and await has(scene.mirror, later)


async def test_a_head_that_was_replaced_is_fetched_by_its_id(scene: Scene, pull: Contribution) -> None:
    pull.at(pull.commit("rewritten"))
    await pull.fetch()
    assert await has(scene.mirror, pull.first)


async def test_a_request_whose_ref_is_gone_is_fetched_by_its_id(scene: Scene, pull: Contribution) -> None:
    plain("update-ref", "-d", "refs/pull/7/head", cwd=scene.bare)
    await pull.fetch()
    assert await has(scene.mirror, pull.first)


async def test_a_head_that_is_nowhere_is_stale_and_nothing_else_takes_its_place(
    scene: Scene, pull: Contribution
) -> None:
    """T11: the commit that was asked for or none, though the ref names another by now."""
    plain("config", "uploadpack.allowAnySHA1InWant", "false", cwd=scene.bare)
    for gone in ("1" * 40, plain("rev-parse", f"{pull.first}^{{tree}}", cwd=scene.bare)):
        with pytest.raises(Stale, match="the head moved on"):
            await pull.fetch(gone)
    assert "refs/mendbot/heads" not in plain("for-each-ref", cwd=scene.mirror)


async def test_only_whole_ids_and_numbers_are_fetched(scene: Scene, pull: Contribution) -> None:
    for sha in ("main", pull.first[:12], f"{pull.first}\n", "-x", "+refs/heads/*:refs/heads/*", ""):
        with pytest.raises(ValueError, match="no commit's id"):
            await pull.fetch(sha)
        with pytest.raises(ValueError, match="no commit's id"):
            await drop_head(scene.mirror, sha)
    with pytest.raises(ValueError, match="no pull request's number"):
        await fetch_head(scene.mirror, -1, pull.first, scene.remote)


@pytest.mark.parametrize(("status", "kind"), [(500, Transient), (403, AccessDenied), (404, AccessDenied)])
async def test_trouble_on_the_way_is_no_stale_head(
    scene: Scene, pull: Contribution, status: int, kind: type[Exception]
) -> None:
    with server(status) as url:
        with pytest.raises(kind):
            await pull.fetch(remote=Remote(url))
        await pull.fetch()
        with pytest.raises(kind):
            await push_onto(scene.mirror, pull.mended(), "feature", pull.first, Remote(url), forbidden=NONE)


async def test_all_of_it_over_http(scene: Scene, pull: Contribution) -> None:
    """What git's own server says there: other words than over a path, and the same meaning."""
    plain("config", "http.receivepack", "true", cwd=scene.bare)
    replaced, later = pull.first, pull.commit("later")
    pull.at(later)
    with smart_http(scene.bare) as url:
        remote = Remote(url)
        for sha in (replaced, later):
            await pull.fetch(sha, remote)
            assert await has(scene.mirror, sha)
        with pytest.raises(Stale, match="the head moved on"):
            await pull.fetch("1" * 40, remote)
        with pytest.raises(Stale, match="superseded"):
            await push_onto(scene.mirror, pull.mended(), "feature", replaced, remote, forbidden=NONE)
        mended = pull.mended(on=later)
        await push_onto(scene.mirror, mended, "feature", later, remote, forbidden=NONE)
        assert pull.head() == mended
        scene.hook("pre-receive", "echo no thanks >&2; exit 1")
        with pytest.raises(PushRejected, match="no thanks"):
            again = pull.mended(on=mended)
            await push_onto(scene.mirror, again, "feature", mended, remote, forbidden=NONE)


async def test_where_a_request_left_its_base(scene: Scene, pull: Contribution) -> None:
    await pull.fetch()
    tree = plain("rev-parse", f"{pull.base}^{{tree}}", cwd=scene.mirror)
    alone = plain("commit-tree", tree, "-m", "another beginning", cwd=scene.mirror)
    later = pull.mended(on=pull.base)

    async def of(left: str, right: str) -> str | None:
        return await merge_base(scene.mirror, left, right)

    assert await of(later, pull.first) == await of("main", pull.first) == pull.base
    assert await of(pull.first, pull.first) == pull.first
    assert await of(pull.first, alone) is None
    for unknown in ("0" * 40, "-x", "--all", "no such branch", ""):
        with pytest.raises(UserError, match="names no commit"):
            await of(unknown, pull.first)


async def test_a_push_moves_the_branch_forward_and_repeats_harmlessly(pull: Contribution) -> None:
    await pull.fetch()
    mended = pull.mended()
    for _ in range(2):
        await pull.push(mended)
        assert pull.head() == mended


async def test_a_push_that_arrived_though_it_was_answered_otherwise_is_fine(scene: Scene, pull: Contribution) -> None:
    await pull.fetch()
    scene.hook("update", 'git update-ref "$1" "$3"; exit 1')
    mended = pull.mended()
    await pull.push(mended)
    assert pull.head() == mended


@pytest.mark.parametrize("name", VALID_NAMES)
async def test_a_hostile_branch_is_moved_and_nothing_is_run(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """T17: all of these are names that git takes, so a fork may have them."""
    monkeypatch.chdir(tmp_path)
    pull = Contribution(scene, name)
    await pull.fetch()
    refs = plain("for-each-ref", "--format=%(refname)", cwd=scene.bare)
    mended = pull.mended()
    await pull.push(mended)
    assert pull.head() == mended
    pull.at(pull.commit("by its author"))
    with pytest.raises(Stale, match="superseded"):
        await pull.push(mended)
    assert plain("for-each-ref", "--format=%(refname)", cwd=scene.bare) == refs
    assert plain("rev-parse", "main", cwd=scene.bare) == pull.base
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize("name", INVALID_NAMES)
async def test_a_name_that_git_does_not_take_is_refused(
    scene: Scene, pull: Contribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    await pull.fetch()
    before = plain("for-each-ref", cwd=scene.bare)
    with pytest.raises(UserError, match="name that git does not take") as caught:
        await push_onto(scene.mirror, pull.mended(), name, pull.first, scene.remote, forbidden=NONE)
    assert not name or name not in str(caught.value)
    assert plain("for-each-ref", cwd=scene.bare) == before
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize("name", ["main", "Main", "release", "HEAD", "refs/heads/main", "refs/tags/v1", "tags/v1"])
async def test_a_branch_that_must_stay_is_never_pushed_to(scene: Scene, name: str) -> None:
    pull = Contribution(scene)
    await pull.fetch()
    with pytest.raises((Refused, UserError)) as caught:
        arguments = (scene.mirror, pull.mended(), name, pull.first, Remote("/nowhere"))
        await push_onto(*arguments, forbidden=frozenset({"main", "release"}))
    assert isinstance(caught.value, Refused) and caught.value.reason == "protected_branch"


async def test_a_branch_that_moved_supersedes_the_push(pull: Contribution) -> None:
    """T23: 0 pushes; neither what its author added nor what they replaced is lost."""
    await pull.fetch()
    mended = pull.mended()
    for theirs in (pull.commit("added", pull.first), pull.commit("replaced"), pull.base):
        pull.at(theirs)
        with pytest.raises(Stale, match=rf"superseded.*at {theirs[:12]}, not at {pull.first[:12]}"):
            await pull.push(mended)
        assert pull.head() == theirs


async def test_a_branch_that_is_gone_is_not_made_again(scene: Scene, pull: Contribution) -> None:
    await pull.fetch()
    plain("update-ref", "-d", "refs/heads/feature", cwd=scene.bare)
    with pytest.raises(Stale, match=r"superseded.*gone"):
        await pull.push(pull.mended())
    assert "feature" not in plain("for-each-ref", cwd=scene.bare)


async def test_what_does_not_follow_from_the_head_is_refused_before_anybody_is_asked(
    scene: Scene, pull: Contribution
) -> None:
    """The lease alone would let it through, as the branch is where it is expected."""
    await pull.fetch()
    for sha, expected in ((pull.mended(on=pull.base), pull.first), (pull.base, pull.first), (pull.first, "1" * 40)):
        with pytest.raises(Refused, match="does not follow") as caught:
            await pull.push(sha, expected)
        assert caught.value.reason == "not_forward"
    with pytest.raises(UserError, match="names no commit"):
        await pull.push("1" * 40)
    with pytest.raises(ValueError, match="no commit's id"):
        await pull.push("main")
    with pytest.raises(ValueError, match="no commit's id"):
        await pull.push(pull.first, "")
    assert pull.head() == pull.first


@pytest.mark.parametrize(
    ("hook", "script", "told"),
    [
        ("pre-receive", "echo 'error: GH006: Protected branch update failed' >&2; exit 1", "GH006: Protected branch"),
        ("update", "exit 1", "hook declined"),
    ],
)
async def test_a_declined_push_tells_the_other_sides_reason(
    scene: Scene, pull: Contribution, hook: str, script: str, told: str
) -> None:
    await pull.fetch()
    scene.hook(hook, script)
    with pytest.raises(PushRejected, match=told):
        await pull.push(pull.mended())
    assert pull.head() == pull.first


async def test_hooks_of_ours_do_not_run(scene: Scene, pull: Contribution, tmp_path: Path) -> None:
    await pull.fetch()
    (scene.mirror / "hooks").mkdir(exist_ok=True)
    for name in ("pre-push", "reference-transaction"):
        (scene.mirror / "hooks" / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/CANARY'\n")
        (scene.mirror / "hooks" / name).chmod(0o755)
    await pull.push(pull.mended())
    pull.at(pull.commit("another"))
    await pull.fetch(pull.head())
    assert not (tmp_path / "CANARY").exists()


async def test_the_token_is_on_no_command_line_while_it_travels(scene: Scene, pull: Contribution) -> None:
    """T24."""
    await pull.fetch()
    token = "ghs_" + os.urandom(20).hex()
    lines: list[bytes] = []

    class Spy(list[dict[str, str]]):
        def append(self, headers: dict[str, str]) -> None:
            assert headers["Authorization"].startswith("Basic ")
            lines.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline"))

    with server(404, Spy()) as url:
        remote = Remote(url, SecretStr(token))
        with pytest.raises(AccessDenied):
            await push_onto(scene.mirror, pull.mended(), "--exec=x", pull.first, remote, forbidden=NONE)
        with pytest.raises(AccessDenied):
            await fetch_head(scene.mirror, 8, "1" * 40, remote)
    joined = b"".join(lines)
    assert f"--force-with-lease=refs/heads/--exec=x:{pull.first}".encode() in joined and b"refs/pull/8/head" in joined
    assert token.encode() not in joined
    everything = b"".join(path.read_bytes() for path in scene.mirror.rglob("*") if path.is_file())
    assert token.encode() not in everything


async def test_a_branch_whose_name_ends_like_another_is_not_taken_for_it(scene: Scene, pull: Contribution) -> None:
    decoy = pull.commit("decoy")
    pull.point("refs/heads/a/refs/heads/feature", decoy)
    pull.point("refs/heads/a/refs/heads/fix/issue-1", decoy)
    assert await remote_sha(scene.mirror, "refs/heads/feature", scene.remote) == pull.first
    assert await remote_sha(scene.mirror, "refs/heads/none", scene.remote) == ""
    await pull.fetch()
    scene.hook("pre-receive", "exit 1")
    with pytest.raises(PushRejected):
        await pull.push(pull.mended())
    await pull.fetch(decoy)
    with pytest.raises(PushRejected):
        await push(scene.mirror, decoy, "fix/issue-1", scene.remote)
