"""What `serve` refuses to start without, and when it starts without an App."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.app.home import claim_home
from bot.app.server import check_settings
from bot.app.start_checks import lacks_app
from bot.config import Settings, unknown_variables
from bot.errors import ConfigError
from bot.model import Repo
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.inbox.deliveries import Delivery, Inbox
from bot.store.runs.runs import Runs
from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S

SETTINGS = Settings(app_id="1", webhook_secret="s3cr" * 8, private_key="key", allow_root=True)

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a git on PATH, alone, that says this of its version."""

    def put(version: str) -> None:
        (tmp_path / "git").write_text(f"#!/bin/sh\necho git version {version}\n")
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


def test_a_machine_that_has_all_is_fine() -> None:
    check_settings(SETTINGS)


@pytest.mark.parametrize("version", ["2.39.0", "2.100.1", "3.0", "'2.39.5 (Apple Git-154)'", "2.47.1.windows.1"])
def test_a_git_that_is_new_enough_is_fine(install: Install, version: str) -> None:
    install(version)
    check_settings(SETTINGS)


@pytest.mark.parametrize("version", ["2.38.5", "1.99.0", "2.4.11", "unknown"])
def test_an_old_git_is_refused_with_both_versions(install: Install, version: str) -> None:
    """T19: a git with known holes is not started."""
    install(version)
    with pytest.raises(ConfigError, match=rf"git 2\.39 or newer is needed, .*{version}"):
        check_settings(SETTINGS)


def test_a_machine_without_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="install git"):
        check_settings(SETTINGS)


@pytest.mark.parametrize("app_id", ["1", " 1234\n", "Iv23liAbCdEfGhIjKlMn", "Iv1.8a61f9b3a7aba766"])
def test_an_apps_number_and_its_client_id_are_fine(app_id: str) -> None:
    check_settings(SETTINGS.model_copy(update={"app_id": app_id}))


def test_variables_that_no_setting_is_read_from_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MENDBOT_"):
            monkeypatch.delenv(name)
    mine = ("MENDBOT_HOME", "MENDBOT_ENABLED", "MENDBOT_PROC", "MENDBOTTLE")
    for name in (*mine, "MENDBOT_MAX_WORKTREE", "MENDBOT_XYZ"):
        monkeypatch.setenv(name, "1")
    assert unknown_variables() == {"MENDBOT_MAX_WORKTREE": "MENDBOT_MAX_WORKTREES", "MENDBOT_XYZ": ""}


def test_without_any_part_of_an_app_the_rest_is_checked() -> None:
    bare = Settings(allow_root=True)
    assert lacks_app(bare)
    check_settings(bare, without_app=True)
    with pytest.raises(ConfigError, match="GITHUB_CLIENT_SECRET"):
        check_settings(bare.model_copy(update={"github_client_id": "Iv1"}), without_app=True)


@pytest.mark.parametrize("part", ["app_id", "private_key", "private_key_path", "webhook_secret"])
def test_where_a_part_of_an_app_is_set_the_others_must_be(part: str) -> None:
    """T2: a server with an App never starts without a secret."""
    settings = Settings(**{"allow_root": True, part: "x"})  # type: ignore[arg-type]
    assert not lacks_app(settings)
    with pytest.raises(ConfigError):
        check_settings(settings)


@pytest.mark.parametrize("work", ["delivery", "run"])
def test_a_home_that_had_an_app_is_not_served_without_one(tmp_path: Path, work: str) -> None:
    """Its unfinished runs would fail, only because a variable was forgotten."""
    home = tmp_path / "home"
    claim_home(home)
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    database.migrate()
    delivery = Delivery(id="guid", event="issues", payload=b"{}", received_at=1)
    spec = RunSpec(repo=Repo(owner="octo", name="a", installation_id=1), agents=())

    async def store() -> None:
        await (Inbox(database).accept(delivery) if work == "delivery" else Runs(database).create("run", spec))

    asyncio.run(store())
    database.close()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MENDBOT_HOME": str(home), "MENDBOT_ALLOW_ROOT": "1"}
    done = run_bot("serve", "--port", "0", env=env, timeout=PATIENCE_S)
    assert done.returncode == 2 and b"APP_ID is not set" in done.stderr
