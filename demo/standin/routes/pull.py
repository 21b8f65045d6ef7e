"""The routes of pull requests themselves; what is said on their threads is in `routes.issue` and `routes.review`."""

from __future__ import annotations

from demo.standin.actions import pull as pull_actions
from demo.standin.actions import thread
from demo.standin.answers import Answer, ApiError, invalid, not_found, permit, require
from demo.standin.records import Pull
from demo.standin.routes.table import Call, Endpoint, page_of

PULLS = (("pull_requests", "read"),)
PULLS_WRITE = (("pull_requests", "write"),)
OF_COMMIT = (("pull_requests", "read"), ("contents", "read"))


def pull_of(call: Call) -> Pull:
    pull = call.hooks.state.issue(call.repo, call.number("pull_number")).pull
    if pull is None:
        raise not_found()
    return pull


async def get_pull(call: Call) -> Answer:
    return Answer(call.hooks.state.threads.pull(pull_of(call)))


async def list_pulls(call: Call) -> Answer:
    query = call.query
    state = query.get("state", "open")
    if state not in ("open", "closed", "all"):
        raise invalid("PullRequest", "state", "invalid")
    head = query.get("head", "")
    found = [
        pull
        for pull in call.repo.pulls
        if state in ("all", pull.issue.state)
        # GitHub ignores a head that does not name its owner
        and (":" not in head or f"{pull.head_repo.owner.login}:{pull.head_ref}".lower() == head.lower())
        and query.get("base", pull.base_ref) == pull.base_ref
    ]
    descending = query.get("direction", "desc" if query.get("sort", "created") == "created" else "asc") == "desc"
    found.sort(key=lambda pull: pull.issue.number, reverse=descending)
    shown, headers = page_of(call, found)
    return Answer([call.hooks.state.threads.listed_pull(pull) for pull in shown], headers=headers)


async def create_pull(call: Call) -> Answer:
    body = require(call.body, title=str, head=str, base=str)
    permit(body, body=str, draft=bool)
    source, branch = pull_actions.find_head(call.hooks, call.repo, body["head"])
    asked = pull_actions.Request(body["title"], body.get("body"), source, branch, body["base"], bool(body.get("draft")))
    pull = await pull_actions.open_pull(call.hooks, call.repo, call.actor, asked)
    threads = call.hooks.state.threads
    return Answer(threads.pull(pull), 201, {"Location": threads.pull_url(pull)})


async def update_pull(call: Call) -> Answer:
    body, pull = require(call.body), pull_of(call)
    permit(body, title=str, body=str, state=str, base=str)
    if body.get("state") not in (None, "open", "closed"):
        raise invalid("PullRequest", "state", "invalid")
    await pull_actions.edit(call.hooks, pull, call.actor, body)
    if body.get("state") == "closed":
        thread.close(call.hooks, pull.issue, call.actor)
    elif body.get("state") == "open":
        await pull_actions.reopen(call.hooks, pull, call.actor)
    return Answer(call.hooks.state.threads.pull(pull))


async def list_pull_files(call: Call) -> Answer:
    pull, repo = pull_of(call), call.repo
    files = await repo.git.diff(pull.base_sha, pull.head_sha, patches=True)
    shown, headers = page_of(call, files)
    checks = call.hooks.state.checks
    return Answer([checks.file(repo, pull.head_sha, file) for file in shown], headers=headers)


async def list_pull_commits(call: Call) -> Answer:
    pull, repo, state = pull_of(call), call.repo, call.hooks.state
    commits = await repo.git.log(f"{pull.base_sha}..{pull.head_sha}")
    shown, headers = page_of(call, commits[::-1])
    known = state.by_email()
    return Answer([state.checks.commit(repo, commit, known) for commit in shown], headers=headers)


async def list_commit_pulls(call: Call) -> Answer:
    """The pull request that brought the commit in, else the open ones of this repository's branches that have it.

    A commit of a fork's open pull request is unknown here, as it is on GitHub, though its sha can be fetched."""
    repo, ref = call.repo, call.params["commit_sha"]
    sha = await repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}")
    found = [pull for pull in repo.pulls if await _has(pull, sha)]
    shown, headers = page_of(call, found)
    return Answer([call.hooks.state.threads.listed_pull(pull) for pull in shown], headers=headers)


async def _has(pull: Pull, sha: str) -> bool:
    repo = pull.issue.repo
    if pull.merged_at and sha == pull.merge_commit_sha:
        return True
    if not pull.merged_at and (pull.issue.state == "closed" or pull.head_repo is not repo):
        return False
    return sha in {commit.sha for commit in await repo.git.log(f"{pull.base_sha}..{pull.head_sha}")}


_REPO = "/repos/{owner}/{repo}"
_PULL = _REPO + "/pulls/{pull_number}"

ENDPOINTS = (
    Endpoint("GET", _REPO + "/pulls", list_pulls, PULLS),
    Endpoint("POST", _REPO + "/pulls", create_pull, PULLS_WRITE),
    Endpoint("GET", _PULL, get_pull, PULLS),
    Endpoint("PATCH", _PULL, update_pull, PULLS_WRITE),
    Endpoint("GET", _PULL + "/files", list_pull_files, PULLS),
    Endpoint("GET", _PULL + "/commits", list_pull_commits, PULLS),
    Endpoint("GET", _REPO + "/commits/{commit_sha}/pulls", list_commit_pulls, OF_COMMIT),
)
