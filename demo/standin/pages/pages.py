"""The pages a person looks at: repositories, threads, check runs, commits, files. Plain HTML, no script, nothing
from elsewhere; they show the state and change nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from demo.standin.answers import ApiError, not_found
from demo.standin.gitrepo import ZERO, GitFailed
from demo.standin.json.account import stamp
from demo.standin.pages.markdown import diff_lines, markdown, tally
from demo.standin.records import CheckRun, Comment, Issue, LoggedRequest, Repository, Review, ReviewComment
from demo.standin.state import State

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}

_ICONS = {"success": "✓", "failure": "✗", "timed_out": "✗", "cancelled": "⊘", "skipped": "⊘", "neutral": "■"}
_REVIEWED = {"commented": "reviewed", "approved": "approved these changes", "changes_requested": "requested changes"}

_SCHEMES = ("http://", "https://")

Context = dict[str, Any]


def icon(run: CheckRun) -> str:
    """What stands before a check run's name."""
    return _ICONS.get(run.conclusion or "", "!") if run.status == "completed" else "●"


class Pages:
    def __init__(self, state: State) -> None:
        self.state = state
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("demo.standin", "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self._templates.globals |= {"icon": icon, "stamp": stamp, "diff_lines": diff_lines, "app": state.app}
        self._templates.globals["tally"] = tally
        self._templates.filters["markdown"] = markdown

    def routes(self) -> list[Route]:
        repo = "/{owner}/{repo}"
        table: tuple[tuple[str, Callable[[Request], Awaitable[tuple[str, Context]]]], ...] = (
            ("/", self.home),
            (repo, self.repository),
            (repo + "/issues/{number:int}", self.thread),
            (repo + "/pull/{number:int}", self.thread),
            (repo + "/runs/{run:int}", self.check_run),
            (repo + "/commit/{sha}", self.commit),
            (repo + "/blob/{ref}/{path:path}", self.blob),
        )
        lists = [Route(repo + f"/{name}", _to_repository) for name in ("issues", "pulls")]
        return [*lists, *(Route(path, self._endpoint(page), methods=["GET"]) for path, page in table)]

    def _endpoint(
        self, page: Callable[[Request], Awaitable[tuple[str, Context]]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            began, status = time.monotonic(), 200
            try:
                name, context = await page(request)
            except (ApiError, GitFailed):
                name, context, status = "missing.html", {}, 404
            html = self._templates.get_template(name).render(context)
            self.state.requests.append(
                LoggedRequest(
                    kind="page",
                    method=request.method,
                    path=request.url.path,
                    query=dict(request.query_params),
                    body=None,
                    status=status,
                    response=None,
                    response_headers={},
                    authenticated_as=None,
                    monotonic_s=began,
                )
            )
            return Response(html, status, _HEADERS, "text/html; charset=utf-8")

        return serve

    def _repo(self, request: Request) -> tuple[Repository, Context]:
        repo = self.state.repo(f"{request.path_params['owner']}/{request.path_params['repo']}")
        return repo, {"repo": repo, "page": self.state.accounts.repo_page(repo)}

    async def home(self, request: Request) -> tuple[str, Context]:
        return "home.html", {"repos": list(self.state.repos.values())}

    async def repository(self, request: Request) -> tuple[str, Context]:
        repo, context = self._repo(request)
        threads = sorted(repo.issues.values(), key=lambda issue: -issue.number)
        commits = await repo.git.log(f"refs/heads/{repo.default_branch}", limit=10)
        context |= {
            "issues": [issue for issue in threads if not issue.pull],
            "pulls": [issue for issue in threads if issue.pull],
            "branches": await repo.git.branches(),
            "commits": commits,
        }
        return "repository.html", context

    async def thread(self, request: Request) -> tuple[str, Context]:
        repo, context = self._repo(request)
        issue = self.state.issue(repo, request.path_params["number"])
        context |= {"issue": issue, "said": _said(issue), "reviewed": _REVIEWED}
        return "thread.html", context | await self._pull_parts(repo, issue)

    async def _pull_parts(self, repo: Repository, issue: Issue) -> Context:
        pull = issue.pull
        if pull is None:
            return {"pull": None, "runs": [], "files": [], "commits": []}
        return {
            "pull": pull,
            "runs": _latest([run for run in repo.runs if run.suite.head_sha == pull.head_sha]),
            "files": await repo.git.diff(pull.base_sha, pull.head_sha, patches=True),
            "commits": (await repo.git.log(f"{pull.base_sha}..{pull.head_sha}"))[::-1],
        }

    async def check_run(self, request: Request) -> tuple[str, Context]:
        repo, context = self._repo(request)
        run = self.state.runs.get(request.path_params["run"])
        if run is None or run.suite.repo is not repo:
            raise not_found()
        link = run.details_url or ""
        # the App's own address: a link only where it leads to a page
        return "check_run.html", context | {"run": run, "details": link if link.startswith(_SCHEMES) else None}

    async def commit(self, request: Request) -> tuple[str, Context]:
        repo, context = self._repo(request)
        sha = await repo.git.resolve(request.path_params["sha"])
        if sha is None:
            raise not_found()
        commit = await repo.git.commit_info(sha)
        files = await repo.git.diff(commit.parents[0] if commit.parents else ZERO, sha, patches=True)
        runs = _latest([run for run in repo.runs if run.suite.head_sha == sha])
        return "commit.html", context | {"commit": commit, "files": files, "runs": runs}

    async def blob(self, request: Request) -> tuple[str, Context]:
        repo, context = self._repo(request)
        path, ref = request.path_params["path"], request.path_params["ref"]
        sha = await repo.git.resolve(ref)
        entries = await repo.git.entries(sha, path) if sha else ()
        if not entries or entries[0].path != path or entries[0].kind != "blob":
            raise not_found()
        text = (await repo.git.blob(entries[0].sha)).decode(errors="replace")
        return "blob.html", context | {"path": path, "ref": ref, "lines": text.splitlines()}


def _said(issue: Issue) -> list[tuple[str, Comment | Review | ReviewComment]]:
    """What was said on the thread in order of time, each with the template part that shows it. A review without words
    is shown by the comment it is made around."""
    said: list[tuple[datetime, str, Comment | Review | ReviewComment]]
    said = [(one.created_at, "comment", one) for one in issue.comments]
    if issue.pull:
        reviews = [one for one in issue.pull.reviews if one.body or one.state != "commented"]
        said += [(one.submitted_at, "review", one) for one in reviews]
        said += [(one.created_at, "line", one) for one in issue.pull.review_comments]
    return [(kind, one) for _, kind, one in sorted(said, key=lambda each: each[0])]


def _latest(runs: list[CheckRun]) -> list[CheckRun]:
    return list({(run.suite.app.id, run.name): run for run in sorted(runs, key=lambda run: run.id)}.values())


async def _to_repository(request: Request) -> Response:
    return RedirectResponse(f"/{request.path_params['owner']}/{request.path_params['repo']}")
