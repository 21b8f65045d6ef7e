"""What happens to a repository as a whole: it is made, it is pushed to; pushes move pull requests and open suites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from demo.standin.actions import pull
from demo.standin.actions.check import ensure_suite
from demo.standin.gitrepo import ZERO, BareRepo, CommitInfo
from demo.standin.records import APP_PERMISSIONS, Installation, Json, Repository, User
from demo.standin.webhooks import Hooks

MAX_PUSH_COMMITS = 20
"""Commits that a push webhook lists (GitHub: at most 2,048; fewer are enough here)."""


@dataclass(frozen=True, slots=True)
class _Pushed:
    """What a push brought; no `head` where it deleted the branch."""

    pusher: User
    head: CommitInfo | None = None
    commits: tuple[tuple[CommitInfo, dict[str, list[str]]], ...] = ()
    forced: bool = False


async def create(
    hooks: Hooks, owner: User, name: str, *, default_branch: str = "main", private: bool = False
) -> Repository:
    """An empty repository on disk, without the App."""
    state = hooks.state
    if f"{owner.login}/{name}".lower() in state.repos:
        raise ValueError(f"{owner.login}/{name} exists already")
    git = BareRepo(state.root / "repositories" / owner.login.lower() / f"{name.lower()}.git")
    await git.init(default_branch)
    now = state.now()
    repo = Repository(
        state.new_id(), owner, name, git, now, now, private=private, default_branch=default_branch, installed=False
    )
    state.repos[repo.full_name.lower()] = repo
    return repo


def install(hooks: Hooks, repo: Repository) -> Installation:
    """Install the App on the repository: a new installation of its owner, or one more repository of the old."""
    state = hooks.state
    repo.installed = True
    short = {
        "id": repo.id,
        "node_id": state.accounts.repository(repo)["node_id"],
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
    }
    there = state.installation_of(repo)
    if there:
        parts: Json = {"repository_selection": "selected", "repositories_added": [short], "repositories_removed": []}
        parts["requester"] = None
        hooks.emit_installation("installation_repositories", "added", there, repo.owner, parts)
        return there
    fresh = Installation(state.new_id(), repo.owner, dict(state.app.permissions or APP_PERMISSIONS), state.now())
    state.installations[fresh.id] = fresh
    hooks.emit_installation("installation", "created", fresh, repo.owner, {"repositories": [short], "requester": None})
    return fresh


def uninstall(hooks: Hooks, installation: Installation) -> None:
    """Remove the App from an account: its tokens are dead at once."""
    del hooks.state.installations[installation.id]
    hooks.emit_installation("installation", "deleted", installation, installation.account, {"repositories": []})


def suspend(hooks: Hooks, installation: Installation, suspended: bool) -> None:
    installation.suspended_at = hooks.state.now() if suspended else None
    action = "suspend" if suspended else "unsuspend"
    hooks.emit_installation("installation", action, installation, installation.account, {"repositories": []})


async def pushed(hooks: Hooks, repo: Repository, before: Mapping[str, str], pusher: User) -> None:
    """Do what follows when branches moved: push events, check suites, pull requests brought up to date."""
    after = await repo.git.branches()
    for branch in sorted({*before, *after}):
        old, new = before.get(branch, ZERO), after.get(branch, ZERO)
        if old != new:
            repo.pushed_at = hooks.state.now()
            await _moved(hooks, repo, branch, (old, new), pusher)


async def _moved(hooks: Hooks, repo: Repository, branch: str, span: tuple[str, str], pusher: User) -> None:
    old, new = span
    if new == ZERO:
        hooks.emit("push", None, repo, pusher, _push_event(hooks, repo, branch, span, _Pushed(pusher)))
        return
    new_ones = (f"{old}..{new}",) if old != ZERO else (new, "--not", f"--exclude={branch}", "--branches")
    commits = await repo.git.log(*new_ones, limit=MAX_PUSH_COMMITS)
    head = await repo.git.commit_info(new)
    pushed = _Pushed(
        pusher=pusher,
        head=head,
        commits=tuple([(commit, await _names(repo, commit)) for commit in reversed(commits)]),
        forced=old != ZERO and not await repo.git.is_ancestor(old, new),
    )
    hooks.emit("push", None, repo, pusher, _push_event(hooks, repo, branch, span, pushed))
    if hooks.state.installation_of(repo):
        suite, fresh = ensure_suite(hooks, repo, head, branch, old)
        if fresh:
            hooks.emit("check_suite", "requested", repo, pusher, {"check_suite": hooks.state.checks.suite(suite)})
    await pull.follow_push(hooks, repo, branch, span, pusher)


async def _names(repo: Repository, commit: CommitInfo) -> dict[str, list[str]]:
    kinds = _no_names()
    base = commit.parents[0] if commit.parents else ZERO
    for file in await repo.git.diff(base, commit.sha):
        kinds[file.status if file.status in kinds else "modified"].append(file.path)
    return kinds


def _no_names() -> dict[str, list[str]]:
    return {"added": [], "removed": [], "modified": []}


def _push_event(hooks: Hooks, repo: Repository, branch: str, span: tuple[str, str], pushed: _Pushed) -> Json:
    old, new = span
    page = hooks.state.accounts.repo_page(repo)

    def described(commit: CommitInfo, names: Mapping[str, list[str]]) -> Json:
        body = hooks.state.checks.simple_commit(commit)
        return body | {"distinct": True, "url": f"{page}/commit/{commit.sha}", **names}

    names_at_head = next((names for commit, names in pushed.commits if commit.sha == new), _no_names())
    return {
        "ref": f"refs/heads/{branch}",
        "before": old,
        "after": new,
        "base_ref": None,
        "created": old == ZERO,
        "deleted": new == ZERO,
        "forced": pushed.forced,
        "compare": f"{page}/compare/{old[:12]}...{new[:12]}",
        "commits": [described(commit, names) for commit, names in pushed.commits],
        "head_commit": described(pushed.head, names_at_head) if pushed.head else None,
        "pusher": {"name": pushed.pusher.login, "email": pushed.pusher.email},
    }
