"""When the App may speak again where it could not: its last words there are told, late rather than never.

Without that a comment would say "working" for ever, since a run that has ended has no more news."""

from __future__ import annotations

from bot.rules.events.types import InstallationChanged, ThreadUnlocked
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import Decision, Ignore, ReleaseReports, SyncPull


def on_return(event: InstallationChanged) -> ReleaseReports:
    """The App is back; what else it needs of a repository is fetched when it is needed."""
    because = make_reason(f"event.installation_{event.change}")
    return ReleaseReports(event.installation_id, event.repositories, None, because)


def on_unlock(event: ThreadUnlocked) -> tuple[Decision, ...]:
    """A thread takes comments again. Of a pull request, what waits for somebody is said anew, too."""
    if event.repo.installation_id == 0:
        return (Ignore(make_reason("event.no_installation")),)
    because = make_reason("event.unlocked", by=event.sender, number=event.number)
    again = ReleaseReports(event.repo.installation_id, (event.repo.full_name,), event.number, because)
    return (again, SyncPull(event.repo, event.number, because)) if event.is_pull_request else (again,)
