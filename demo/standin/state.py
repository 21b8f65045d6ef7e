"""The world's state and the few questions everything asks of it; it lives on the stand-in's own event loop.

What changes it is in the `*_actions` modules, which both the REST routes and `world.World` (people) call."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from demo.standin.answers import not_found
from demo.standin.faults import Faults
from demo.standin.json.account import Accounts
from demo.standin.json.check import Checks
from demo.standin.json.review import Reviewing
from demo.standin.json.thread import Threads
from demo.standin.records import (
    App,
    CheckRun,
    Comment,
    Installation,
    Issue,
    LoggedRequest,
    Repository,
    Review,
    ReviewComment,
    Role,
    Token,
    User,
)
from demo.standin.sign_ins import OAuthCode, UserToken


class Pulse:
    """Tells waiting threads that something happened, so that nobody polls."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.version = 0

    def beat(self) -> None:
        with self._changed:
            self.version += 1
            self._changed.notify_all()

    def wait_past(self, seen: int, timeout_s: float) -> bool:
        """Whether there was a beat after number `seen` within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: self.version > seen, timeout_s)


def _other_app(app: App) -> App:
    """GitHub Actions, whose check runs stand beside the App's own."""
    owner = User(9_919, "github", "Organization", "GitHub", app.created_at)
    bot = User(41_898_282, "github-actions[bot]", "Bot", "github-actions[bot]", app.created_at)
    return App(
        15_368, "github-actions", "", "", None, owner, bot, app.created_at, {"checks": "write"}, client_id="Iv1.actions"
    )


@dataclass(slots=True)
class ManifestCode:
    """What a browser brings back from GitHub after an App was made from a manifest."""

    name: str
    pem: str
    client_secret: str
    expires_at: datetime


class State:
    """All that exists. Mutated on the loop only; `requests` and `pulse` may be read from anywhere."""

    def __init__(self, root: Path, site: str, app: App, wall: Callable[[], float] = time.time) -> None:
        self.root = root
        self.site = site
        self.app = app
        self.other_app = _other_app(app)
        self.wall = wall
        self.skew_s = 0.0
        self.users: dict[str, User] = {}
        self.repos: dict[str, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.manifest_codes: dict[str, ManifestCode] = {}
        self.oauth_codes: dict[str, OAuthCode] = {}
        self.user_tokens: dict[str, UserToken] = {}
        self.comments: dict[int, Comment] = {}
        self.reviews: dict[int, Review] = {}
        self.review_comments: dict[int, ReviewComment] = {}
        self.runs: dict[int, CheckRun] = {}
        self.requests: list[LoggedRequest] = []
        self.faults = Faults()
        self.pulse = Pulse()
        self.accounts = Accounts(site, f"{site}/api", app)
        self.threads = Threads(self.accounts)
        self.reviewing = Reviewing(self.threads)
        self.checks = Checks(self.threads)
        self._ids = itertools.count(2_100_000_001)
        for user in (app.owner, app.bot, self.other_app.bot):
            self.users[user.login.lower()] = user

    def new_id(self) -> int:
        return next(self._ids)

    def now(self) -> datetime:
        """GitHub's clock, which the tests may set apart from the bot's by `skew_s`."""
        return datetime.fromtimestamp(self.wall(), UTC) + timedelta(seconds=self.skew_s)

    def user(self, login: str) -> User:
        try:
            return self.users[login.lower()]
        except KeyError:
            raise not_found() from None

    def ensure_user(self, login: str, kind: Literal["User", "Organization"] = "User", name: str = "") -> User:
        """The account of that name, made if there is none."""
        if login.lower() not in self.users:
            self.users[login.lower()] = User(self.new_id(), login, kind, name or login, self.now())
        return self.users[login.lower()]

    def by_email(self) -> dict[str, User]:
        return {user.email: user for user in self.users.values()}

    def repo(self, full_name: str) -> Repository:
        try:
            return self.repos[full_name.lower()]
        except KeyError:
            raise not_found() from None

    def issue(self, repo: Repository, number: int) -> Issue:
        try:
            return repo.issues[number]
        except KeyError:
            raise not_found() from None

    def role(self, repo: Repository, user: User) -> Role:
        """What the account may do there; the App's bot is no collaborator."""
        return "admin" if user is repo.owner else repo.roles.get(user.login, "none")

    def installation_of(self, repo: Repository) -> Installation | None:
        if not repo.installed:
            return None
        return next((one for one in self.installations.values() if one.account is repo.owner), None)

    def repos_of(self, installation: Installation) -> list[Repository]:
        return [repo for repo in self.repos.values() if repo.installed and repo.owner is installation.account]
