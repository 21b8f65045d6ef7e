"""Makes the operator's GitHub App by the manifest flow: a form for the browser, then the exchange of the code."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from bot.app.created_app import APP_FILE, AppFile
from bot.config import Settings
from bot.errors import ConfigError, UserError
from bot.github.app_manifest import NewApp, exchange_code
from bot.http import open_client
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import user_error
from bot.rules.app_manifest import MAX_NAME_CHARACTERS, app_manifest, creation_address, is_code, is_organization
from bot.rules.reasons import make_reason
from bot.workspace.files.home_directories import create_home

STATE_SECONDS = 3600.0
"""GitHub's code works for an hour, and so does the state that goes with it."""
_MAX_STATES = 100


@dataclass(frozen=True, slots=True)
class AppWishes:
    """What the operator decides about the App. `webhook_url` is a route of `public_url` by default."""

    public_url: str
    name: str = "Mendbot"
    organization: str | None = None
    webhook_url: str | None = None


@dataclass(frozen=True, slots=True)
class ManifestForm:
    """A form that a browser posts to GitHub: the address, and the value of its field `manifest`."""

    action: str
    manifest: str


class AppCreation:
    """The Apps that this process is making: each form has a state, which is accepted once and for one hour."""

    def __init__(self, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self._states: dict[str, float] = {}

    def begin(self, wishes: AppWishes, redirect_url: str) -> ManifestForm:
        """A form with a new state. Raises ConfigError if an App was made before, and UserError for a wrong name."""
        if not 0 < len(wishes.name.strip()) <= MAX_NAME_CHARACTERS:
            raise user_error(make_reason("app_setup.name", limit=MAX_NAME_CHARACTERS), UserError)
        if wishes.organization is not None and not is_organization(wishes.organization):
            raise user_error(make_reason("app_setup.organization"), UserError)
        self.require_no_file()
        state = secrets.token_urlsafe(32)
        self._forget_old()
        self._states[state] = self._now() + STATE_SECONDS
        description = t(self._settings.language, "setup.description")
        name = wishes.name.strip()
        manifest = app_manifest(name, description, wishes.public_url, redirect_url, wishes.webhook_url)
        action = creation_address(self._settings.github_url, state, wishes.organization)
        return ManifestForm(action, json.dumps(manifest))

    def require_no_file(self) -> None:
        """Raises ConfigError if the home has the credentials of an App already."""
        path = self._settings.home / APP_FILE
        if path.is_symlink() or path.exists():
            raise user_error(make_reason("app_setup.exists", path=str(path)), ConfigError)

    async def finish(self, code: str, state: str) -> NewApp:
        """Exchange the code and write the credentials to the home. The state is used up, whatever happens.

        Raises UserError for a state that is unknown, used or too old, and for such a code; ConfigError where the file
        cannot be written; Transient where GitHub does not answer."""
        expires = self._states.pop(state, None)
        if expires is None or expires < self._now() or not is_code(code):
            raise user_error(make_reason("app_setup.state"), UserError)
        settings = self._settings
        create_home(settings.home)
        file = AppFile(settings.home)  # before the code is used up
        try:
            async with open_client(settings.github_api_url, allow_private=settings.allow_private_api) as client:
                app = await exchange_code(client, settings.github_api_url, code)
        except BaseException:
            file.remove()
            raise
        file.write(app)
        return app

    def _forget_old(self) -> None:
        now = self._now()
        kept = [(state, until) for state, until in self._states.items() if until >= now]
        self._states = dict(kept[-_MAX_STATES + 1 :])
