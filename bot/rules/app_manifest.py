"""The manifest from which GitHub makes the operator's App, and the address to which a browser sends it.

GitHub Docs, "Registering a GitHub App from a manifest"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot.model.app_requirements import APP_EVENTS, APP_PERMISSIONS

WEBHOOK_PATH = "/api/github/webhooks"
SIGN_IN_CALLBACK = "/sign-in/github/callback"
"""The page to which GitHub sends people back who sign in. GitHub compares the whole address."""
MAX_NAME_CHARACTERS = 34
"""GitHub's limit for the name of an App."""

_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ORGANIZATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


def app_manifest(
    name: str, description: str, public_url: str, redirect_url: str, webhook_url: str | None = None
) -> Mapping[str, Any]:
    """The manifest of a private App with the permissions and events of `app.yml`.

    `public_url` is where people reach Mendbot. GitHub sends the browser to `redirect_url` with the code, and webhooks
    to `webhook_url`, which is a route of `public_url` by default."""
    base = public_url.rstrip("/")
    return {
        "name": name,
        "url": base,
        "description": description,
        "public": False,
        "redirect_url": redirect_url,
        "callback_urls": [base + SIGN_IN_CALLBACK],
        "hook_attributes": {"url": webhook_url or base + WEBHOOK_PATH, "active": True},
        "default_permissions": dict(APP_PERMISSIONS),
        "default_events": list(APP_EVENTS),
    }


def creation_address(github_url: str, state: str, organization: str | None = None) -> str:
    """The address to which a browser posts the manifest, for the person's own account or for an organization."""
    account = f"/organizations/{quote(organization)}" if organization else ""
    return f"{github_url.rstrip('/')}{account}/settings/apps/new?state={quote(state)}"


def is_code(text: str) -> bool:
    """Whether the text can be a code of GitHub's, so that it may be put into a path."""
    return _CODE.fullmatch(text) is not None


def is_organization(text: str) -> bool:
    """Whether the text can be the login of an organization."""
    return _ORGANIZATION.fullmatch(text) is not None
