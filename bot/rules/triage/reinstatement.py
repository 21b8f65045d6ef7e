"""When the App may speak again where it could not: its last words there are told, late rather than never.

Without that a comment would say "working" for ever, since a run that has ended has no more news."""

from __future__ import annotations

from collections.abc import Mapping

from bot.rules.events.types import InstallationChanged, ThreadUnlocked
from bot.rules.triage.decisions import Decision, Ignore, ReleaseReports, SyncPull

_RETURNED: Mapping[str, str] = {
    "created": "the App was installed",
    "unsuspended": "the installation is not suspended any more",
    "permissions": "new permissions were granted",
    "added": "repositories came to the installation",
}


def on_return(event: InstallationChanged) -> ReleaseReports:
    """The App is back; what else it needs of a repository is fetched when it is needed."""
    return ReleaseReports(event.installation_id, event.repositories, None, _RETURNED[event.change])


def on_unlock(event: ThreadUnlocked) -> tuple[Decision, ...]:
    """A thread takes comments again. Of a pull request, what waits for somebody is said anew, too."""
    if event.repo.installation_id == 0:
        return (Ignore("the payload names no installation: it is not from the App's own webhook"),)
    what = "pull request" if event.is_pull_request else "issue"
    because = f"{event.sender} unlocked {what} #{event.number}"
    again = ReleaseReports(event.repo.installation_id, (event.repo.full_name,), event.number, because)
    return (again, SyncPull(event.repo, event.number, because)) if event.is_pull_request else (again,)
