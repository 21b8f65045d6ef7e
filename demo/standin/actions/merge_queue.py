"""The merge queue: a commit of a pull request and its base on a branch of its own, whose checks the App is asked for
(GitHub docs, "Managing a merge queue"). Who merges or gives up the group is the test."""

from __future__ import annotations

from typing import Literal

from demo.standin.actions import repository
from demo.standin.answers import ApiError
from demo.standin.gitrepo import GitFailed, Identity
from demo.standin.records import Json, Pull, Repository, User
from demo.standin.webhooks import Hooks

Reason = Literal["merged", "dequeued", "invalidated"]


async def enqueue(hooks: Hooks, pull: Pull, actor: User) -> str:
    """Put the pull request into the queue as the only one of its group; -> the group's commit."""
    repo, number = pull.issue.repo, pull.issue.number
    base = await repo.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    try:
        sha = await repo.git.merge(
            base, pull.head_sha, f"Merge pull request #{number}", Identity(actor.login, actor.email)
        )
    except GitFailed as error:
        raise ApiError(405, f"Pull Request is not mergeable: {error}") from error
    before = await repo.git.branches()
    await repo.git.update_ref(f"refs/heads/{_branch(pull, base)}", sha)
    await repository.pushed(hooks, repo, before, actor)
    hooks.emit("merge_group", "checks_requested", repo, actor, await _group(hooks, pull, base, sha))
    return sha


async def destroy(hooks: Hooks, pull: Pull, sha: str, reason: Reason, actor: User) -> None:
    """The group is merged, or given up: its branch goes."""
    repo = pull.issue.repo
    (base, *_) = (await repo.git.commit_info(sha)).parents
    group = await _group(hooks, pull, base, sha)
    before = await repo.git.branches()
    await repo.git.update_ref(f"refs/heads/{_branch(pull, base)}", None)
    await repository.pushed(hooks, repo, before, actor)
    hooks.emit("merge_group", "destroyed", repo, actor, {"reason": reason, **group})


def _branch(pull: Pull, base: str) -> str:
    return f"gh-readonly-queue/{pull.base_ref}/pr-{pull.issue.number}-{base}"


async def _group(hooks: Hooks, pull: Pull, base: str, sha: str) -> Json:
    repo: Repository = pull.issue.repo
    return {
        "merge_group": {
            "head_sha": sha,
            "head_ref": f"refs/heads/{_branch(pull, base)}",
            "base_sha": base,
            "base_ref": f"refs/heads/{pull.base_ref}",
            "head_commit": hooks.state.checks.simple_commit(await repo.git.commit_info(sha)),
        }
    }
