"""The routes of the reactions to a comment, which are the same for comments of every kind."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.actions import thread as act
from demo.standin.answers import Answer, require
from demo.standin.records import Comment, ReviewComment
from demo.standin.routes.table import Call, Endpoint, page_of

Permissions = tuple[tuple[str, str], ...]


def reactions(
    path: str, comment: Callable[[Call], Comment | ReviewComment], read: Permissions, write: Permissions
) -> tuple[Endpoint, ...]:
    """Below the path of a comment, which `comment` finds."""

    async def listed(call: Call) -> Answer:
        content = call.query.get("content")
        found = [one for one in comment(call).reactions if content in (None, one.content)]
        shown, headers = page_of(call, found)
        return Answer([call.hooks.state.threads.reaction(one) for one in shown], headers=headers)

    async def create(call: Call) -> Answer:
        content = require(call.body, content=str)["content"]
        reaction, fresh = act.react(call.hooks, comment(call), call.actor, content)
        return Answer(call.hooks.state.threads.reaction(reaction), 201 if fresh else 200)

    async def delete(call: Call) -> Answer:
        act.take_back(call.hooks, comment(call), call.actor, call.number("reaction_id"))
        return Answer(None, 204)

    return (
        Endpoint("GET", path + "/reactions", listed, read),
        Endpoint("POST", path + "/reactions", create, write),
        Endpoint("DELETE", path + "/reactions/{reaction_id}", delete, write),
    )
