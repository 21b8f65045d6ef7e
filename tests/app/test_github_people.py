"""What a signed-in person may see is asked of GitHub again, and ends when GitHub says so (T46)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest

from bot.app.github_people import MAX_PEOPLE, MAX_UNCHECKED_S, RECHECK_S, RETRY_S, GitHubPeople, people_of
from bot.config import Settings
from bot.errors import Transient
from demo.standin.server import StandIn
from tests.web.conftest import sign_in_settings
from tests.web.people import github_with_people

VERIFIER = "v" * 64
ORIGIN = "http://127.0.0.1:3000"


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with github_with_people(tmp_path_factory.mktemp("github")) as github:
        yield github


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def people(github: StandIn, clock: Clock) -> AsyncIterator[GitHubPeople]:
    made = people_of(Settings(**sign_in_settings(github, ORIGIN)))
    assert made is not None
    made._clock = clock
    yield made
    await made.close()


async def sign_in(people: GitHubPeople, session: str, login: str) -> None:
    page, _, query = people.address("state", VERIFIER).partition("?")
    async with httpx2.AsyncClient() as browser:
        answer = await browser.post(page, data={**dict(parse_qsl(query)), "login": login})
    code = parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]
    assert await people.sign_in(session, code, VERIFIER) == login


def requests(github: StandIn) -> int:
    return len(github.world.requests)


async def test_permission_is_asked_again_after_some_minutes(
    people: GitHubPeople, clock: Clock, github: StandIn
) -> None:
    await sign_in(people, "a", "writer")
    before = requests(github)
    assert await people.repositories("a") == {"octo/pocket": True}
    github.world.set_permission("octo/pocket", "writer", "read")
    clock.now += RECHECK_S - 1
    assert await people.repositories("a") == {"octo/pocket": True} and requests(github) == before
    clock.now += 1
    assert await people.repositories("a") == {"octo/pocket": False}
    github.world.set_permission("octo/pocket", "writer", "none")
    clock.now += RECHECK_S
    assert await people.repositories("a") == {}
    github.world.set_permission("octo/pocket", "writer", "write")


async def test_who_revokes_the_authorization_is_signed_out(people: GitHubPeople, clock: Clock, github: StandIn) -> None:
    await sign_in(people, "a", "reader")
    github.world.revoke_authorization("reader")
    clock.now += RECHECK_S
    assert await people.repositories("a") is None


async def test_a_session_ends_with_its_token(people: GitHubPeople, clock: Clock) -> None:
    await sign_in(people, "a", "reader")
    clock.now += 28_799
    assert await people.repositories("a") is not None
    clock.now += 1
    assert await people.repositories("a") is None
    assert await people.repositories("unknown") is None


async def test_signing_out_ends_one_session_and_its_token(people: GitHubPeople, github: StandIn) -> None:
    await sign_in(people, "a", "reader")
    await sign_in(people, "b", "reader")
    tokens = len(github.world._state.user_tokens)
    github.world.faults.add("DELETE", "/applications/.*", status=401)
    people.sign_out("a")
    people.sign_out("a")
    await asyncio.gather(*people._revoking)
    assert len(github.world._state.user_tokens) == tokens  # GitHub refused, and the session is over all the same
    await sign_in(people, "c", "reader")
    people.sign_out("c")
    await asyncio.gather(*people._revoking)
    assert len(github.world._state.user_tokens) == tokens
    assert (await people.repositories("a"), await people.repositories("b")) == (None, {"octo/pocket": False})


async def test_the_last_permission_holds_for_a_while_without_github(
    people: GitHubPeople, clock: Clock, github: StandIn
) -> None:
    await sign_in(people, "a", "reader")
    github.world.faults.add("GET", "/user/installations", status=429, times=3, headers={"Retry-After": "60"})
    clock.now += RECHECK_S
    assert await people.repositories("a") == {"octo/pocket": False}
    before = requests(github)
    clock.now += RETRY_S - 1
    assert await people.repositories("a") == {"octo/pocket": False} and requests(github) == before
    clock.now += MAX_UNCHECKED_S
    with pytest.raises(Transient):
        await people.repositories("a")
    with pytest.raises(Transient):
        await people.repositories("a")
    assert requests(github) == before + 1
    clock.now += RETRY_S
    with pytest.raises(Transient):
        await people.repositories("a")
    clock.now += RETRY_S
    assert await people.repositories("a") == {"octo/pocket": False}


async def test_the_number_of_people_is_limited(people: GitHubPeople) -> None:
    await sign_in(people, "first", "reader")
    person = people._people["first"]
    people._people |= {f"s{number}": person for number in range(MAX_PEOPLE - 1)}
    await sign_in(people, "last", "reader")
    assert len(people._people) == MAX_PEOPLE and "first" not in people._people


def test_nobody_signs_in_without_client_id_and_secret() -> None:
    assert people_of(Settings(github_client_id="Iv1")) is None
