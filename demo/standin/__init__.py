"""A small world that answers as GitHub does: accounts, issues, checks, pull requests, git over HTTP and webhooks.

It is built from GitHub's published description of its API and of its webhooks, never from what the bot expects;
start one with `StandIn` and act in it as a person through its `world`."""

from __future__ import annotations

from demo.standin.server import StandIn
from demo.standin.world import World

__all__ = ["StandIn", "World"]
