from __future__ import annotations

import asyncio
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bot.errors import ConfigError, Stale, UserError
from bot.github.auth import AppJwt
from bot.github.clock import Clock, ServerClock


@pytest.mark.parametrize("skew", [-3600, -300, -30, 0, 30, 300, 3600])
async def test_a_wrong_clock_is_corrected_by_github_date(world: Any, skew: int) -> None:
    world.time.skew = skew
    github = world.github()

    identity = await github.app_identity()
    assert identity.login == "mendbot[bot]"
    await github.repository(world.repo).default_branch()
    assert len(world.lines("GET /app")) == (2 if skew in (-3600, 300, 3600) else 1)


async def test_the_jwt_is_signed_with_the_key_and_lives_within_githubs_limits(world: Any) -> None:
    github = world.github()
    await github.app_identity()
    bearer = world.seen[0].authorization.removeprefix("Bearer ")
    claims = jwt.decode(
        bearer, world.key.public_key(), algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )
    now = world.time.t
    assert claims == {"iss": "4242", "iat": now - 60, "exp": now + 540}
    assert bearer in github.live_secrets()


async def test_a_401_that_is_not_about_time_is_not_repeated(world: Any) -> None:
    world.fail("GET /app", 401, {"message": "A JSON web token could not be decoded"}, times=9)
    with pytest.raises(UserError, match="APP_ID"):
        await world.github().app_identity()
    assert len(world.seen) == 1


def test_bad_keys_are_a_configuration_error_that_does_not_quote_them() -> None:
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for key in ("", "nonsense-canary", "/srv/canary.pem", pem.decode()):
        with pytest.raises(ConfigError) as caught:
            AppJwt("1", key, ServerClock(Clock()))
        assert "canary" not in str(caught.value)
    with pytest.raises(ConfigError, match="APP_ID"):
        AppJwt(" ", pem.decode(), ServerClock(Clock()))


async def test_tokens_are_minted_per_repository_with_the_least_permissions(world: Any) -> None:
    github = world.github()

    await github.repository(world.repo).default_branch()
    await github.git_token(world.repo, write=False)
    await github.git_token(world.repo, write=True)
    requests = [token["request"] for token in world.tokens.values()]
    assert all(request["repositories"] == ["shop"] for request in requests)
    api, fetch, push = (request["permissions"] for request in requests)
    assert api == {
        "issues": "write",
        "pull_requests": "write",
        "checks": "write",
        "contents": "read",
        "metadata": "read",
    }
    assert fetch == {"contents": "read", "metadata": "read"}
    assert push == {"contents": "write", "metadata": "read"}
    assert set(github.live_secrets()) >= set(world.tokens)


async def test_many_who_wait_share_one_token(world: Any) -> None:
    github = world.github()

    await asyncio.gather(*(github.repository(world.repo).default_branch() for _ in range(20)))
    assert len(world.tokens) == 1


async def test_push_tokens_are_new_each_time_and_can_be_revoked(world: Any) -> None:
    github = world.github()

    first = await github.git_token(world.repo, write=True)
    second = await github.git_token(world.repo, write=True)
    assert first.get_secret_value() != second.get_secret_value()
    assert first.get_secret_value() not in repr(first)
    await github.revoke(world.repo, first)
    assert first.get_secret_value() not in world.tokens
    await github.revoke(world.repo, first)  # GitHub answers 401: fine
    assert second.get_secret_value() in github.live_secrets()
    assert first.get_secret_value() not in github.live_secrets()


@pytest.mark.parametrize("skew", [-600, 0, 600])
async def test_a_job_of_seventy_minutes_gets_a_new_token_without_a_refusal(world: Any, skew: int) -> None:
    world.time.skew = skew
    github = world.github()
    client = github.repository(world.repo)

    await github.app_identity()
    await client.default_branch()
    old = set(world.tokens)
    world.time.t += 54 * 60
    await client.default_branch()
    assert set(world.tokens) == old
    world.time.t += 2 * 60  # four minutes before its end
    await client.default_branch()
    assert len(world.tokens) == 2
    world.time.t += 14 * 60
    await client.default_branch()
    assert len(world.tokens) == 2
    assert not old & set(github.live_secrets())
    repo_calls = world.lines("GET /repos/octo/shop")
    assert len(repo_calls) == 4


async def test_a_fresh_token_that_is_not_known_everywhere_yet_is_tried_again(world: Any) -> None:
    world.fail("GET /repos/octo/shop$", 401, {"message": "Bad credentials"}, times=2)
    started = world.time.t
    assert await world.github().repository(world.repo).default_branch() == "trunk"
    assert len(world.tokens) == 1
    assert world.time.t - started <= 5


async def test_an_old_token_that_is_refused_is_minted_anew_once(world: Any) -> None:
    client = world.github().repository(world.repo)

    await client.default_branch()
    world.time.t += 60
    world.tokens.clear()
    assert await client.default_branch() == "trunk"
    assert len(world.lines("POST /app/installations")) == 2
    world.time.t += 60
    world.fail("GET /repos/octo/shop$", 401, times=99)
    before = len(world.seen)
    with pytest.raises(UserError):
        await client.default_branch()
    assert len(world.lines("POST /app/installations")) == 3
    assert len(world.seen) - before <= 6


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "Not Found"),
        (403, "This installation has been suspended"),
        (422, "There is at least one repository that does not exist or is not accessible to the parent installation."),
    ],
)
async def test_an_installation_that_is_gone_makes_the_work_stale_after_one_request(
    world: Any, status: int, message: str
) -> None:
    world.fail("POST /app/installations", status, {"message": message}, times=9)
    with pytest.raises(Stale):
        await world.github().repository(world.repo).issue(3)
    assert len(world.seen) == 1


async def test_missing_permissions_of_the_app_are_said(world: Any) -> None:
    world.fail("POST /app/inst", 422, {"message": "The permissions requested are not granted to this installation."})
    with pytest.raises(UserError, match="accept the App's permissions"):
        await world.github().repository(world.repo).default_branch()


async def test_a_broken_answer_to_minting_is_tried_again(world: Any) -> None:
    world.fail("POST /app/inst", 200, "<html>maintenance</html>")
    world.fail("POST /app/inst", 201, {"tokn": "x"})
    assert await world.github().repository(world.repo).default_branch() == "trunk"
    assert len(world.tokens) == 1
