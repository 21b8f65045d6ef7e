"""What GitHub says about accounts, the App, its installations and repositories (schemas simple-user, public-user,
integration, installation, minimal-repository, repository and full-repository of its OpenAPI description)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from urllib.parse import quote

from demo.standin.records import APP_EVENTS, App, Installation, Json, Repository, Role, User

_LISTED_EVENTS = tuple(event for event in APP_EVENTS if event != "merge_group")
"""What an App's own object lists: GitHub's description of webhooks has no `merge_group` among the values there."""


def stamp(moment: datetime) -> str:
    """A moment as GitHub writes it: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe_stamp(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


def node_id(kind: str, number: int) -> str:
    """An opaque global id; GitHub's look like this and mean nothing to a client."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


_REPO_URLS = {
    "archive": "{archive_format}{/ref}",
    "assignees": "assignees{/user}",
    "blobs": "git/blobs{/sha}",
    "branches": "branches{/branch}",
    "collaborators": "collaborators{/collaborator}",
    "comments": "comments{/number}",
    "commits": "commits{/sha}",
    "compare": "compare/{base}...{head}",
    "contents": "contents/{+path}",
    "contributors": "contributors",
    "deployments": "deployments",
    "downloads": "downloads",
    "events": "events",
    "forks": "forks",
    "git_commits": "git/commits{/sha}",
    "git_refs": "git/refs{/sha}",
    "git_tags": "git/tags{/sha}",
    "hooks": "hooks",
    "issue_comment": "issues/comments{/number}",
    "issue_events": "issues/events{/number}",
    "issues": "issues{/number}",
    "keys": "keys{/key_id}",
    "labels": "labels{/name}",
    "languages": "languages",
    "merges": "merges",
    "milestones": "milestones{/number}",
    "notifications": "notifications{?since,all,participating}",
    "pulls": "pulls{/number}",
    "releases": "releases{/id}",
    "stargazers": "stargazers",
    "statuses": "statuses/{sha}",
    "subscribers": "subscribers",
    "subscription": "subscription",
    "tags": "tags",
    "teams": "teams",
    "trees": "git/trees{/sha}",
}

_USER_URLS = {
    "followers": "followers",
    "following": "following{/other_user}",
    "gists": "gists{/gist_id}",
    "starred": "starred{/owner}{/repo}",
    "subscriptions": "subscriptions",
    "organizations": "orgs",
    "repos": "repos",
    "events": "events{/privacy}",
    "received_events": "received_events",
}

_RANKS: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")


def role_flags(role: Role) -> dict[str, bool]:
    """The five booleans that stand beside a role; none of them for `none`."""
    rank = _RANKS.index(role) if role in _RANKS else -1
    names = ("pull", "triage", "push", "maintain", "admin")
    return {name: rank >= at for at, name in enumerate(names)}


class Accounts:
    """Makes the JSON; it knows the stand-in's two addresses and the App, nothing else."""

    def __init__(self, site: str, api: str, app: App) -> None:
        self.site = site
        self.api = api
        self.app = app

    def user(self, user: User) -> Json:
        home = f"{self.api}/users/{quote(user.login)}"
        page = f"{self.site}/{'apps/' if user.kind == 'Bot' else ''}{user.login.removesuffix('[bot]')}"
        return {
            "login": user.login,
            "id": user.id,
            "node_id": node_id("User", user.id),
            "avatar_url": f"{self.site}/avatars/{user.id}",
            "gravatar_id": "",
            "url": home,
            "html_url": page,
            **{f"{name}_url": f"{home}/{path}" for name, path in _USER_URLS.items()},
            "type": user.kind,
            "site_admin": False,
        }

    def public_user(self, user: User) -> Json:
        return {
            **self.user(user),
            "name": user.name,
            **dict.fromkeys(("company", "location", "email", "hireable", "bio")),
            "blog": "",
            "public_repos": 0,
            "public_gists": 0,
            "followers": 0,
            "following": 0,
            "created_at": stamp(user.created_at),
            "updated_at": stamp(user.created_at),
        }

    def integration(self, installations: int | None = None, app: App | None = None) -> Json:
        """The App, or another that has done something here."""
        app = app or self.app
        body: Json = {
            "id": app.id,
            "slug": app.slug,
            "client_id": app.client_id,
            "node_id": node_id("App", app.id),
            "owner": self.user(app.owner),
            "name": app.slug,
            "description": "",
            "external_url": f"{self.site}/apps/{app.slug}",
            "html_url": f"{self.site}/apps/{app.slug}",
            "created_at": stamp(app.created_at),
            "updated_at": stamp(app.created_at),
            "permissions": dict(app.permissions),
            "events": list(_LISTED_EVENTS) if app is self.app else [],
        }
        return body if installations is None else body | {"installations_count": installations}

    def installation(self, installation: Installation) -> Json:
        return {
            "id": installation.id,
            "account": self.user(installation.account),
            "repository_selection": "selected",
            "access_tokens_url": f"{self.api}/app/installations/{installation.id}/access_tokens",
            "repositories_url": f"{self.api}/installation/repositories",
            "html_url": f"{self.site}/settings/installations/{installation.id}",
            "app_id": self.app.id,
            "app_slug": self.app.slug,
            "target_id": installation.account.id,
            "target_type": installation.account.kind,
            "permissions": dict(installation.permissions),
            "events": list(APP_EVENTS),
            "created_at": stamp(installation.created_at),
            "updated_at": stamp(installation.created_at),
            "single_file_name": None,
            "has_multiple_single_files": False,
            "single_file_paths": [],
            "suspended_by": self.user(installation.account) if installation.suspended_at else None,
            "suspended_at": maybe_stamp(installation.suspended_at),
        }

    def repo_url(self, repo: Repository) -> str:
        return f"{self.api}/repos/{repo.full_name}"

    def repo_page(self, repo: Repository) -> str:
        return f"{self.site}/{repo.full_name}"

    def minimal_repository(self, repo: Repository) -> Json:
        home = self.repo_url(repo)
        return {
            "id": repo.id,
            "node_id": node_id("Repository", repo.id),
            "name": repo.name,
            "full_name": repo.full_name,
            "owner": self.user(repo.owner),
            "private": repo.private,
            "html_url": self.repo_page(repo),
            "description": repo.description,
            "fork": repo.fork_of is not None,
            "url": home,
            **{f"{name}_url": f"{home}/{path}" for name, path in _REPO_URLS.items()},
        }

    def repository(self, repo: Repository) -> Json:
        """The schemas `repository` and `repository-webhooks`."""
        page = self.repo_page(repo)
        open_issues = sum(issue.state == "open" for issue in repo.issues.values())
        host = self.site.removeprefix("http://")
        return {
            **self.minimal_repository(repo),
            "git_url": f"git://{host}/{repo.full_name}.git",
            "ssh_url": f"git@{host}:{repo.full_name}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "mirror_url": None,
            "homepage": None,
            "language": None,
            "license": None,
            **dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "size"), 0),
            "default_branch": repo.default_branch,
            "open_issues": open_issues,
            "open_issues_count": open_issues,
            "is_template": False,
            "topics": [],
            **dict.fromkeys(("has_projects", "has_wiki", "has_downloads"), True),
            "has_issues": repo.has_issues,
            "has_pages": False,
            "has_discussions": False,
            "archived": False,
            "disabled": False,
            "visibility": "private" if repo.private else "public",
            "allow_forking": True,
            "web_commit_signoff_required": False,
            "pushed_at": stamp(repo.pushed_at),
            "created_at": stamp(repo.created_at),
            "updated_at": stamp(repo.pushed_at),
        }

    def full_repository(self, repo: Repository) -> Json:
        whole = {**self.repository(repo), "network_count": 0, "subscribers_count": 0}
        if repo.fork_of:
            origin = self.repository(repo.fork_of)
            whole |= {"parent": origin, "source": origin}
        return whole
