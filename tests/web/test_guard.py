"""Who may read and who may write: the token alone opens, from wherever; other sites' pages never write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.session_world import TOKEN, SessionsHarness, World

GOOD = {"repo": "octo/pocket", "task": "mend it", "testCommand": "npm test"}
SESSIONS = "/api/sessions"
READS = (SESSIONS, f"{SESSIONS}/s-0", f"{SESSIONS}/s-0/events", f"{SESSIONS}/s-0/artifacts", "/api/worktrees")
WRITES = (SESSIONS, f"{SESSIONS}/s-0/cancel")
BAD = (None, "", "Bearer", "Bearer ", "Bearer None", "Bearer wrong", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
       f"Basic {TOKEN}", TOKEN, f"Bearer{TOKEN}", "Bearer \xe9")  # fmt: skip


@pytest.fixture(scope="module")
def world() -> World:
    world = World()
    world.put("/r", "t")
    return world


@pytest.fixture(scope="module")
def local(world: World) -> Iterator[SessionsHarness]:
    with SessionsHarness(world) as desk:
        yield desk


@pytest.mark.parametrize("given", BAD)
@pytest.mark.parametrize("path", WRITES)
def test_a_write_wants_the_token(local: SessionsHarness, world: World, path: str, given: str | None) -> None:
    answer = local.post(path, GOOD, authorization=given)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "MENDBOT_ADMIN_TOKEN" in answer.json["error"]
    assert (world.asked, world.cancelled) == ([], [])


@pytest.mark.parametrize("given", BAD)
@pytest.mark.parametrize("path", READS)
def test_a_read_wants_the_token(local: SessionsHarness, path: str, given: str | None) -> None:
    answer = local.get(path, authorization=given)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "admin-token" in answer.json["error"]


@pytest.mark.parametrize("path", READS)
def test_the_token_opens_every_read(local: SessionsHarness, path: str) -> None:
    assert local.get(path, authorization=f"Bearer {TOKEN}").status == 200
    assert local.get(path, authorization=f"bearer  {TOKEN} ").status == 200


@pytest.mark.parametrize(
    "header",
    [{"Host": "127.0.0.1"}, {"Host": "localhost:3000"}, {"Host": "[::1]:3000"}, {"Host": "evil.example"}, {"Host": ""},
     {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}],
)  # fmt: skip
def test_no_name_and_no_proxy_stands_for_the_token(local: SessionsHarness, header: dict[str, str]) -> None:
    """A proxy that says `Host: 127.0.0.1` published every read; who has the token may use any name."""
    assert local.get(SESSIONS, authorization=None, **header).status == 401
    assert local.get(SESSIONS, **header).status == 200


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [("http://127.0.0.1:3000", "127.0.0.1:3000", True), ("https://bot.example", "bot.example", True),
     ("https://BOT.example", "bot.example:443", True), ("http://[::1]:3000", "[::1]:3000", True),
     ("https://evil.example", "bot.example", False), ("http://127.0.0.1:3001", "127.0.0.1:3000", False),
     ("null", "127.0.0.1:3000", False), ("", "127.0.0.1:3000", False), ("http://x:y", "127.0.0.1", False),
     ("https://bot.example.evil", "bot.example", False), ("http://[::1", "127.0.0.1", False)],
)  # fmt: skip
def test_another_sites_page_may_not_write_even_with_the_token(
    local: SessionsHarness, world: World, origin: str, host: str, allowed: bool
) -> None:
    before = len(world.asked)
    answer = local.post(SESSIONS, GOOD, origin=origin, host=host)
    assert answer.status == (201 if allowed else 403)
    assert len(world.asked) == before + allowed
    world.asked.clear()
