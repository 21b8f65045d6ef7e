"""Decides what to publish when the App may write again, for example after it is unsuspended or a thread is unlocked.

Without that, the last comment of a run that ended meanwhile would say "working" for ever."""

from __future__ import annotations

from bot.rules.events.types import InstallationChanged, ThreadUnlocked
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import Decision, Ignore, ReleaseReports, SyncPull, WelcomeRepositories


def on_return(event: InstallationChanged) -> tuple[Decision, ...]:
    """The App was installed or unsuspended, or got repositories or permissions: its held reports are published.

    Repositories that were installed with it are asked before their pull requests are checked (spec H)."""
    because = make_reason(f"event.installation_{event.change}")
    release = ReleaseReports(event.installation_id, event.repositories, None, because)
    if event.change not in ("created", "added") or not event.repositories:
        return (release,)
    # recorded first, so that none of their pull requests is checked meanwhile
    return WelcomeRepositories(event.installation_id, event.repositories, because), release


def on_unlock(event: ThreadUnlocked) -> tuple[Decision, ...]:
    """A thread was unlocked: its held reports are published, and a pull request is synchronized again."""
    if event.repo.installation_id == 0:
        return (Ignore(make_reason("event.no_installation")),)
    because = make_reason("event.unlocked", by=event.sender, number=event.number)
    again = ReleaseReports(event.repo.installation_id, (event.repo.full_name,), event.number, because)
    return (again, SyncPull(event.repo, event.number, because)) if event.is_pull_request else (again,)
