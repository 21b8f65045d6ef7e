"""What `merge_group` tells: a merge queue wants the checks of a commit, or has no more use for it."""

from __future__ import annotations

from typing import Any

from bot.model import Repo
from bot.rules.events.json_reader import Reader
from bot.rules.events.types import MergeGroupDestroyed, MergeGroupRequested

_BRANCHES = "refs/heads/"


def merge_group(payload: Reader) -> MergeGroupRequested:
    """`checks_requested`: the refs come whole, and are branches."""
    group = payload.child("merge_group")
    return MergeGroupRequested(
        **_sent(payload),
        head_sha=group.sha("head_sha"),
        head_ref=group.name("head_ref").removeprefix(_BRANCHES),
        base_sha=group.sha("base_sha"),
        base_ref=group.name("base_ref").removeprefix(_BRANCHES),
    )


def merge_group_destroyed(payload: Reader) -> MergeGroupDestroyed:
    """`destroyed`, for whatever reason."""
    sha = payload.child("merge_group").sha("head_sha")
    return MergeGroupDestroyed(**_sent(payload), head_sha=sha, reason=payload.name_or_none("reason") or "")


def _sent(payload: Reader) -> dict[str, Any]:
    """The sender is GitHub's own bot, or nobody."""
    owner, _, name = payload.child("repository").full_name("full_name").partition("/")
    installation, sender = payload.child_or_none("installation"), payload.child_or_none("sender")
    return {
        "repo": Repo(owner=owner, name=name, installation_id=installation.number("id") if installation else 0),
        "sender": sender.login("login") if sender else "",
        "sender_is_bot": sender is None or sender.name_or_none("type") == "Bot",
    }
