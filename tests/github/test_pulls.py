from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.errors import Transient, UserError
from bot.github.pulls import NoDrafts
from bot.logs import captured_logs
from bot.model import PullRequestRef


async def ensure(world: Any, **more: Any) -> PullRequestRef:
    asked = {"head": "fix/issue-3", "base": "main", "title": "Fix it", "body": "Closes #3"} | more
    return await world.github().repository(world.repo).ensure_pull(**asked)


def posts(world: Any) -> list[str]:
    return world.lines("POST /repos/octo/shop/pulls")


def pull(number: int, head: str = "fix/issue-3", state: str = "open", base: str = "main") -> dict[str, Any]:
    return {
        "number": number,
        "html_url": f"https://github.com/octo/shop/pull/{number}",
        "state": state,
        "title": "T",
        "user": None,
        "labels": [],
        "head": {"ref": head, "sha": "c" * 40, "repo": None},
        "base": {"ref": base, "sha": "d" * 40, "repo": {"full_name": "octo/shop"}},
    }


async def test_a_branch_gets_one_pull_request(world: Any) -> None:
    first = await ensure(world)
    assert await ensure(world) == first
    assert first.url.endswith("/pull/50")
    assert len(posts(world)) == 1
    lists = [seen for seen in world.seen if seen.line == "GET /repos/octo/shop/pulls"]
    assert all("head=octo%3Afix%2Fissue-3" in seen.query and "state=all" in seen.query for seen in lists)


async def test_the_open_one_is_preferred_and_a_closed_one_is_not_doubled(world: Any) -> None:
    world.pulls = [pull(4), pull(9, state="closed")]
    assert (await ensure(world)).number == 4
    world.pulls = [pull(4, state="closed"), pull(9, state="closed")]
    assert (await ensure(world)).number == 9
    assert not posts(world)


async def test_a_list_that_ignored_the_filter_does_not_mislead(world: Any) -> None:
    world.pulls = [pull(4, head="other"), pull(5, base="release")]
    assert (await ensure(world)).number == 52


async def test_a_pull_request_opened_behind_a_broken_answer_is_not_opened_twice(world: Any) -> None:
    world.fail("POST .*/pulls", 502, after_effect=True)
    assert (await ensure(world)).number == 50
    assert len(world.pulls) == len(posts(world)) == 1


async def test_one_that_was_not_opened_is_left_to_the_next_try(world: Any) -> None:
    world.fail("POST .*/pulls", 502)
    with pytest.raises(Transient):
        await ensure(world)
    assert (await ensure(world)).number == 50


async def test_a_draft_where_there_are_none_is_told_apart_from_other_refusals(world: Any) -> None:
    world.fail("POST .*/pulls", 422, {"message": "Draft pull requests are not supported in this repository."})
    with pytest.raises(NoDrafts, match="octo/shop has no draft"):
        await ensure(world, draft=True)
    assert world.pulls == []
    assert (await ensure(world)).number == 50


async def test_someone_quicker_is_found(world: Any) -> None:
    body = {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for octo:fix."}]}
    world.fail("POST .*/pulls", 422, body, after_effect=True)
    assert (await ensure(world)).number == 50


async def test_nothing_to_pull_is_said_to_the_user(world: Any) -> None:
    body = {"message": "Validation Failed", "errors": [{"message": "No commits between main and fix/issue-3"}]}
    world.fail("POST .*/pulls", 422, body)
    with pytest.raises(UserError, match="No commits between"):
        await ensure(world)


async def test_many_at_once_open_one(world: Any) -> None:
    github = world.github()

    client = github.repository(world.repo)
    await asyncio.gather(*(client.ensure_pull(head="fix/issue-3", base="main", title="t", body="b") for _ in range(10)))
    assert len(world.pulls) == 1


async def test_a_title_or_body_too_long_is_our_mistake(world: Any) -> None:
    with pytest.raises(ValueError, match="256"):
        await ensure(world, title="t" * 257)
    with pytest.raises(ValueError, match="65536"):
        await ensure(world, body="t" * 65_537)
    assert not world.seen


async def test_a_pull_request_whose_author_and_fork_are_gone_is_read(world: Any) -> None:
    world.pulls = [pull(4)]
    found = await world.github().repository(world.repo).pull(4)
    assert (found.author, found.head_repo, found.head_sha, found.base_sha) == ("", None, "c" * 40, "d" * 40)


async def test_of_the_files_of_a_pull_request_the_first_3000_are_read(world: Any) -> None:
    names = [{"filename": f"f{n}"} for n in range(3050)]
    world.files = [{"filename": "new", "previous_filename": "old"}, {"filename": "old"}, *names]
    paths = await world.github().repository(world.repo).pull_files(4)
    assert paths[:3] == ("new", "old", "f0")
    assert paths[-1] == "f2997"
    assert len(world.lines("GET /repos")) == 30


async def test_a_forks_pull_request_is_looked_for_among_the_1000_changed_last(world: Any) -> None:
    client = world.github().repository(world.repo)
    others = [pull(n) | {"head": {"ref": "x", "sha": "e" * 40}} for n in range(1, 2001)]
    world.pulls = [*others[:999], pull(3000)]
    assert await client.pulls_of("c" * 40) == (3000,)
    (query, *_) = [seen.query for seen in world.seen if seen.line == "GET /repos/octo/shop/pulls"]
    assert set(query.split("&")) == {"state=open", "sort=updated", "direction=desc", "per_page=100"}
    world.pulls = [*others, pull(3000)]
    world.seen.clear()
    assert await client.pulls_of("c" * 40) == ()
    assert len(world.lines("GET /repos/octo/shop/pulls")) == 10


@pytest.mark.parametrize("odd", [{"number": 7, "head": None}, None, "text", pull(7) | {"state": "half open"}])
async def test_an_odd_item_of_a_list_hides_no_other(world: Any, odd: object) -> None:
    world.pulls = [odd, pull(4)]
    with captured_logs() as logged:
        assert (await ensure(world)).number == 4
        assert await world.github().repository(world.repo).pulls_of("c" * 40) == (4,)
    assert not posts(world)
    number = odd["number"] if isinstance(odd, dict) else None
    assert [(line["event"], line["number"]) for line in logged] == [("odd_pull_request", number)] * 2
