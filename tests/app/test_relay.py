"""What is posted to a relay arrives at the server behind it, with a signature that fits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.relay import Passed, relay, relayed
from bot.config import Settings
from bot.errors import UserError
from demo.standin.server import StandIn
from tests.e2e.processes import wait_until
from tests.machine import PATIENCE_S
from tests.web.conftest import SECRET, Door

REPO = "octo/tiny"


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with StandIn(tmp_path_factory.mktemp("github"), webhook_url=None, webhook_secret=SECRET) as standin:
        standin.world.create_user("ada")
        standin.world.create_repo(REPO, {"a": "b"})
        yield standin


def test_a_server_with_a_relay_gets_the_webhooks(github: StandIn, tmp_path: Path) -> None:
    channel = f"{github.url}/relay/served"
    github.world.set_webhook_url(channel)
    with Door(tmp_path) as door:
        with relayed(Settings(webhook_proxy_url=channel), f"http://127.0.0.1:{door.port}"):

            def arrived() -> bool:
                """What comes before the relay listens is lost, so there are several."""
                github.world.create_issue(REPO, "Größe 한국어 \u2028 <b>", "1.0 / 2", author="ada")
                github.world.wait_delivered()
                return bool(door.rows())

            wait_until(arrived, PATIENCE_S)
        assert {(event, status) for _, event, status in door.rows()} == {("issues", "accepted")}


async def test_what_was_passed_on_is_reported_with_the_answer(github: StandIn, tmp_path: Path) -> None:
    channel = f"{github.url}/relay/reported"
    github.world.set_webhook_url(channel)
    passed: asyncio.Queue[Passed] = asyncio.Queue()
    with Door(tmp_path) as door:
        target = f"http://127.0.0.1:{door.port}/api/github/webhooks"
        task = asyncio.create_task(relay(channel, target, passed.put_nowait))
        try:
            while passed.empty():  # a relay does not say who listens
                await asyncio.to_thread(github.world.create_issue, REPO, "It breaks", "", author="ada")
                await asyncio.sleep(0.05)
            assert (await passed.get())[::2] == ("issues", 202)
        finally:
            task.cancel()


async def test_an_address_without_a_channel_is_bad_input(github: StandIn) -> None:
    with pytest.raises(UserError, match=r"smee\.io"):
        await relay(f"{github.url}/nobody/here/at/all", "http://127.0.0.1:1")


def test_without_the_setting_nothing_is_relayed() -> None:
    with relayed(Settings(), "http://127.0.0.1:1"):
        pass
