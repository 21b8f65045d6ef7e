"""The routes of the repository itself: who may, its commits, refs and files, its check runs."""

from __future__ import annotations

from demo.standin.actions import check
from demo.standin.answers import Answer, ApiError, not_found
from demo.standin.json.account import role_flags
from demo.standin.records import CheckRun, Repository
from demo.standin.routes.table import Call, Endpoint, page_of

METADATA = (("metadata", "read"),)
CONTENTS = (("contents", "read"),)
CHECKS = (("checks", "read"),)
CHECKS_WRITE = (("checks", "write"),)


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


async def compare(call: Call) -> Answer:
    """`base...head`, names or commits of this repository; the files are what `head` changed since the two parted."""
    repo, state = call.repo, call.hooks.state
    left, dots, right = call.params["basehead"].partition("...")
    if not dots:
        raise not_found()
    try:
        base, head = await _sha(repo, left), await _sha(repo, right)
    except ApiError:
        raise not_found() from None
    parted = await repo.git.merge_base(base, head)
    if parted is None:
        raise ApiError(404, f"No common ancestor between {left} and {right}.")
    ahead, behind = await repo.git.count(base, head), await repo.git.count(head, base)
    commits, files = (await repo.git.log(f"{base}..{head}"))[::-1], await repo.git.diff(base, head, patches=True)
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    known, page = state.by_email(), f"{state.accounts.repo_page(repo)}/compare/{base}...{head}"
    ends = {name: await repo.git.commit_info(sha) for name, sha in (("base", base), ("merge_base", parted))}
    body = {
        "url": f"{state.accounts.repo_url(repo)}/compare/{left}...{right}",
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        **{f"{name}_commit": state.checks.commit(repo, commit, known) for name, commit in ends.items()},
        "status": status.get((ahead > 0, behind > 0), "identical"),
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [state.checks.commit(repo, commit, known) for commit in commits],
        "files": [state.checks.file(repo, head, file) for file in files],
    }
    return Answer(body)


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
    run = await check.create_run(call.hooks, call.repo, call.body)
    return Answer(call.hooks.state.checks.run(run), 201)


async def update_check_run(call: Call) -> Answer:
    run = _run(call)
    if run.suite.app is not call.hooks.state.app:
        raise ApiError(
            403,
            f"Invalid app_id `{run.suite.app.id}` - check run can only be modified by the GitHub App that created it.",
        )
    check.update_run(call.hooks, run, call.body)
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
        and query.get("app_id", str(run.suite.app.id)) == str(run.suite.app.id)
    ]
    if query.get("filter", "latest") == "latest":
        found = list({(run.suite.app.id, run.name): run for run in reversed(found)}.values())[::-1]
    shown, headers = page_of(call, found)
    body = {"total_count": len(found), "check_runs": [call.hooks.state.checks.run(run) for run in shown]}
    return Answer(body, headers=headers)


async def list_check_suites(call: Call) -> Answer:
    sha = await _sha(call.repo, call.params["ref"])
    found = [suite for suite in call.repo.suites if suite.head_sha == sha]
    shown, headers = page_of(call, found)
    body = {"total_count": len(found), "check_suites": [call.hooks.state.checks.suite(suite) for suite in shown]}
    return Answer(body, headers=headers)


_REPO = "/repos/{owner}/{repo}"
_RUN = _REPO + "/check-runs/{check_run_id}"
_COMMIT = _REPO + "/commits/{ref:path}"

ENDPOINTS = (
    Endpoint("GET", _REPO, get_repo, METADATA),
    Endpoint("GET", _REPO + "/collaborators/{username}/permission", permission, METADATA),
    Endpoint("GET", _REPO + "/commits", list_commits, CONTENTS),
    Endpoint("GET", _COMMIT + "/check-runs", list_check_runs, CHECKS),
    Endpoint("GET", _COMMIT + "/check-suites", list_check_suites, CHECKS),
    Endpoint("GET", _COMMIT, get_commit, CONTENTS),
    Endpoint("GET", _REPO + "/compare/{basehead:path}", compare, CONTENTS),
    Endpoint("GET", _REPO + "/git/ref/{ref:path}", get_ref, CONTENTS),
    Endpoint("GET", _REPO + "/contents", get_contents, CONTENTS),
    Endpoint("GET", _REPO + "/contents/{path:path}", get_contents, CONTENTS),
    Endpoint("POST", _REPO + "/check-runs", create_check_run, CHECKS_WRITE),
    Endpoint("GET", _RUN, get_check_run, CHECKS),
    Endpoint("PATCH", _RUN, update_check_run, CHECKS_WRITE),
    Endpoint("GET", _RUN + "/annotations", list_annotations, CHECKS),
)
