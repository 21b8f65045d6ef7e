"""The routes of reviews and of the comments on a pull request's lines, with their reactions."""

from __future__ import annotations

from demo.standin.actions import review as reviews
from demo.standin.actions import thread as act
from demo.standin.answers import Answer, malformed, not_found, require
from demo.standin.records import ReviewComment
from demo.standin.routes.pull import PULLS, PULLS_WRITE, pull_of
from demo.standin.routes.reaction import reactions
from demo.standin.routes.table import Call, Endpoint, page_of


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
    *reactions(_COMMENT, _comment, PULLS, PULLS_WRITE),
    Endpoint("GET", _PULL + "/reviews", list_reviews, PULLS),
    Endpoint("GET", _PULL + "/reviews/{review_id}", get_review, PULLS),
    Endpoint("GET", _PULL + "/comments", list_comments, PULLS),
    Endpoint("GET", _PULL + "/requested_reviewers", list_requested, PULLS),
    Endpoint("POST", _PULL + "/requested_reviewers", request_reviewers, PULLS_WRITE),
    Endpoint("DELETE", _PULL + "/requested_reviewers", remove_requested, PULLS_WRITE),
)
