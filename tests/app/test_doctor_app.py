"""The App on GitHub: what its settings page lacks is named, and so is why deliveries do not arrive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.doctor_app import examine_app
from bot.config import Settings
from bot.model.diagnosis import Diagnosis
from bot.reports.locale.reasons import english
from demo.standin.server import StandIn
from tests.machine import kept_port
from tests.web.conftest import SECRET, Door

REPO = "octo/tiny"


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with StandIn(tmp_path_factory.mktemp("github"), webhook_url=None, webhook_secret=SECRET) as standin:
        standin.world.create_user("ada")
        standin.world.create_repo(REPO, {"a": "b"})
        yield standin


def settings(github: StandIn, **changed: str) -> Settings:
    values = {"app_id": str(github.app_id), "private_key": github.private_key_pem, "github_api_url": github.api_url}
    return Settings(**{**values, **changed})  # type: ignore[arg-type]


async def diagnoses(github: StandIn, **changed: str) -> dict[str, Diagnosis]:
    found = {each.name: each for each in await examine_app(settings(github, **changed))}
    assert [each.name for each in found.values() if each.status != "ok" and each.remedy is None] == []
    return found


async def test_an_app_without_a_webhook_url_is_a_problem_and_its_rights_are_fine(github: StandIn) -> None:
    found = await diagnoses(github)
    assert {name: each.status for name, each in found.items()} == {
        "key": "ok",
        "permissions": "ok",
        "events": "ok",
        "installations": "ok",
        "webhook": "problem",
        "deliveries": "warning",
    }


async def test_a_lacking_permission_is_named(github: StandIn) -> None:
    github.world.change_app(permissions={"checks": "read"})
    try:
        found = (await diagnoses(github))["permissions"]
    finally:
        github.world.change_app(permissions={"checks": "write"})
    assert found.status == "problem" and "checks: write" in english(found.message)


async def test_a_key_of_another_app_is_a_problem(github: StandIn) -> None:
    found = await diagnoses(github, app_id="999999")
    assert {name: each.status for name, each in found.items()} == {"key": "problem"}


async def test_a_github_that_does_not_answer_is_a_problem(github: StandIn) -> None:
    found = await diagnoses(github, github_api_url=f"http://127.0.0.1:{kept_port()}")
    assert {name: each.status for name, each in found.items()} == {"github": "problem"}


async def test_a_wrong_secret_shows_in_the_latest_delivery(github: StandIn, tmp_path: Path) -> None:
    with Door(tmp_path) as door:
        github.world.set_webhook_url(f"http://127.0.0.1:{door.port}/api/github/webhooks")
        github.world.create_issue(REPO, "It breaks", "", author="ada")
        github.world.wait_delivered()
        assert (await diagnoses(github))["deliveries"].status == "ok"
        github.world.change_app(webhook_secret="another-secret-0123456789-abcdefghi")
        github.world.create_issue(REPO, "It breaks again", "", author="ada")
        github.world.wait_delivered()
        found = await diagnoses(github)
    assert found["webhook"].status == "ok"
    assert found["deliveries"].status == "problem"
    assert "WEBHOOK_SECRET" in english(found["deliveries"].remedy)


async def test_a_server_that_cannot_be_reached_is_no_wrong_secret(github: StandIn) -> None:
    github.world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/api/github/webhooks")
    github.world.create_issue(REPO, "It breaks", "", author="ada")
    github.world.wait_delivered()
    found = (await diagnoses(github))["deliveries"]
    assert "failed to connect to host" in english(found.message)
    assert "webhook's URL" in english(found.remedy)
