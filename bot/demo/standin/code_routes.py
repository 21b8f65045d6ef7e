"""The routes of the repository itself: who may, its commits, refs and files, its check runs and pull requests."""

from __future__ import annotations

from bot.demo.standin import check_actions, pull_actions, thread_actions
from bot.demo.standin.account_json import role_flags
from bot.demo.standin.answers import Answer, ApiError, invalid, not_found, permit, require
from bot.demo.standin.records import CheckRun, Pull, Repository
from bot.demo.standin.rest import Call, Endpoint, page_of

METADATA = (("metadata", "read"),)
CONTENTS = (("contents", "read"),)
CHECKS = (("checks", "read"),)
CHECKS_WRITE = (("checks", "write"),)
PULLS = (("pull_requests", "read"),)
PULLS_WRITE = (("pull_requests", "write"),)


async def get_repo(call: Call) -> Answer:
    return Answer(call.hooks.state.accounts.full_repository(call.repo))


async def permission(call: Call) -> Answer:
    """The legacy `permission` knows admin, write, read and none; `role_name` tells maintain and triage apart."""
    state = call.hooks.state
    user = state.user(call.params["username"])
    role = state.role(call.repo, user)
    if role == "none" and not call.repo.private and user is not state.app.bot:
        role = "read"  # everybody may read a public repository
    body = state.accounts.user(user) | {"role_name": role, "permissions": role_flags(role)}
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    return Answer({"permission": legacy, "role_name": role, "user": body})


async def _sha(repo: Repository, ref: str) -> str:
    for rev in (f"refs/heads/{ref}", ref.removeprefix("heads/") and f"refs/{ref}", ref):
        sha = await repo.git.resolve(rev)
        if sha:
            return sha
    raise ApiError(422, f"No commit found for SHA: {ref}")


async def get_commit(call: Call) -> Answer:
    repo, state = call.repo, call.hooks.state
    commit = await repo.git.commit_info(await _sha(repo, call.params["ref"]))
    base = commit.parents[0] if commit.parents else "0" * 40
    files = [state.checks.file(repo, commit.sha, one) for one in await repo.git.diff(base, commit.sha, patches=True)]
    added, deleted = sum(one["additions"] for one in files), sum(one["deletions"] for one in files)
    stats = {"additions": added, "deletions": deleted, "total": added + deleted}
    return Answer(state.checks.commit(repo, commit, state.by_email()) | {"stats": stats, "files": files})


async def list_commits(call: Call) -> Answer:
    repo, state = call.repo, call.hooks.state
    commits = await repo.git.log(await _sha(repo, call.query.get("sha") or repo.default_branch))
    shown, headers = page_of(call, commits)
    known = state.by_email()
    return Answer([state.checks.commit(repo, commit, known) for commit in shown], headers=headers)


async def get_ref(call: Call) -> Answer:
    name = f"refs/{call.params['ref']}"
    sha = await call.repo.git.resolve(name) if "^" not in name and "~" not in name else None
    if sha is None:
        raise not_found()
    return Answer(call.hooks.state.checks.ref(call.repo, name, sha))


async def get_contents(call: Call) -> Answer:
    repo, checks = call.repo, call.hooks.state.checks
    path, ref = call.params.get("path", "").strip("/"), call.query.get("ref") or repo.default_branch
    try:
        sha = await _sha(repo, ref)
    except ApiError:
        raise ApiError(404, f"No commit found for the ref {ref}") from None
    entries = await repo.git.entries(sha, path)
    if not entries:
        raise not_found()
    if len(entries) == 1 and entries[0].path == path and entries[0].kind == "blob":
        return Answer(checks.content(repo, ref, entries[0], await repo.git.blob(entries[0].sha)))
    return Answer([checks.entry(repo, ref, entry) for entry in entries])


def _run(call: Call) -> CheckRun:
    run = call.hooks.state.runs.get(call.number("check_run_id"))
    if run is None or run.suite.repo is not call.repo:
        raise not_found()
    return run


async def create_check_run(call: Call) -> Answer:
    run = await check_actions.create_run(call.hooks, call.repo, call.body)
    return Answer(call.hooks.state.checks.run(run), 201)


async def update_check_run(call: Call) -> Answer:
    run = _run(call)
    check_actions.update_run(call.hooks, run, call.body)
    return Answer(call.hooks.state.checks.run(run))


async def get_check_run(call: Call) -> Answer:
    return Answer(call.hooks.state.checks.run(_run(call)))


async def list_annotations(call: Call) -> Answer:
    run = _run(call)
    shown, headers = page_of(call, run.annotations)
    return Answer([call.hooks.state.checks.annotation(run, one) for one in shown], headers=headers)


async def list_check_runs(call: Call) -> Answer:
    """Of one commit; `filter=latest`, the default, keeps the newest run of each name."""
    query, sha = call.query, await _sha(call.repo, call.params["ref"])
    found = [
        run
        for run in sorted(call.repo.runs, key=lambda run: run.id, reverse=True)
        if run.suite.head_sha == sha
        and query.get("check_name", run.name) == run.name
        and query.get("status", run.status) == run.status
        and query.get("app_id", str(call.hooks.state.app.id)) == str(call.hooks.state.app.id)
    ]
    if query.get("filter", "latest") == "latest":
        found = list({run.name: run for run in reversed(found)}.values())[::-1]
    shown, headers = page_of(call, found)
    body = {"total_count": len(found), "check_runs": [call.hooks.state.checks.run(run) for run in shown]}
    return Answer(body, headers=headers)


async def list_check_suites(call: Call) -> Answer:
    sha = await _sha(call.repo, call.params["ref"])
    found = [suite for suite in call.repo.suites if suite.head_sha == sha]
    shown, headers = page_of(call, found)
    body = {"total_count": len(found), "check_suites": [call.hooks.state.checks.suite(suite) for suite in shown]}
    return Answer(body, headers=headers)


def _pull(call: Call) -> Pull:
    pull = call.hooks.state.issue(call.repo, call.number("pull_number")).pull
    if pull is None:
        raise not_found()
    return pull


async def get_pull(call: Call) -> Answer:
    return Answer(call.hooks.state.threads.pull(_pull(call)))


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
    body, pull = require(call.body), _pull(call)
    permit(body, title=str, body=str, state=str, base=str)
    if body.get("state") not in (None, "open", "closed"):
        raise invalid("PullRequest", "state", "invalid")
    thread_actions.edit(call.hooks, pull.issue, call.actor, body)
    pull.closes = pull_actions.closing_numbers(pull.issue.body)
    if body.get("state") == "closed":
        thread_actions.close(call.hooks, pull.issue, call.actor)
    elif body.get("state") == "open":
        thread_actions.reopen(call.hooks, pull.issue, call.actor)
    return Answer(call.hooks.state.threads.pull(pull))


async def list_pull_files(call: Call) -> Answer:
    pull, repo = _pull(call), call.repo
    files = await repo.git.diff(pull.base_sha, pull.head_sha, patches=True)
    shown, headers = page_of(call, files)
    checks = call.hooks.state.checks
    return Answer([checks.file(repo, pull.head_sha, file) for file in shown], headers=headers)


async def list_pull_commits(call: Call) -> Answer:
    pull, repo, state = _pull(call), call.repo, call.hooks.state
    commits = await repo.git.log(f"{pull.base_sha}..{pull.head_sha}")
    shown, headers = page_of(call, commits[::-1])
    known = state.by_email()
    return Answer([state.checks.commit(repo, commit, known) for commit in shown], headers=headers)


_REPO = "/repos/{owner}/{repo}"
_RUN = _REPO + "/check-runs/{check_run_id}"
_PULL = _REPO + "/pulls/{pull_number}"
_COMMIT = _REPO + "/commits/{ref:path}"

ENDPOINTS = (
    Endpoint("GET", _REPO, get_repo, METADATA),
    Endpoint("GET", _REPO + "/collaborators/{username}/permission", permission, METADATA),
    Endpoint("GET", _REPO + "/commits", list_commits, CONTENTS),
    Endpoint("GET", _COMMIT + "/check-runs", list_check_runs, CHECKS),
    Endpoint("GET", _COMMIT + "/check-suites", list_check_suites, CHECKS),
    Endpoint("GET", _COMMIT, get_commit, CONTENTS),
    Endpoint("GET", _REPO + "/git/ref/{ref:path}", get_ref, CONTENTS),
    Endpoint("GET", _REPO + "/contents", get_contents, CONTENTS),
    Endpoint("GET", _REPO + "/contents/{path:path}", get_contents, CONTENTS),
    Endpoint("POST", _REPO + "/check-runs", create_check_run, CHECKS_WRITE),
    Endpoint("GET", _RUN, get_check_run, CHECKS),
    Endpoint("PATCH", _RUN, update_check_run, CHECKS_WRITE),
    Endpoint("GET", _RUN + "/annotations", list_annotations, CHECKS),
    Endpoint("GET", _REPO + "/pulls", list_pulls, PULLS),
    Endpoint("POST", _REPO + "/pulls", create_pull, PULLS_WRITE),
    Endpoint("GET", _PULL, get_pull, PULLS),
    Endpoint("PATCH", _PULL, update_pull, PULLS_WRITE),
    Endpoint("GET", _PULL + "/files", list_pull_files, PULLS),
    Endpoint("GET", _PULL + "/commits", list_pull_commits, PULLS),
)
