"""The App was installed on repositories: their pull requests wait, and each repository gets a job for its onboarding
issue."""

from __future__ import annotations

from bot.model import Repo
from bot.model.jobs import Job, JobName
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import WelcomeRepositories
from bot.workflows.context import Context
from bot.workflows.installations.asked_first import record_installation
from bot.workflows.installations.onboard import NewRepository


async def welcome(context: Context, decision: WelcomeRepositories) -> Reason:
    """Record the repositories and enqueue their jobs; a second call changes nothing. Returns the result."""
    for full_name in decision.repositories:
        owner, _, name = full_name.partition("/")
        repo = Repo(owner=owner, name=name, installation_id=decision.installation_id)
        await record_installation(context, repo)
        args = NewRepository(repo=repo).model_dump(mode="json")
        job_id = f"{JobName.ONBOARD}:{decision.installation_id}:{full_name.lower()}"
        await context.enqueue(Job(kind=JobName.ONBOARD, id=job_id, partition=full_name, args=args))
    return make_reason("installed", why=decision.because, count=len(decision.repositories))
