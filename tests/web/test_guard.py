"""Who may read and who may write: the token, loopback, other names for this machine, other sites' pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.session_world import TOKEN, Desk, World

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
def local(world: World) -> Iterator[Desk]:
    with Desk(world) as desk:
        yield desk


@pytest.fixture(scope="module")
def public(world: World) -> Iterator[Desk]:
    with Desk(world, loopback=False) as desk:
        yield desk


@pytest.fixture(scope="module")
def tokenless(world: World) -> Iterator[Desk]:
    with Desk(world, token=None) as desk:
        yield desk


@pytest.mark.parametrize("given", BAD)
@pytest.mark.parametrize("path", WRITES)
def test_a_write_wants_the_token_on_loopback_too(
    local: Desk, public: Desk, world: World, path: str, given: str | None
) -> None:
    for desk in (local, public):
        answer = desk.post(path, GOOD, authorization=given)
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "MENDBOT_ADMIN_TOKEN" in answer.json["error"]
    assert (world.asked, world.cancelled) == ([], [])


@pytest.mark.parametrize("given", [*BAD, f"Bearer {TOKEN}"])
def test_without_a_token_set_nothing_can_be_written(tokenless: Desk, world: World, given: str | None) -> None:
    for path in WRITES:
        answer = tokenless.post(path, GOOD, authorization=given)
        assert answer.status == 403
        assert "set MENDBOT_ADMIN_TOKEN" in answer.json["error"]
    assert (world.asked, world.cancelled) == ([], [])


@pytest.mark.parametrize("path", READS)
def test_reads_are_open_on_loopback_and_want_the_token_elsewhere(local: Desk, public: Desk, path: str) -> None:
    assert local.get(path, authorization=None).status == 200
    assert public.get(path, authorization=None).status == 401
    assert public.get(path, authorization=f"Bearer {TOKEN}").status == 200
    assert public.get(path, authorization=f"bearer  {TOKEN} ").status == 200


@pytest.mark.parametrize("given", BAD[1:])
def test_a_wrong_token_opens_nothing(local: Desk, public: Desk, tokenless: Desk, given: str) -> None:
    for desk in (local, public, tokenless):
        assert desk.get(SESSIONS, authorization=given).status == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("127.0.0.1:3000", 200), ("127.9.9.9", 200), ("localhost", 200), ("LOCALHOST:80", 200),
     ("[::1]:3000", 200), ("localhost.", 200), ("evil.example", 403), ("evil.example:3000", 403),
     ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403), ("192.168.1.5", 403), ("", 403), ("[::1", 403),
     ("localhost@evil.example", 403),
     ("2130706433", 403)],
)  # fmt: skip
def test_a_page_that_rebinds_its_name_to_loopback_reads_nothing(local: Desk, host: str, status: int) -> None:
    answer = local.get(SESSIONS, authorization=None, host=host)
    assert answer.status == status
    if status == 403:
        assert "http://127.0.0.1" in answer.json["error"]
    assert local.get(SESSIONS, host=host).status == 200  # who has the token may use any name


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP"])
def test_what_came_through_a_proxy_is_not_local(local: Desk, header: str) -> None:
    assert local.get(SESSIONS, authorization=None, **{header: "10.0.0.1"}).status == 403
    assert local.get(SESSIONS, **{header: "10.0.0.1"}).status == 200


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [("http://127.0.0.1:3000", "127.0.0.1:3000", True), ("https://bot.example", "bot.example", True),
     ("https://BOT.example", "bot.example:443", True), ("http://[::1]:3000", "[::1]:3000", True),
     ("https://evil.example", "bot.example", False), ("http://127.0.0.1:3001", "127.0.0.1:3000", False),
     ("null", "127.0.0.1:3000", False), ("", "127.0.0.1:3000", False), ("http://x:y", "127.0.0.1", False),
     ("https://bot.example.evil", "bot.example", False), ("http://[::1", "127.0.0.1", False)],
)  # fmt: skip
def test_another_sites_page_may_not_write_even_with_the_token(
    local: Desk, world: World, origin: str, host: str, allowed: bool
) -> None:
    before = len(world.asked)
    answer = local.post(SESSIONS, GOOD, origin=origin, host=host)
    assert answer.status == (201 if allowed else 403)
    assert len(world.asked) == before + allowed
    world.asked.clear()
