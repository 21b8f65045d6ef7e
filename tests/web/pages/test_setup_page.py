"""The page `/setup`: each step of the App with what is missing, for the operator alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from typing import get_args

import pytest
from starlette.requests import Request

from bot.app.created_app import APP_FILE
from bot.app.created_on_page import page_app_creator
from bot.app.diagnoses import failed, fine, warned
from bot.app.doctor_app import examine_app
from bot.config import Settings
from bot.errors import ConfigError, UserError
from bot.model import Language
from bot.model.diagnosis import Diagnosis
from bot.rules.reasons import make_reason
from bot.store.inbox.deliveries import DeliveryRow
from bot.web.api import Guard
from bot.web.browser_sessions import BrowserSessions
from bot.web.pages.setup_page import CREATED_PATH, SetupPages
from bot.web.pages.site import Forbidden, Site, Visit
from bot.web.viewers import Viewer, Viewers
from demo.standin.server import StandIn
from tests.app.created_apps import unset
from tests.web.conftest import SECRET, TOKEN, Door, headers_for
from tests.web.pages.client import Client

SESSIONS = BrowserSessions(TOKEN, secure=False)


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with StandIn(tmp_path_factory.mktemp("github"), webhook_url=None, webhook_secret=SECRET) as standin:
        yield standin


def visit(repositories: dict[str, bool] | None = None, *, query: str = "", **form: str) -> Visit:
    scope = {"type": "http", "method": "GET", "path": "/setup", "query_string": query.encode(), "headers": []}
    return Visit(Request(scope), Viewer(SESSIONS.operator(), repositories), form)


def creating(github: StandIn, home: Path, relay: str | None = None) -> SetupPages:
    """The pages of a server without an App, at an address of its own."""
    settings = unset(home, github, public_url="https://mendbot.acme.org", webhook_proxy_url=relay)
    return replace(page(), creator=page_app_creator(settings, lambda: None))


def page(*steps: Diagnosis, language: Language = "en") -> SetupPages:
    async def examine() -> Sequence[Diagnosis]:
        return steps

    async def refused(_limit: int, _offset: int) -> Sequence[DeliveryRow]:
        return ()

    return SetupPages(Site(Guard(TOKEN, Viewers(SESSIONS)), Viewers(SESSIONS), language), examine, refused, None)


async def shown(shows: SetupPages) -> str:
    return bytes((await shows.show(visit())).body).decode()


async def test_how_to_create_an_app_is_shown_only_where_there_is_none() -> None:
    assert "Set <code>MENDBOT_PUBLIC_URL</code>" in await shown(page())
    assert "MENDBOT_PUBLIC_URL" not in await shown(replace(page(), has_app=True))


async def test_what_github_shows_of_the_app_is_a_list_of_steps(github: StandIn) -> None:
    values = {"app_id": str(github.app_id), "private_key": github.private_key_pem, "github_api_url": github.api_url}
    settings = Settings(**values)  # type: ignore[arg-type]
    whole = page()
    text = await shown(SetupPages(whole.site, partial(examine_app, settings), whole.refused, None))
    assert "The App exists, and the key fits" in text and "the App has all permissions" in text
    assert "the App&#39;s webhook has no URL" in text and "What to do:</strong> set the webhook&#39;s URL" in text
    assert "This server has refused no delivery." in text


@pytest.mark.parametrize("language", get_args(Language))
async def test_every_step_has_a_title_in_both_languages(language: Language) -> None:
    installed, key = make_reason("doctor.installed", count=2), make_reason("doctor.remedy.key")
    names = ("github", "key", "permissions", "events", "webhook", "deliveries")
    steps = [failed("app", name, make_reason("doctor.not_installed"), key) for name in names]
    text = await shown(page(*steps, fine("app", "installations", installed), language=language))
    assert text.count('<span class="pill bad">') == len(names) and text.count('<span class="pill good">') == 1


async def test_open_steps_are_counted() -> None:
    done = fine("app", "permissions", make_reason("doctor.permissions"))
    assert "The GitHub App has all that it needs." in await shown(page(done))
    open_step = warned(
        "app", "installations", make_reason("doctor.not_installed"), make_reason("doctor.remedy.install")
    )
    assert "One step is open." in await shown(page(done, open_step))


async def test_the_pages_are_for_the_operator_alone(github: StandIn, tmp_path: Path) -> None:
    pages = creating(github, tmp_path)
    for shows in (pages.show, pages.begin, pages.finish):
        with pytest.raises(Forbidden):
            await shows(visit({"octo/tiny": True}, name="Mendbot"))


async def test_an_app_is_made_on_github_and_its_credentials_are_stored_unseen(github: StandIn, tmp_path: Path) -> None:
    pages = creating(github, tmp_path / "home")
    response = await pages.begin(visit(name="Mendbot", organization=" octo "))
    text = bytes(response.body).decode()
    policy = response.headers["content-security-policy"]
    assert "form-action" not in policy and policy.startswith("default-src 'none'")
    action = unescape(re.findall(r'method="post" action="([^"]*settings[^"]*)"', text)[0])
    manifest = json.loads(unescape(re.findall(r'name="manifest" value="([^"]*)"', text)[0]))
    assert action.startswith(f"{github.url}/organizations/octo/settings/apps/new?state=")
    assert manifest["redirect_url"] == f"https://mendbot.acme.org{CREATED_PATH}"
    code = github.world.submit_manifest(manifest, github.private_key_pem)
    back = f"code={code}&state={action.partition('state=')[2]}"
    made = bytes((await pages.finish(visit(query=back))).body).decode()
    stored = (tmp_path / "home" / APP_FILE).read_text()
    assert "GitHub created the App Mendbot" in made and "/installations/new" in made
    assert f'APP_ID="{github.app_id}"' in stored
    secrets = re.findall(r'(?:KEY|SECRET)="([^"]+)"', stored)
    assert len(secrets) > 1 and not any(secret[:30] in made for secret in secrets)
    with pytest.raises(UserError):  # once
        await pages.finish(visit(query=back))
    with pytest.raises(ConfigError):  # never a second one
        await pages.begin(visit(name="Mendbot"))


@pytest.mark.parametrize(
    ("relay", "webhooks"),
    [(None, "https://mendbot.acme.org/api/github/webhooks"), ("https://smee.io/abc", "https://smee.io/abc")],
)
async def test_webhooks_of_a_new_app_go_to_the_relay_where_there_is_one(
    github: StandIn, tmp_path: Path, relay: str | None, webhooks: str
) -> None:
    text = bytes((await creating(github, tmp_path, relay).begin(visit(name="Mendbot"))).body).decode()
    manifest = json.loads(unescape(re.findall(r'name="manifest" value="([^"]*)"', text)[0]))
    assert manifest["hook_attributes"]["url"] == webhooks


async def test_without_a_public_address_no_app_can_be_made() -> None:
    assert "MENDBOT_PUBLIC_URL" in await shown(page())
    with pytest.raises(Forbidden):
        await page().begin(visit(name="Mendbot"))


def test_the_form_needs_its_token_and_the_return_a_session(operator: Client, visitor: Client) -> None:
    assert operator.post("/setup/app", {"name": "Mendbot"}).status == 403
    assert Client(visitor.port).get(f"{CREATED_PATH}?code=a&state=b").headers["location"].startswith("/login?next=")


def test_the_last_refused_delivery_says_why(door: Door, operator: Client) -> None:
    """A wrong webhook secret shows here."""
    body = b"{}"
    assert door.post(body, headers_for(body, "guid-x", X_Hub_Signature_256="sha256=" + "0" * 64)).status == 401
    text = operator.get("/setup").text
    assert "WEBHOOK_SECRET" in text and '<dd class="mono">issues</dd>' in text
    assert "check APP_ID and the private key" in text  # this server has no key


def test_no_secret_of_the_app_is_in_the_page(operator: Client) -> None:
    text = operator.get("/setup").text
    assert SECRET not in text and TOKEN not in text
