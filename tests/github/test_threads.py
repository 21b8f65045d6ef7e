from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.errors import Transient
from bot.github.threads import marker

KEY = "issue-3"
MARK = "<!-- mendbot:issue-3 -->"


async def upsert(world: Any, body: str, known_id: int | None = None, key: str = KEY) -> int:
    return await world.github().repository(world.repo).upsert_comment(3, key, body, known_id)


def posts(world: Any) -> int:
    return len(world.lines("POST /repos/octo/shop/issues"))


async def test_a_comment_is_made_once_and_then_edited(world: Any) -> None:
    first = await upsert(world, "attempt 1/3")
    assert await upsert(world, "attempt 2/3") == first
    assert [comment["body"] for comment in world.comments] == [f"{MARK}\nattempt 2/3"]


async def test_an_unchanged_comment_is_not_written(world: Any) -> None:
    found = await upsert(world, f"hello {MARK}")
    world.comments[0]["body"] = f"hello {MARK}\r\n"
    assert await upsert(world, f"hello {MARK}\n") == await upsert(world, f"hello {MARK}", known_id=found) == found
    assert not world.lines("PATCH")


async def test_a_known_comment_is_found_without_a_search(world: Any) -> None:
    found = await upsert(world, "one")
    world.seen.clear()
    assert await upsert(world, "two", known_id=found) == found
    assert not [line for line in world.lines("GET /repos") if line.endswith("/comments")]


async def test_a_known_comment_that_was_deleted_is_made_anew(world: Any) -> None:
    found = await upsert(world, "one")
    world.comments[0] |= {"id": 999, "body": "unrelated"}
    assert await upsert(world, "two", known_id=found) != found
    assert posts(world) == 2


async def test_a_comment_deleted_between_look_and_edit_is_made_anew(world: Any) -> None:
    await upsert(world, "one")
    world.fail("PATCH", 404)
    await upsert(world, "two")
    assert posts(world) == 2


@pytest.mark.parametrize(("login", "app_id"), [("mallory", None), ("mallory", 77), ("mendbot[bot]", 77)])
async def test_a_strangers_comment_with_the_marker_is_never_edited(world: Any, login: str, app_id: int | None) -> None:
    forged = world.comment(f"{MARK} forged", login, app_id)
    made = await upsert(world, "ours")
    assert made != forged["id"]
    assert forged["body"] == f"{MARK} forged"
    assert await upsert(world, "ours 2", known_id=forged["id"]) == made
    assert forged["body"] == f"{MARK} forged"


async def test_a_marker_that_a_log_printed_names_no_comment(world: Any) -> None:
    other = await upsert(world, f"it printed\n```\n{MARK}\n```\n", key="explain-3")
    ours = await upsert(world, f"queued\n```\n{MARK}\n```\n")
    assert ours != other
    assert [comment["body"].splitlines()[0] for comment in world.comments] == ["<!-- mendbot:explain-3 -->", MARK]


async def test_a_comment_that_went_along_with_its_issue_is_not_the_new_issues(world: Any) -> None:
    first = await upsert(world, "one")
    world.comments[0]["issue_url"] = world.comments[0].get("issue_url", "").replace(world.repo.name, "elsewhere")
    assert "elsewhere/issues/3" in world.comments[0]["issue_url"]
    world.comments[0]["body"] = "moved away"
    assert await upsert(world, "two", known_id=first) != first


async def test_our_comment_is_known_by_the_bots_login_where_the_app_is_not_told(world: Any) -> None:
    ours = world.comment(f"{MARK} old", "mendbot[bot]")
    assert await upsert(world, "new") == ours["id"]


async def test_all_pages_are_searched(world: Any) -> None:
    world.per_page = 10
    for n in range(35):
        world.comment(f"chatter {n}", "ann")
    ours = world.comment(f"{MARK} old", "mendbot[bot]", 4242)
    assert await upsert(world, "new") == ours["id"]
    assert posts(world) == 0


async def test_other_keys_are_other_comments(world: Any) -> None:
    first, second = await upsert(world, "a"), await upsert(world, "b", key="issue-33")
    assert first != second
    assert await upsert(world, "c") == first


@pytest.mark.parametrize(("status", "body"), [(502, None), (200, "<html>"), (500, None)])
async def test_a_comment_made_behind_a_broken_answer_is_not_made_twice(world: Any, status: int, body: Any) -> None:
    world.fail("POST .*/comments", status, body, after_effect=True)
    found = await upsert(world, "one")
    assert await upsert(world, "two") == found
    assert len(world.comments) == 1
    assert posts(world) == 1


async def test_a_comment_that_was_not_made_is_made_by_the_next_try(world: Any) -> None:
    world.fail("POST .*/comments", 502)
    with pytest.raises(Transient):
        await upsert(world, "one")
    assert posts(world) == 1
    await upsert(world, "one")
    assert len(world.comments) == 1


async def test_many_at_once_make_one_comment(world: Any) -> None:
    github = world.github()

    async def go() -> list[int]:
        return await asyncio.gather(
            *(github.repository(world.repo).upsert_comment(3, KEY, f"text {n}") for n in range(20))
        )

    assert len(set(await go())) == 1
    assert len(world.comments) == 1


async def test_a_body_that_github_would_refuse_is_our_mistake_and_is_not_sent(world: Any) -> None:
    with pytest.raises(ValueError, match="65536"):
        await upsert(world, "x" * 65_536)
    assert posts(world) == 0
    await upsert(world, "x" * (65_536 - len(MARK) - 1))


@pytest.mark.parametrize("key", ["", "a b", "a-->b", "a\nb", "x" * 300, "a--b"])
def test_keys_cannot_break_out_of_the_marker(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        marker(key)
