"""The bot's own comments, found again by id or by marker and author, so that none is posted twice.

A status is edited in place; a reply is posted below its question. Another author's comment with the marker is ignored
(T37)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from bot.github.answers import NotFound, parse_model
from bot.github.api import Api, names_of
from bot.http import Unclear
from bot.model import Repo
from bot.model.github_json import AppJson, CommentJson

MAX_BODY_CHARACTERS = 65_536
"""Of comments, issues and pull requests. GitHub answers a longer one with 422 "Body is too long"."""

_KEY = re.compile(r"[A-Za-z0-9._:/#@+-]{1,200}")
_COMMENTS = "/repos/{owner}/{repo}/issues/{number}/comments"
_COMMENT = "/repos/{owner}/{repo}/issues/comments/{id}"
_REACTIONS = {
    "issue_comment": _COMMENT + "/reactions",
    "review_comment": "/repos/{owner}/{repo}/pulls/comments/{id}/reactions",
}
_RETRY_READ_S = 1.0
_SLACK = timedelta(seconds=2)
"""GitHub's times are whole seconds, and `since` may or may not include its own."""

CommentKind = Literal["issue_comment", "review_comment"]
"""The comments on which GitHub's REST API accepts reactions. It accepts none on the text of a review."""

Content = Literal["eyes", "rocket", "confused"]


@dataclass(frozen=True, slots=True)
class Author:
    """Our App as an author: its id and its bot's login, `slug[bot]`."""

    app_id: int
    login: str


class _Comment(CommentJson):
    performed_via_github_app: AppJson | None = None
    issue_url: str = ""

    def carries(self, mark: str) -> bool:
        return marked(self.body, mark)

    def by(self, author: Author) -> bool:
        if self.performed_via_github_app is not None:
            return self.performed_via_github_app.id == author.app_id
        return self.user is not None and self.user.login == author.login


def marker(key: str) -> str:
    """The HTML comment by which our comment is found again; ValueError for a key that could end it."""
    if not _KEY.fullmatch(key) or "--" in key:
        raise ValueError(f"{key!r} cannot be a comment's key")
    return f"<!-- mendbot:{key} -->"


def marked(body: str, mark: str) -> bool:
    """Whether the body begins or ends with that marker; elsewhere a log may have printed it (T37)."""
    text = body.strip()
    return text.startswith(mark) or text.endswith(mark)


def checked_body(body: str) -> str:
    """The body; ValueError if it is longer than GitHub accepts, as `reports.format.truncate` should have cut it."""
    if len(body) > MAX_BODY_CHARACTERS:
        raise ValueError(f"the body has {len(body)} characters, {MAX_BODY_CHARACTERS} are allowed: cut it before")
    return body


@dataclass(frozen=True, slots=True)
class Reply:
    """A comment of purpose `key` about a question or a run, `about`, which has one such comment.

    `since` is an aware time before any comment about it. `beside`: the question is no comment of the thread (a review's
    text, a button), so its place in the thread is known by `since` alone."""

    key: str
    about: str
    body: str
    since: datetime | None = None
    beside: bool = False

    @property
    def own_mark(self) -> str:
        return marker(f"{self.key}.{self.about}")

    @property
    def text(self) -> str:
        """The comment's text between its two markers; the last one is that of `about` (see `marked`)."""
        return checked_body(f"{marker(self.key)}\n{self.body}\n{self.own_mark}")


@dataclass(frozen=True, slots=True)
class ThreadComments:
    """The comments of one repository as one author."""

    api: Api
    repo: Repo
    author: Author

    async def upsert(self, number: int, key: str, body: str, known_id: int | None = None) -> int:
        """Makes `body` the comment `key` of issue or pull request `number`; returns its id.

        Reads `known_id` first, then looks for our own comment with the marker; writes nothing if the text is there
        already. The marker is put before a body that lacks it. The caller makes sure that one key has one call at a
        time. After a lost response it looks for the comment before it raises Transient."""
        mark = marker(key)
        text = checked_body(body if marked(body, mark) else f"{mark}\n{body}")
        found = await self._known(known_id, number) if known_id is not None else None
        found = found or await self._search(number, mark)
        if found is None:
            return await self._create(number, mark, text)
        return await self._edit(number, found, mark, text)

    async def reply(self, number: int, reply: Reply, known_id: int | None, *, same: bool) -> int:
        """Posts `reply` in thread `number`; returns the comment's id.

        `known_id` is the last comment of that purpose, and `same` whether it has the same `about`. That comment is
        edited if it is the thread's last; else a new one is posted, and the older stays. Repeated after a crash, the
        posted comment is found by its marker. Keys and errors are those of `upsert`."""
        known = await self._known(known_id, number) if known_id is not None else None
        if known is not None and same:
            return await self._edit(number, known, reply.own_mark, reply.text)
        found, last = await self._below(number, reply, known)
        if found is None and known is not None and last:
            found = known
        if found is None:
            return await self._create(number, reply.own_mark, reply.text)
        return await self._edit(number, found, reply.own_mark, reply.text)

    async def replace(self, number: int, reply: Reply, old_id: int | None) -> int:
        """Posts `reply` as a new comment, then deletes our comment `old_id`; returns the new comment's id.

        A new comment notifies people; an edit does not. Repeated after a crash, it posts one comment."""
        old = await self._known(old_id, number) if old_id is not None else None
        found, _ = await self._below(number, reply, old)
        if found is None:
            posted = await self._create(number, reply.own_mark, reply.text)
        else:
            posted = await self._edit(number, found, reply.own_mark, reply.text)
        if old is not None and old.id != posted:
            await self._delete(old.id)
        return posted

    async def _edit(self, number: int, comment: _Comment, mark: str, text: str) -> int:
        """Gives the comment that text, unless it has it; posts a new one if it was deleted. Returns the id."""
        if _same(comment.body, text):
            return comment.id
        try:
            await self.api.call("PATCH", _COMMENT, names_of(self.repo, id=comment.id), {"body": text}, repeatable=True)
        except NotFound:
            return await self._create(number, mark, text)
        return comment.id

    async def _delete(self, comment_id: int) -> None:
        try:
            await self.api.call("DELETE", _COMMENT, names_of(self.repo, id=comment_id))
        except NotFound:
            return  # it is deleted already

    async def _below(self, number: int, reply: Reply, known: _Comment | None) -> tuple[_Comment | None, bool]:
        """Our comment about the same, if it was posted before, and whether `known` is the last of the thread.

        GitHub lists a thread's comments oldest first only, but from a time on: those below are one page."""
        since = known.created_at if known is not None and known.created_at is not None else reply.since
        last = not (reply.beside and (known is None or _may_be_after(reply.since, known.created_at)))
        names: dict[str, str | int] = names_of(self.repo, number=number, per_page=100)
        if since is not None:
            names["since"] = (since - _SLACK).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        async for item in self.api.pages(_COMMENTS + "{?since,per_page}", names):
            comment = parse_model(_Comment, item)
            if comment.carries(reply.own_mark) and comment.by(self.author):
                return comment, False
            last = last and (known is None or comment.id <= known.id)
        return None, last

    async def _known(self, comment_id: int, number: int) -> _Comment | None:
        try:
            comment = parse_model(_Comment, await self.api.get(_COMMENT, names_of(self.repo, id=comment_id)))
        except NotFound:
            return None  # deleted by someone: a new one takes its place
        # an issue that was transferred took its comments along, perhaps to the same number
        thread = f"/{self.repo.full_name}/issues/{number}".casefold()
        here = not comment.issue_url or comment.issue_url.casefold().endswith(thread)
        return comment if here and comment.by(self.author) else None

    async def _search(self, number: int, mark: str) -> _Comment | None:
        async for item in self.api.pages(_COMMENTS + "{?per_page}", names_of(self.repo, number=number, per_page=100)):
            comment = parse_model(_Comment, item)
            if comment.carries(mark) and comment.by(self.author):
                return comment
        return None

    async def _create(self, number: int, mark: str, text: str) -> int:
        try:
            posted = await self.api.call("POST", _COMMENTS, names_of(self.repo, number=number), {"body": text})
        except Unclear:
            await self.api.sleep(_RETRY_READ_S)
            found = await self._search(number, mark)
            if found is None:
                raise
            return found.id
        return parse_model(_Comment, posted).id


async def react(api: Api, repo: Repo, kind: CommentKind, comment_id: int, content: Content) -> None:
    """Adds our reaction to a comment; 👀 goes before all writes in the queue. A repeat changes nothing.

    An `issue_comment` is one of an issue's or a pull request's thread, a `review_comment` one on a line of its diff.
    Raises Stale if the comment is gone, UserError if its thread is locked."""
    names = names_of(repo, id=comment_id)
    # GitHub answers 200 where the reaction is there already
    quick = api.ahead() if content == "eyes" else api
    await quick.call("POST", _REACTIONS[kind], names, {"content": content}, repeatable=True)


def _may_be_after(asked: datetime | None, posted: datetime | None) -> bool:
    """Whether the question may have come after the comment; GitHub's times are whole seconds, or unknown."""
    return asked is None or posted is None or asked >= posted


def _same(there: str, ours: str) -> bool:
    """Whether the texts are equal but for line ends, which GitHub may change."""
    return there.replace("\r\n", "\n").strip() == ours.replace("\r\n", "\n").strip()
