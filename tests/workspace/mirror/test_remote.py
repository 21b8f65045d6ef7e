"""Pushing and the other side's answers: nothing is moved, nothing leaks, every refusal has its kind."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import Transient, UserError
from bot.workspace.git.command import GitError
from bot.workspace.mirror.mirror import PushRejected, fetch, push
from bot.workspace.mirror.remote import AccessDenied, Remote
from tests.workspace.git_scene import (
    Scene,
    plain,
    server,
)


async def test_a_push_creates_and_repeats_harmlessly(scene: Scene) -> None:
    sha = scene.commit_here("fix")
    for _ in range(2):
        await push(scene.mirror, sha, "fix/issue-1", scene.remote)
    assert plain("rev-parse", "fix/issue-1", cwd=scene.bare) == sha


async def test_a_push_never_moves_a_branch(scene: Scene) -> None:
    first, second = scene.commit_here("one"), scene.commit_here("two")
    await push(scene.mirror, first, "fix/issue-1", scene.remote)
    with pytest.raises(PushRejected, match=f"fix/issue-1.*exists already, at {first[:12]}"):
        await push(scene.mirror, second, "fix/issue-1", scene.remote)
    later = plain("commit-tree", f"{first}^{{tree}}", "-p", first, "-m", "later", cwd=scene.mirror)
    with pytest.raises(PushRejected):  # not even forward
        await push(scene.mirror, later, "fix/issue-1", scene.remote)
    assert plain("rev-parse", "fix/issue-1", cwd=scene.bare) == first


async def test_a_declined_push_tells_the_other_sides_reason(scene: Scene) -> None:
    scene.hook("pre-receive", "echo >&2; echo 'error: GH006: Protected branch update failed' >&2; exit 1")
    with pytest.raises(PushRejected, match=r"GH006: Protected branch update failed \(pre-receive hook declined\)"):
        await push(scene.mirror, scene.commit_here("fix"), "fix/issue-1", scene.remote)


async def test_a_declined_ref_tells_gits_word(scene: Scene) -> None:
    scene.hook("update", "exit 1")
    with pytest.raises(PushRejected, match="hook declined"):
        await push(scene.mirror, scene.commit_here("fix"), "fix/issue-1", scene.remote)


async def test_the_token_travels_as_a_header_and_is_never_shown(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    seen: list[dict[str, str]] = []
    with server(403, seen) as url, pytest.raises(AccessDenied) as caught:
        await fetch(scene.mirror, Remote(url, SecretStr(token)))
    assert seen[0]["Authorization"] == f"Basic {encoded}"
    shown = repr(caught.value) + repr(caught.value.__context__) + repr(Remote(url, SecretStr(token)))
    assert token not in shown and encoded not in shown
    everything = b"".join(path.read_bytes() for path in scene.mirror.rglob("*") if path.is_file())
    assert token.encode() not in everything and encoded.encode() not in everything


async def test_a_token_that_the_other_side_echoes_is_masked(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    remote = Remote("https://h/x", SecretStr(token))
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert remote.mask(f"a {token} b {encoded} c") == "a *** b *** c"
    with server(400) as url, pytest.raises(GitError) as caught:
        await fetch(scene.mirror, Remote(url, SecretStr(token)))
    assert "you sent Basic ***" in caught.value.stderr and encoded not in caught.value.stderr


async def test_the_token_is_on_no_command_line_while_it_travels(scene: Scene) -> None:
    token = "ghs_" + os.urandom(20).hex()
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    lines: list[bytes] = []

    class Spy(list[dict[str, str]]):
        def append(self, _: dict[str, str]) -> None:
            lines.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline"))

    with server(404, Spy()) as url, pytest.raises(AccessDenied):
        await push(scene.mirror, scene.commit_here("x"), "fix/issue-1", Remote(url, SecretStr(token)))
    joined = b"".join(lines)
    assert b"--force-with-lease=refs/heads/fix/issue-1:" in joined
    assert token.encode() not in joined and encoded.encode() not in joined


@pytest.mark.parametrize(("status", "kind"), [
    (500, Transient), (502, Transient), (503, Transient), (429, Transient),
    (401, AccessDenied), (403, AccessDenied), (404, AccessDenied),
])  # fmt: skip
async def test_what_the_other_side_answers_decides_the_error(scene: Scene, status: int, kind: type[Exception]) -> None:
    with server(status) as url:
        for token in (None, SecretStr("t0k")):
            with pytest.raises(kind, match=r"127\.0\.0\.1"):
                await fetch(scene.mirror, Remote(url, token))
            with pytest.raises(kind):
                await push(scene.mirror, scene.commit_here("x"), "fix/issue-1", Remote(url, token))


async def test_a_closed_port_is_transient(scene: Scene) -> None:
    with server(200) as url:
        pass
    with pytest.raises(Transient):
        await fetch(scene.mirror, Remote(url))


async def test_a_redirect_elsewhere_is_not_followed(scene: Scene) -> None:
    seen: list[dict[str, str]] = []
    with (
        server(200, seen) as other,
        server(301, headers={"Location": f"{other}/info/refs"}) as url,
        pytest.raises(UserError, match="has moved"),
    ):
        await fetch(scene.mirror, Remote(url, SecretStr("t0k")))
    assert seen == []


@pytest.mark.parametrize("url", [
    "ext::sh -c 'touch CANARY'", "file:///tmp", "ssh://git@h/x", "git@h:o/r", "https://user:secret@h/x", "http://",
    "relative", "https://[", "ftp://h/x",
])  # fmt: skip
async def test_other_addresses_are_refused_in_words(scene: Scene, url: str) -> None:
    with pytest.raises(UserError) as caught:
        await fetch(scene.mirror, Remote(url))
    assert "secret" not in str(caught.value)


async def test_a_local_path_that_is_no_repository_is_told(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not found"):
        await fetch(scene.mirror, Remote(str(tmp_path / "nothing")))
