"""Repositories of an installation are recorded and get one job each, also where the event is processed again."""

from __future__ import annotations

from typing import Any

from bot.model.jobs import JobName
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import WelcomeRepositories
from bot.workflows.installations.asked_first import is_asked_first
from bot.workflows.installations.welcome import welcome
from tests.workflows.conftest import Harness


def test_each_repository_is_recorded_and_gets_the_same_job_again(at_desk: Any) -> None:
    async def work(at: Harness) -> list[tuple[str, str]]:
        at.github.world.create_repo("octo/new", {"a": ""})
        because = make_reason("event.installation_added")
        decision = WelcomeRepositories(at.repo.installation_id, ("octo/new",), because)
        for _ in range(2):
            await welcome(at.context, decision)
        new = at.repo.model_copy(update={"name": "new"})
        assert await is_asked_first(at.context, new) and not await is_asked_first(at.context, at.repo)
        return [(job.kind, job.id) for job in at.jobs]

    first, second = at_desk(work)
    assert first == second and first[0] == JobName.ONBOARD
