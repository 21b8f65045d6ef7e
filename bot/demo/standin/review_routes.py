"""The routes of reviews and of the comments on a pull request's lines, with their reactions."""

from __future__ import annotations

from bot.demo.standin import review_actions as reviews
from bot.demo.standin import thread_actions as act
from bot.demo.standin.answers import Answer, malformed, not_found, require
from bot.demo.standin.pull_routes import PULLS, PULLS_WRITE, pull_of
from bot.demo.standin.records import ReviewComment
from bot.demo.standin.rest import Call, Endpoint, page_of


def _comment(call: Call) -> ReviewComment:
    comment = call.hooks.state.review_comments.get(call.number("comment_id"))
    if comment is None or comment.pull.issue.repo is not call.repo:
        raise not_found()
    return comment


async def list_reviews(call: Call) -> Answer:
    shown, headers = page_of(call, pull_of(call).reviews)
    return Answer([call.hooks.state.reviewing.review(review) for review in shown], headers=headers)


async def get_review(call: Call) -> Answer:
    number = call.number("review_id")
    for review in pull_of(call).reviews:
        if review.id == number:
            return Answer(call.hooks.state.reviewing.review(review))
    raise not_found()


async def list_comments(call: Call) -> Answer:
    shown, headers = page_of(call, act.since(pull_of(call).review_comments, call.query.get("since")))
    return Answer([call.hooks.state.reviewing.comment(comment) for comment in shown], headers=headers)


async def get_comment(call: Call) -> Answer:
    return Answer(call.hooks.state.reviewing.comment(_comment(call)))


async def list_reactions(call: Call) -> Answer:
    content = call.query.get("content")
    found = [one for one in _comment(call).reactions if content in (None, one.content)]
    shown, headers = page_of(call, found)
    return Answer([call.hooks.state.threads.reaction(one) for one in shown], headers=headers)


async def create_reaction(call: Call) -> Answer:
    content = require(call.body, content=str)["content"]
    reaction, fresh = act.react(call.hooks, _comment(call), call.actor, content)
    return Answer(call.hooks.state.threads.reaction(reaction), 201 if fresh else 200)


async def delete_reaction(call: Call) -> Answer:
    act.take_back(call.hooks, _comment(call), call.actor, call.number("reaction_id"))
    return Answer(None, 204)


async def list_requested(call: Call) -> Answer:
    users = [call.hooks.state.accounts.user(user) for user in pull_of(call).reviewers]
    return Answer({"users": users, "teams": []})


async def request_reviewers(call: Call) -> Answer:
    pull = pull_of(call)
    reviews.request(call.hooks, pull, _logins(call), call.actor)
    return Answer(call.hooks.state.threads.listed_pull(pull), 201)


async def remove_requested(call: Call) -> Answer:
    pull = pull_of(call)
    reviews.withdraw(call.hooks, pull, _logins(call), call.actor)
    return Answer(call.hooks.state.threads.listed_pull(pull))


def _logins(call: Call) -> list[str]:
    given = require(call.body, reviewers=list)["reviewers"]
    if not all(isinstance(login, str) for login in given):
        raise malformed('Each of "reviewers" must be a string.')
    return list(given)


_PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
_COMMENT = "/repos/{owner}/{repo}/pulls/comments/{comment_id}"

ENDPOINTS = (
    Endpoint("GET", _COMMENT, get_comment, PULLS),
    Endpoint("GET", _COMMENT + "/reactions", list_reactions, PULLS),
    Endpoint("POST", _COMMENT + "/reactions", create_reaction, PULLS_WRITE),
    Endpoint("DELETE", _COMMENT + "/reactions/{reaction_id}", delete_reaction, PULLS_WRITE),
    Endpoint("GET", _PULL + "/reviews", list_reviews, PULLS),
    Endpoint("GET", _PULL + "/reviews/{review_id}", get_review, PULLS),
    Endpoint("GET", _PULL + "/comments", list_comments, PULLS),
    Endpoint("GET", _PULL + "/requested_reviewers", list_requested, PULLS),
    Endpoint("POST", _PULL + "/requested_reviewers", request_reviewers, PULLS_WRITE),
    Endpoint("DELETE", _PULL + "/requested_reviewers", remove_requested, PULLS_WRITE),
)
