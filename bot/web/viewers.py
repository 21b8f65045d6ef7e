"""Who looks at the server: the operator, or a person who signed in with GitHub and sees what they can read there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request

from bot.web.browser_sessions import BrowserSession, BrowserSessions

STREAM_S = 180.0
"""After this time a person's event stream ends. Their browser connects again, and is asked who they are."""


class People(Protocol):
    """The people who are signed in with GitHub, by the id of their browser's session."""

    def address(self, state: str, verifier: str) -> str:
        """GitHub's page where a person signs in. `verifier` is PKCE's secret, which `sign_in` takes again."""
        ...

    async def sign_in(self, session_id: str, code: str, verifier: str) -> str:
        """Sign in the person who brought this code, and return their login. Raises UserError and Transient."""
        ...

    async def repositories(self, session_id: str) -> Mapping[str, bool] | None:
        """The repositories that the person can read, in lower case, with whether they can write to them.

        None for somebody who is not signed in, or no longer. Raises Transient where GitHub does not answer."""
        ...

    def sign_out(self, session_id: str) -> None:
        """End the session of a person; one that has ended is fine."""
        ...


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who is signed in. `repositories` are those that they can read, with whether they can write to them, in
    lower case; None for the operator, who can read and write to all."""

    session: BrowserSession
    repositories: Mapping[str, bool] | None = None

    @property
    def is_operator(self) -> bool:
        return self.repositories is None

    @property
    def places(self) -> Collection[str] | None:
        """The repositories that they can read, in lower case; None for all."""
        return None if self.repositories is None else self.repositories.keys()

    @property
    def writes_somewhere(self) -> bool:
        """Whether there is a repository that they can write to."""
        return self.repositories is None or any(self.repositories.values())

    @property
    def stream_s(self) -> float | None:
        """How long an event stream may last; None for no limit."""
        return None if self.is_operator else STREAM_S

    def may_read(self, place: str) -> bool:
        return self.repositories is None or place.lower() in self.repositories

    def may_write(self, place: str) -> bool:
        return self.repositories is None or self.repositories.get(place.lower(), False)


OPERATOR = Viewer(BrowserSession("", "operator"))
"""The viewer of a request with the admin token."""


class Viewers:
    """Finds the viewer of a request by its cookie. `people` is None where nobody can sign in with GitHub."""

    def __init__(self, sessions: BrowserSessions, people: People | None = None) -> None:
        self.sessions = sessions
        self.people = people

    async def find(self, request: Request) -> Viewer | None:
        """The viewer; None if nobody is signed in. Raises Transient where GitHub does not answer."""
        session = self.sessions.read(request.cookies)
        if session is None or not session.signed_in:
            return None
        if session.is_operator:
            return Viewer(session)
        repositories = await self.people.repositories(session.id) if self.people is not None else None
        return None if repositories is None else Viewer(session, repositories)
