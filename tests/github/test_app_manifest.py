"""A code is exchanged once, without credentials, and as GitHub describes it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.github.app_manifest import NewApp, exchange_code
from bot.http import open_client
from demo.standin import StandIn
from tests.e2e.conftest import assert_traffic_is_githubs


def exchange(github: StandIn, code: str) -> NewApp:
    async def work() -> NewApp:
        async with open_client(github.api_url) as client:
            return await exchange_code(client, github.api_url, code)

    return asyncio.run(work())


def test_a_code_gives_the_app_with_its_secrets_once(tmp_path: Path) -> None:
    with StandIn(tmp_path / "hub", webhook_url=None, webhook_secret="w" * 32) as github:
        code = github.world.submit_manifest({"name": "Mine"}, github.private_key_pem)
        app = exchange(github, code)
        assert (app.id, app.name, app.pem.get_secret_value()) == (github.app_id, "Mine", github.private_key_pem)
        assert app.webhook_secret is not None and "w" * 32 not in repr(app)
        assert [request.authenticated_as for request in github.world.requests] == [None]
        for used in (code, "unknown"):
            with pytest.raises(UserError, match="used already"):
                exchange(github, used)
        assert_traffic_is_githubs(github)
