"""What `installation` and `installation_repositories` tell: where the App may be, from now on or no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bot.rules.events.json_reader import Reader
from bot.rules.events.types import InstallationChanged

_CHANGES: Mapping[str, Literal["created", "deleted", "suspended", "unsuspended", "permissions", "added", "removed"]] = {
    "created": "created",
    "deleted": "deleted",
    "suspend": "suspended",
    "unsuspend": "unsuspended",
    "new_permissions_accepted": "permissions",
    "added": "added",
    "removed": "removed",
}
_LISTED = {"created": "repositories", "added": "repositories_added", "removed": "repositories_removed"}
"""Where the repositories are named; elsewhere it is about all that the installation has."""


def installation(payload: Reader) -> InstallationChanged:
    """Both events alike; the repositories have no installation of their own."""
    action = payload.name("action")
    listed = _LISTED.get(action)
    names = tuple(repository.full_name("full_name") for repository in payload.children(listed)) if listed else None
    return InstallationChanged(
        installation_id=payload.child("installation").number("id"), change=_CHANGES[action], repositories=names
    )
