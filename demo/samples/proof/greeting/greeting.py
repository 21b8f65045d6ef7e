"""Greets people by the data of their account."""

from __future__ import annotations

from collections.abc import Mapping


def render(account: Mapping[str, str]) -> str:
    """A greeting for the owner of the account."""
    return "Hello, " + account["name"] + "!"
