"""What exists of people who sign in to the App: the codes of their browsers, and their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from demo.standin.records import User


@dataclass(slots=True)
class UserToken:
    """A token with which the App acts for a person; the digest of its text is the key to this record."""

    user: User
    expires_at: datetime


@dataclass(slots=True)
class OAuthCode:
    """What a browser brings back from GitHub after a person has signed in."""

    user: User
    redirect_uri: str
    challenge: str
    """The PKCE challenge; empty where none was sent."""
    expires_at: datetime
