from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.errors import Transient, UserError
from bot.model import PullRequest


def ensure(world: Any, **more: str) -> PullRequest:
    asked = {"head": "fix/issue-3", "base": "main", "title": "Fix it", "body": "Closes #3"} | more
    return asyncio.run(world.github().repository(world.repo).ensure_pull(**asked))


def posts(world: Any) -> list[str]:
    return world.lines("POST /repos/octo/shop/pulls")


def pull(number: int, head: str = "fix/issue-3", state: str = "open", base: str = "main") -> dict[str, Any]:
    return {
        "number": number,
        "html_url": f"https://github.com/octo/shop/pull/{number}",
        "state": state,
        "head": {"ref": head, "sha": "c" * 40},
        "base": {"ref": base},
    }


def test_a_branch_gets_one_pull_request(world: Any) -> None:
    first = ensure(world)
    assert ensure(world) == first
    assert first.url.endswith("/pull/50")
    assert len(posts(world)) == 1
    lists = [seen for seen in world.seen if seen.line == "GET /repos/octo/shop/pulls"]
    assert all("head=octo%3Afix%2Fissue-3" in seen.query and "state=all" in seen.query for seen in lists)


def test_the_open_one_is_preferred_and_a_closed_one_is_not_doubled(world: Any) -> None:
    world.pulls = [pull(4), pull(9, state="closed")]
    assert ensure(world).number == 4
    world.pulls = [pull(4, state="closed"), pull(9, state="closed")]
    assert ensure(world).number == 9
    assert not posts(world)


def test_a_list_that_ignored_the_filter_does_not_mislead(world: Any) -> None:
    world.pulls = [pull(4, head="other"), pull(5, base="release")]
    assert ensure(world).number == 52


def test_a_pull_request_opened_behind_a_broken_answer_is_not_opened_twice(world: Any) -> None:
    world.fail("POST .*/pulls", 502, after_effect=True)
    assert ensure(world).number == 50
    assert len(world.pulls) == len(posts(world)) == 1


def test_one_that_was_not_opened_is_left_to_the_next_try(world: Any) -> None:
    world.fail("POST .*/pulls", 502)
    with pytest.raises(Transient):
        ensure(world)
    assert ensure(world).number == 50


def test_someone_quicker_is_found(world: Any) -> None:
    body = {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for octo:fix."}]}
    world.fail("POST .*/pulls", 422, body, after_effect=True)
    assert ensure(world).number == 50


def test_nothing_to_pull_is_said_to_the_user(world: Any) -> None:
    body = {"message": "Validation Failed", "errors": [{"message": "No commits between main and fix/issue-3"}]}
    world.fail("POST .*/pulls", 422, body)
    with pytest.raises(UserError, match="No commits between"):
        ensure(world)


def test_many_at_once_open_one(world: Any) -> None:
    github = world.github()

    async def go() -> None:
        client = github.repository(world.repo)
        await asyncio.gather(
            *(client.ensure_pull(head="fix/issue-3", base="main", title="t", body="b") for _ in range(10))
        )

    asyncio.run(go())
    assert len(world.pulls) == 1


def test_a_title_or_body_too_long_is_our_mistake(world: Any) -> None:
    with pytest.raises(ValueError, match="256"):
        ensure(world, title="t" * 257)
    with pytest.raises(ValueError, match="65536"):
        ensure(world, body="t" * 65_537)
    assert not world.seen
