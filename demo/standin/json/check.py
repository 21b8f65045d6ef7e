"""What GitHub says about check runs, check suites, commits, refs and files (schemas check-run, check-suite,
check-annotation, simple-commit, commit, diff-entry, git-ref, content-file, content-directory)."""

from __future__ import annotations

import base64
from urllib.parse import quote

from demo.standin.gitrepo import CommitInfo, Entry, FileDiff, Identity
from demo.standin.json.account import maybe_stamp, node_id, stamp
from demo.standin.json.thread import Threads
from demo.standin.records import CheckRun, CheckSuite, Json, Pull, Repository, User

MAX_SHOWN = 1_048_576
"""Bytes of a file beyond which its content is left out of the JSON."""

_WORST = ("failure", "timed_out", "cancelled", "action_required", "stale", "success", "neutral", "skipped")


def suite_state(suite: CheckSuite) -> tuple[str, str | None]:
    """Status and conclusion of a suite: what its runs amount to, unless a person has asked for them again."""
    if not suite.runs or suite.asked_again:
        return "queued", None
    if any(run.status != "completed" for run in suite.runs):
        return "in_progress", None
    return "completed", min((run.conclusion or "neutral" for run in suite.runs), key=_WORST.index)


class Checks:
    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self.accounts = threads.accounts

    def _pulls(self, repo: Repository, sha: str) -> list[Json]:
        return [self.threads.minimal_pull(pull) for pull in repo.pulls if _open_at(pull, repo, sha)]

    def suite(self, suite: CheckSuite) -> Json:
        status, conclusion = suite_state(suite)
        home = f"{self.accounts.repo_url(suite.repo)}/check-suites/{suite.id}"
        return {
            "id": suite.id,
            "node_id": node_id("CheckSuite", suite.id),
            "head_branch": suite.head_branch,
            "head_sha": suite.head_sha,
            "status": status,
            "conclusion": conclusion,
            "url": home,
            "before": suite.before,
            "after": suite.head_sha,
            "pull_requests": self._pulls(suite.repo, suite.head_sha),
            "app": self.accounts.integration(app=suite.app),
            "repository": self.accounts.minimal_repository(suite.repo),
            "created_at": stamp(suite.created_at),
            "updated_at": stamp(suite.updated_at),
            "head_commit": self.simple_commit(suite.commit),
            "latest_check_runs_count": len(suite.runs),
            "check_runs_url": f"{home}/check-runs",
        }

    def run(self, run: CheckRun) -> Json:
        repo, sha = run.suite.repo, run.suite.head_sha
        home = f"{self.accounts.repo_url(repo)}/check-runs/{run.id}"
        page = f"{self.accounts.repo_page(repo)}/runs/{run.id}"
        return {
            "id": run.id,
            "node_id": node_id("CheckRun", run.id),
            "head_sha": sha,
            "external_id": run.external_id,
            "url": home,
            "html_url": page,
            "details_url": run.details_url or page,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": stamp(run.started_at),
            "completed_at": maybe_stamp(run.completed_at),
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": run.text,
                "annotations_count": len(run.annotations),
                "annotations_url": f"{home}/annotations",
            },
            "name": run.name,
            "check_suite": {"id": run.suite.id},
            "app": self.accounts.integration(app=run.suite.app),
            "pull_requests": self._pulls(repo, sha),
        }

    def run_event(self, run: CheckRun) -> Json:
        """As `check_run` webhooks carry it: with its suite."""
        suite = self.suite(run.suite)
        left_out = ("head_commit", "latest_check_runs_count", "check_runs_url", "repository")
        return self.run(run) | {"check_suite": {key: value for key, value in suite.items() if key not in left_out}}

    def annotation(self, run: CheckRun, given: Json) -> Json:
        page = self.accounts.repo_page(run.suite.repo)
        optional = ("start_column", "end_column", "title", "raw_details")
        return {
            "path": given["path"],
            "blob_href": f"{page}/blob/{run.suite.head_sha}/{quote(given['path'])}",
            "start_line": given["start_line"],
            "end_line": given["end_line"],
            "annotation_level": given["annotation_level"],
            "message": given["message"],
            **{key: given.get(key) for key in optional},
        }

    def simple_commit(self, commit: CommitInfo) -> Json:
        """As webhooks and check suites carry it."""
        return {
            "id": commit.sha,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": commit.committed_at,
            "author": _person(commit.author),
            "committer": _person(commit.committer),
        }

    def commit(self, repo: Repository, commit: CommitInfo, known: dict[str, User]) -> Json:
        """One commit of a list; `known` maps addresses to accounts."""
        home = self.accounts.repo_url(repo)
        page = self.accounts.repo_page(repo)
        accounts = [known.get(who.email) for who in (commit.author, commit.committer)]
        author, committer = [self.accounts.user(account) if account else None for account in accounts]
        parents = [
            {"sha": sha, "url": f"{home}/commits/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in commit.parents
        ]
        return {
            "sha": commit.sha,
            "node_id": node_id("Commit", repo.id),
            "url": f"{home}/commits/{commit.sha}",
            "html_url": f"{page}/commit/{commit.sha}",
            "comments_url": f"{home}/commits/{commit.sha}/comments",
            "commit": {
                "url": f"{home}/git/commits/{commit.sha}",
                "author": _person(commit.author) | {"date": commit.authored_at},
                "committer": _person(commit.committer) | {"date": commit.committed_at},
                "message": commit.message,
                "comment_count": 0,
                "tree": {"sha": commit.tree, "url": f"{home}/git/trees/{commit.tree}"},
                "verification": {
                    "verified": False,
                    "reason": "unsigned",
                    **dict.fromkeys(("payload", "signature", "verified_at")),
                },
            },
            "author": author,
            "committer": committer,
            "parents": parents,
        }

    def file(self, repo: Repository, sha: str, file: FileDiff) -> Json:
        home, page, path = self.accounts.repo_url(repo), self.accounts.repo_page(repo), quote(file.path)
        body: Json = {
            "sha": file.blob,
            "filename": file.path,
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "blob_url": f"{page}/blob/{sha}/{path}",
            "raw_url": f"{page}/raw/{sha}/{path}",
            "contents_url": f"{home}/contents/{path}?ref={sha}",
        }
        if file.patch is not None:
            body["patch"] = file.patch
        return body | ({"previous_filename": file.previous_path} if file.previous_path else {})

    def ref(self, repo: Repository, name: str, sha: str) -> Json:
        home = self.accounts.repo_url(repo)
        return {
            "ref": name,
            "node_id": node_id("Ref", repo.id),
            "url": f"{home}/git/{name}",
            "object": {"type": "commit", "sha": sha, "url": f"{home}/git/commits/{sha}"},
        }

    def entry(self, repo: Repository, ref: str, entry: Entry) -> Json:
        """A name in a directory, without what is in it."""
        home, page, path = self.accounts.repo_url(repo), self.accounts.repo_page(repo), quote(entry.path)
        kinds = {"tree": "dir", "commit": "submodule"}
        kind = "symlink" if entry.mode == "120000" else kinds.get(entry.kind, "file")
        place = "tree" if kind == "dir" else "blob"
        links = {
            "self": f"{home}/contents/{path}?ref={quote(ref)}",
            "git": f"{home}/git/{place}s/{entry.sha}",
            "html": f"{page}/{place}/{quote(ref)}/{path}",
        }
        return {
            "type": kind,
            "size": entry.size,
            "name": entry.path.rsplit("/", 1)[-1],
            "path": entry.path,
            "sha": entry.sha,
            "url": links["self"],
            "git_url": links["git"],
            "html_url": links["html"],
            "download_url": f"{page}/raw/{quote(ref)}/{path}" if kind == "file" else None,
            "_links": links,
        }

    def content(self, repo: Repository, ref: str, entry: Entry, data: bytes) -> Json:
        described = self.entry(repo, ref, entry)
        if described["type"] == "symlink":
            return described | {"target": data.decode(errors="replace")}
        if len(data) > MAX_SHOWN:  # the page of the route: "the `content` field will be an empty string"
            return described | {"encoding": "none", "content": ""}
        return described | {"encoding": "base64", "content": base64.encodebytes(data).decode()}


def _person(who: Identity) -> Json:
    return {"name": who.name, "email": who.email}


def _open_at(pull: Pull, repo: Repository, sha: str) -> bool:
    return pull.issue.state == "open" and pull.head_repo is repo and pull.head_sha == sha
