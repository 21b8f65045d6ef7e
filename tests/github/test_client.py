from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from bot.errors import Stale, Transient, UserError
from bot.github.client import DEFAULT_AUTHOR
from bot.http import Unclear
from bot.logs import captured_logs
from bot.model import Repo

from .virtual_time import VirtualTime


async def test_reads_come_back_as_our_nouns(world: Any) -> None:
    client = world.github().repository(world.repo)

    assert await client.default_branch() == "trunk"
    issue = await client.issue(3)
    assert (issue.number, issue.body, issue.labels, issue.author) == (3, "", ("a", "b"), "")
    assert all(seen.authorization.startswith("Bearer ") for seen in world.seen)


@pytest.mark.parametrize(
    ("answer", "role"),
    [
        ({"permission": "write", "role_name": "maintain"}, "maintain"),
        ({"permission": "read", "role_name": "triage"}, "triage"),
        ({"permission": "admin", "role_name": "admin"}, "admin"),
        ({"permission": "write", "role_name": "Security champion"}, "write"),
        ({"permission": "none", "role_name": ""}, "none"),
        ({"permission": "owner"}, "none"),
        ({}, "none"),
    ],
)
async def test_permission_prefers_the_role_and_falls_back_on_what_it_is_based_on(
    world: Any, answer: dict[str, str], role: str
) -> None:
    world.roles["ann"] = answer
    assert await world.github().repository(world.repo).permission("ann") == role


async def test_permission_of_a_stranger_is_none_and_an_error_is_no_answer(world: Any) -> None:
    client = world.github().repository(world.repo)
    assert await client.permission("stranger") == "none"
    assert len(world.lines("GET /repos")) == 1
    world.fail("GET .*permission", 500, times=9)
    with pytest.raises(Transient):
        await world.github().repository(world.repo).permission("ann")
    world.fail("GET .*permission", 200, {"permission": ["admin"]})
    with pytest.raises(Transient):
        await world.github().repository(world.repo).permission("ann")


async def test_the_brackets_of_a_bots_login_are_part_of_its_name(world: Any) -> None:
    client = world.github().repository(world.repo)
    assert await client.permission("dependabot[bot]") == "none"
    world.roles["helper[bot]"] = {"permission": "write", "role_name": "write"}
    assert await client.permission("helper[bot]") == "write"


@pytest.mark.parametrize("login", ["..", ".", "", "../../orgs/x", "a/b?c#d", "é"])
async def test_odd_logins_never_change_the_path(world: Any, login: str) -> None:
    client = world.github().repository(world.repo)
    try:
        assert await client.permission(login) == "none"
    except UserError:
        assert login in ("..", ".", "")
    for seen in world.seen:
        assert seen.path.startswith(("/app/", "/repos/octo/shop/collaborators/"))
        assert not seen.query


async def test_labels_are_added_and_removed_however_often(world: Any) -> None:
    client = world.github().repository(world.repo)
    world.labels = ["keep"]

    await client.add_labels(3, ["auto-fix-done", "x/y z"])
    await client.add_labels(3, ["auto-fix-done"])
    await client.add_labels(3, [])
    await client.remove_label(3, "x/y z")
    await client.remove_label(3, "never there")
    assert world.labels == ["keep", "auto-fix-done"]


@pytest.mark.parametrize(("missing", "found"), [(1, True), (2, True), (3, False)])
async def test_an_issue_that_cannot_be_read_yet_is_asked_for_again(world: Any, missing: int, found: bool) -> None:
    world.fail("GET .*/issues/3$", 404, times=missing)
    client = world.github().repository(world.repo)
    if found:
        assert (await client.issue(3)).number == 3
    else:
        with pytest.raises(Stale):
            await client.issue(3)
    assert len(world.lines("GET /repos")) == (missing + 1 if found else 3)


async def test_an_issue_that_is_gone_is_stale_at_once(world: Any) -> None:
    world.fail("GET .*/issues/3$", 410, {"message": "This issue was deleted"})
    with pytest.raises(Stale):
        await world.github().repository(world.repo).issue(3)
    assert len(world.lines("GET /repos")) == 1


@pytest.mark.parametrize(("status", "body"), [(500, None), (502, "<html>"), (503, None), (200, "<html>unicorn</html>")])
async def test_reads_survive_two_broken_answers_and_give_up_after_three(world: Any, status: int, body: Any) -> None:
    world.fail("GET /repos", status, body, times=2)
    assert await world.github().repository(world.repo).default_branch() == "trunk"
    world.fail("GET /repos", status, body, times=9)
    world.seen.clear()
    with pytest.raises(Unclear):
        await world.github().repository(world.repo).default_branch()
    assert len(world.lines("GET /repos")) == 3


@pytest.mark.parametrize(
    ("status", "headers", "window"),
    [
        (429, {"retry_after": "120"}, 120),
        (403, {"retry_after": "90"}, 90),
        (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1800000300"}, 300),
        (403, {}, 60),
    ],
)
async def test_nothing_is_asked_within_a_limits_window_and_other_installations_go_on(
    world: Any, status: int, headers: dict[str, str], window: int
) -> None:
    github = world.github()
    ours, other = github.repository(world.repo), github.repository(Repo(owner="octo", name="shop", installation_id=8))
    message = {"message": "You have exceeded a secondary rate limit"}
    world.fail("POST .*/comments", status, message, **headers)

    with pytest.raises(Transient) as first:
        await ours.upsert_comment(3, "issue-3", "hello")
    assert first.value.retry_after_s == pytest.approx(window, abs=1)
    asked = len(world.seen)
    for step in range(10):
        for attempt in (ours.default_branch(), ours.add_labels(3, ["x"]), github.git_token(world.repo, write=True)):
            with pytest.raises(Transient) as again:
                await attempt
            assert again.value.retry_after_s is not None
            assert again.value.retry_after_s <= window - step * window / 10 + 1
        world.time.t += window / 10 - 0.01
    assert len(world.seen) == asked
    assert await other.default_branch() == "trunk"
    world.time.t += 1
    await ours.upsert_comment(3, "issue-3", "hello")
    assert len(world.comments) == 1


async def test_a_limit_met_while_a_token_is_minted_holds_back_what_waited_for_it(world: Any) -> None:
    github = world.github()
    first, second = github.repository(world.repo), github.repository(Repo(owner="octo", name="x", installation_id=7))

    await first.default_branch()
    world.turns["/app/installations/7/access_tokens"] = 50
    world.fail("GET /repos/octo/shop", 429, retry_after="60")
    results = await asyncio.gather(first.default_branch(), second.default_branch(), return_exceptions=True)
    assert all(isinstance(result, Transient) for result in results)
    assert not world.lines("GET /repos/octo/x")


async def test_limits_that_tell_no_time_are_waited_for_ever_longer(world: Any) -> None:
    client = world.github().repository(world.repo)
    world.fail("GET /repos", 429, times=3)
    waits = []

    for _ in range(3):
        with pytest.raises(Transient) as caught:
            await client.default_branch()
        waits.append(caught.value.retry_after_s)
        world.time.t += caught.value.retry_after_s + 0.1
    await client.default_branch()
    assert waits == [60, 120, 240]


async def test_a_reset_is_counted_by_githubs_clock(world: Any) -> None:
    world.time.skew = 240
    client = world.github().repository(world.repo)
    world.fail("GET /repos", 403, x_ratelimit_remaining="0", x_ratelimit_reset="1800000300")
    with pytest.raises(Transient):
        await client.default_branch()
    # our clock was learned right from the answers before
    world.time.t += 200
    with pytest.raises(Transient):
        await client.default_branch()


async def test_writes_of_an_installation_come_one_after_another_and_a_second_apart(world: Any) -> None:
    github = world.github(spacing_s=1.0)

    clients = [github.repository(world.repo) for _ in range(5)]
    await asyncio.gather(*(client.upsert_comment(3, f"k{i}", f"t{i}") for i, client in enumerate(clients)))
    posts = [seen.at for seen in world.seen if seen.line.endswith("/comments") and seen.method == "POST"]
    assert len(posts) == 5
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(posts))


@pytest.mark.parametrize("kind", ["issue_comment", "review_comment"])
@pytest.mark.parametrize("at", [0.0, 5.125, 5.625, 5.875])
async def test_a_reaction_does_not_wait_behind_a_burst_of_writes(world: Any, kind: Any, at: float) -> None:
    world.time = VirtualTime(world.time.t)
    github = world.github(spacing_s=1.0)
    begun = world.time.t

    async def look_out() -> None:
        await world.time.sleep(at)
        await github.repository(world.repo).react(kind, 8, "eyes")

    client = github.repository(world.repo)
    await world.time.run(*(client.upsert_comment(3, f"k{i}", "text") for i in range(20)), look_out())
    sent = [(seen.at - begun, seen.path) for seen in world.seen if seen.line.startswith("POST /repos")]
    (reacted,) = [when for when, path in sent if path.endswith("/reactions")]
    assert at <= reacted <= at + 0.5
    posts = [when for when, path in sent if path.endswith("/comments")]
    assert len(posts) == 20
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(posts))
    assert posts[-1] >= 20 - (at == 0)


async def test_no_two_writes_of_an_installation_are_under_way_at_once(world: Any) -> None:
    client = world.github().repository(world.repo)

    await client.default_branch()
    world.most_in_flight = 0
    await asyncio.gather(*(client.add_labels(3, [f"l{i}"]) for i in range(10)))
    assert world.most_in_flight == 1
    assert len(world.labels) == 10


async def test_an_hour_has_at_most_500_writes_at_githubs_pace(world: Any) -> None:
    client = world.github(spacing_s=1.0).repository(world.repo)

    for i in range(500):
        await client.add_labels(3, [f"l{i}"])
    with pytest.raises(Transient) as caught:
        await client.add_labels(3, ["one more"])
    assert await client.default_branch() == "trunk"
    world.time.t += caught.value.retry_after_s
    await client.add_labels(3, ["one more"])
    writes = [seen.at for seen in world.seen if seen.line.endswith("/labels")]
    assert writes[-1] - writes[0] >= 3600


@pytest.mark.parametrize(
    "link", ["https://evil.example/next", "http://api.github.com/next", "//evil.example:443/next", "https://[oops/next"]
)
async def test_a_list_ends_where_its_link_leads_to_another_origin_and_the_token_stays_home(
    world: Any, link: str
) -> None:
    world.fail("GET .*/comments", 200, [{"id": 1, "body": "x"}], times=2, link=f'<{link}>; rel="next"')
    client = world.github().repository(world.repo)

    async def go() -> None:
        for number in (3, 4):
            await client.upsert_comment(number, f"k{number}", "text")

    with captured_logs() as logged:
        await go()
    assert {seen.host for seen in world.seen} == {"api.github.com"}
    assert len(world.comments) == 2
    assert [line["event"] for line in logged] == ["next_page_elsewhere"]


async def test_redirects_to_another_host_are_refused_and_the_token_stays_home(world: Any) -> None:
    world.fail("GET /repos", 301, {"message": "Moved"}, location="https://evil.example/repos/octo/shop")
    with pytest.raises(UserError, match=r"evil\.example"):
        await world.github().repository(world.repo).default_branch()
    assert {seen.host for seen in world.seen} == {"api.github.com"}


async def test_links_that_never_end_end(world: Any) -> None:
    own = '<https://api.github.com/repos/octo/shop/issues/3/comments?page=1>; rel="next"'
    world.fail("GET .*/comments", 200, [], times=10_000, link=own)
    with pytest.raises(UserError, match="pages"):
        await world.github().repository(world.repo).upsert_comment(3, "k", "text")


async def test_the_commit_author_is_the_apps_bot_as_far_as_github_tells(world: Any) -> None:
    author = await world.github().commit_author(world.repo)
    assert author == "mendbot[bot] <31+mendbot[bot]@users.noreply.github.com>"
    world.fail("GET /users", 404)
    assert await world.github().commit_author(world.repo) == DEFAULT_AUTHOR
    world.fail("GET /app", 401)
    assert await world.github().commit_author(world.repo) == DEFAULT_AUTHOR
