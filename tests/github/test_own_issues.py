"""The App's own issue is opened once, whatever is lost on the way, and nobody else's is taken for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot.errors import Transient
from bot.github.client import GitHub, RepositoryClient
from bot.github.clock import Clock
from bot.github.threads import marker
from bot.http import open_client
from bot.model import Repo
from demo.standin import StandIn
from tests.e2e.conftest import assert_traffic_is_githubs

NAME = "octo/own"
T = TypeVar("T")
Ask = Callable[[Callable[[RepositoryClient], Coroutine[Any, Any, T]]], T]


@pytest.fixture
def standin(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "hub", webhook_url=None, webhook_secret="w" * 32) as running:
        running.world.create_repo(NAME, {"a.py": "x = 1\n"})
        yield running
        assert_traffic_is_githubs(running)


@pytest.fixture
def ask(standin: StandIn) -> Iterator[Ask[Any]]:
    with asyncio.Runner() as runner:
        client = open_client(standin.api_url)
        github = GitHub(
            app_id=str(standin.app_id),
            key_pem=standin.private_key_pem,
            api_url=standin.api_url,
            client=client,
            write_spacing_s=0,
            clock=Clock(sleep=lambda _seconds: asyncio.sleep(0)),
        )
        repo = Repo(owner="octo", name="own", installation_id=standin.world.installation_id(NAME))
        yield lambda work: runner.run(work(github.repository(repo)))
        runner.run(client.aclose())


def test_an_issue_is_opened_once_and_found_again_when_closed(standin: StandIn, ask: Ask[Any]) -> None:
    number = ask(lambda client: client.open_issue("welcome", "Hello", "Text"))
    standin.world.close_issue(NAME, number, "octo")
    assert ask(lambda client: client.open_issue("welcome", "Hello", "Text")) == number
    assert ask(lambda client: client.find_issue("welcome")) == number
    assert ask(lambda client: client.find_issue("other")) is None
    assert standin.world.issue(NAME, number).body == f"{marker('welcome')}\nText"


def test_an_issue_of_somebody_else_with_the_marker_is_not_taken_for_it(standin: StandIn, ask: Ask[Any]) -> None:
    standin.world.create_user("eve")
    theirs = standin.world.create_issue(NAME, "Hello", marker("welcome"), author="eve")
    assert ask(lambda client: client.open_issue("welcome", "Hello", "Text")) != theirs


def test_an_issue_whose_answer_is_lost_is_found(standin: StandIn, ask: Ask[Any]) -> None:
    standin.world.faults.add("POST", f"/repos/{NAME}/issues", status=502, after_effect=True)
    number = ask(lambda client: client.open_issue("welcome", "Hello", "Text"))
    assert ask(lambda client: client.find_issue("welcome")) == number
    assert standin.world.issue(NAME, number).title == "Hello"


def test_an_issue_that_was_not_opened_is_a_transient_error(standin: StandIn, ask: Ask[Any]) -> None:
    standin.world.faults.add("POST", f"/repos/{NAME}/issues", status=502, times=9)
    with pytest.raises(Transient):
        ask(lambda client: client.open_issue("welcome", "Hello", "Text"))
    assert ask(lambda client: client.find_issue("welcome")) is None


def test_a_repository_without_issues_takes_none(standin: StandIn, ask: Ask[Any]) -> None:
    assert ask(lambda client: client.takes_issues())
    standin.world.disable_issues(NAME)
    assert not ask(lambda client: client.takes_issues())
