"""A form's state is accepted once and for an hour, and a code that was used up leaves a file or none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.app.app_creation import STATE_SECONDS, AppCreation, AppWishes
from bot.app.created_app import APP_FILE, with_created_app
from bot.errors import ConfigError, Transient, UserError
from demo.standin.server import StandIn
from tests.app.created_apps import unset

WISHES = AppWishes(public_url="https://mendbot.acme.org")
BACK = "http://127.0.0.1:1/callback"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret="w" * 32) as standin:
        yield standin


def begin(creation: AppCreation, github: StandIn, **more: Any) -> tuple[str, str]:
    """The state and the code of an App that a person had made with the form."""
    form = creation.begin(WISHES, BACK)
    (state,) = parse_qs(urlsplit(form.action).query)["state"]
    return state, github.world.submit_manifest(json.loads(form.manifest), github.private_key_pem, **more)


def test_the_credentials_are_those_of_the_new_app(github: StandIn, tmp_path: Path) -> None:
    settings = unset(tmp_path / "home", github)
    creation = AppCreation(settings)
    state, code = begin(creation, github)
    app = asyncio.run(creation.finish(code, state))
    made = with_created_app(settings)
    assert (made.app_id, made.key_pem.strip()) == (str(github.app_id), github.private_key_pem.strip())
    assert app.name == "Mendbot"
    with pytest.raises(ConfigError, match="already"):
        creation.begin(WISHES, BACK)


def test_a_state_works_once_and_only_if_it_was_given(github: StandIn, tmp_path: Path) -> None:
    creation = AppCreation(unset(tmp_path / "home", github))
    state, code = begin(creation, github)
    for wrong in ("", "x", state[:-1]):
        with pytest.raises(UserError, match="does not belong"):
            asyncio.run(creation.finish(code, wrong))
    with pytest.raises(UserError):
        asyncio.run(creation.finish("../../user", state))
    with pytest.raises(UserError, match="does not belong"):
        asyncio.run(creation.finish(code, state))
    assert not any(request.path.endswith("/conversions") for request in github.world.requests)


def test_a_state_is_too_old_after_an_hour(github: StandIn, tmp_path: Path) -> None:
    now = [0.0]
    creation = AppCreation(unset(tmp_path / "home", github), lambda: now[0])
    state, code = begin(creation, github)
    now[0] = STATE_SECONDS + 1
    with pytest.raises(UserError, match="older than an hour"):
        asyncio.run(creation.finish(code, state))


def test_a_code_that_github_refuses_leaves_no_file(github: StandIn, tmp_path: Path) -> None:
    creation = AppCreation(unset(tmp_path / "home", github))
    state, code = begin(creation, github, valid_s=-1)
    with pytest.raises(UserError, match="older than an hour"):
        asyncio.run(creation.finish(code, state))
    state, code = begin(creation, github)
    github.world.faults.add("POST", "/app-manifests/.*", status=503, times=9)
    with pytest.raises(Transient):
        asyncio.run(creation.finish(code, state))
    assert not (tmp_path / "home" / APP_FILE).exists()


@pytest.mark.parametrize("wishes", [{"name": ""}, {"name": "x" * 35}, {"organization": "a/b"}])
def test_a_wrong_name_is_refused(tmp_path: Path, wishes: dict[str, str]) -> None:
    with pytest.raises(UserError):
        AppCreation(unset(tmp_path)).begin(AppWishes(public_url="https://a.example", **wishes), BACK)
