"""A person signs in by GitHub's web flow, and sees the App's repositories that they have permission to (T45)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import SecretStr

from bot.errors import UserError
from bot.github.answers import Unauthorized
from bot.github.user_access import (
    OAuthClient,
    PersonAccess,
    UserToken,
    authorize_address,
    exchange_user_code,
    revoke_user_token,
)
from bot.http import open_client
from demo.standin import StandIn
from tests.e2e.conftest import assert_traffic_is_githubs

BACK = "https://mendbot.acme.org/sign-in/github/callback"
VERIFIER = "v" * 43


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """`ann` may write to `octo/a` and read `octo/b`; `octo/c` is another's, and the App is not in `acme/d`."""
    with StandIn(tmp_path_factory.mktemp("hub"), webhook_url=None, webhook_secret="w" * 32) as standin:
        world = standin.world
        for name, role in {"octo/a": "write", "octo/b": "read", "octo/c": "none", "octo/d": "admin"}.items():
            world.create_repo(name, {"README.md": "# Hi\n"}, installed=name != "octo/d")
            world.set_permission(name, "ann", role)
        world.allow_callback(BACK)
        yield standin


@pytest.fixture
def oauth(github: StandIn) -> OAuthClient:
    return OAuthClient(github.url, github.client_id, SecretStr(github.client_secret), BACK)


def authorize(oauth: OAuthClient, login: str, state: str = "s1") -> str:
    """The person agrees on GitHub's page; returns the code."""
    address = authorize_address(oauth, state, VERIFIER)
    page = httpx2.get(address)
    assert page.status_code == 200, page.text
    fields = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    answer = httpx2.post(address.partition("?")[0], data={**fields, "login": login})
    back = answer.headers["location"]
    query = parse_qs(urlsplit(back).query)
    assert back.startswith(f"{BACK}?") and query["state"] == [state]
    return query["code"][0]


def exchange(oauth: OAuthClient, code: str, verifier: str = VERIFIER) -> UserToken:
    async def work() -> UserToken:
        async with open_client(oauth.github_url) as client:
            return await exchange_user_code(client, oauth, code, verifier)

    return asyncio.run(work())


def access(github: StandIn, token: SecretStr) -> tuple[str, dict[str, bool]]:
    async def work() -> tuple[str, dict[str, bool]]:
        async with open_client(github.api_url) as client:
            person = PersonAccess(client, github.api_url, token)
            return await person.login(), await person.repositories()

    return asyncio.run(work())


def test_a_person_sees_where_the_app_is_and_they_have_permission(github: StandIn, oauth: OAuthClient) -> None:
    token = exchange(oauth, authorize(oauth, "ann"))
    assert token.expires_in == 28_800 and token.access_token.get_secret_value() not in repr(token)
    assert access(github, token.access_token) == ("ann", {"octo/a": True, "octo/b": False})
    assert access(github, exchange(oauth, authorize(oauth, "octo")).access_token)[1] == {
        "octo/a": True,
        "octo/b": True,
        "octo/c": True,
    }
    assert_traffic_is_githubs(github)


def test_a_code_works_once_and_with_its_own_verifier(oauth: OAuthClient) -> None:
    code = authorize(oauth, "ann")
    with pytest.raises(UserError, match="sign in again"):
        exchange(oauth, code, "w" * 43)
    exchange(oauth, code)
    for used in (code, "unknown"):
        with pytest.raises(UserError, match="sign in again"):
            exchange(oauth, used)


def test_a_wrong_client_secret_is_named(oauth: OAuthClient) -> None:
    wrong = replace(oauth, client_secret=SecretStr("x" * 40))
    with pytest.raises(UserError, match="GITHUB_CLIENT_SECRET") as raised:
        exchange(wrong, authorize(oauth, "ann"))
    assert "xxx" not in str(raised.value)


def test_a_revoked_authorization_is_noticed(github: StandIn, oauth: OAuthClient) -> None:
    token = exchange(oauth, authorize(oauth, "ann")).access_token
    github.world.revoke_authorization("ann")
    with pytest.raises(Unauthorized):
        access(github, token)


def test_without_an_address_github_takes_the_apps_first_one(github: StandIn) -> None:
    plain = OAuthClient(github.url, github.client_id, SecretStr(github.client_secret))
    assert "redirect_uri" not in authorize_address(plain, "s", VERIFIER)
    assert exchange(plain, authorize(plain, "ann")).access_token


def revoke(github: StandIn, oauth: OAuthClient, token: SecretStr) -> None:
    async def work() -> None:
        async with open_client(github.api_url) as client:
            await revoke_user_token(client, github.api_url, oauth, token)

    asyncio.run(work())


def test_a_revoked_token_works_no_more(github: StandIn, oauth: OAuthClient) -> None:
    token, other = (exchange(oauth, authorize(oauth, "ann")).access_token for _ in range(2))
    revoke(github, oauth, token)
    revoke(github, oauth, token)  # unknown by now
    with pytest.raises(Unauthorized):
        access(github, token)
    assert access(github, other)[0] == "ann"
    with pytest.raises(Unauthorized):
        revoke(github, replace(oauth, client_secret=SecretStr("x" * 40)), other)
    assert_traffic_is_githubs(github)
