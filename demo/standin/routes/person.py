"""The routes of a person who has signed in to the App: who they are, and what of the App's they can see.

GitHub, "REST API endpoints for GitHub App installations": a person sees the repositories to which they have explicit
permission."""

from __future__ import annotations

from demo.standin.answers import Answer, ApiError, not_found, require
from demo.standin.auth import digest, installation_by_id
from demo.standin.records import Installation, Repository
from demo.standin.routes.table import CLIENT, USER, Call, Endpoint, page_of

_LEVELS = ("none", "read", "triage", "write", "maintain", "admin")
_NAMES = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}


async def get_user(call: Call) -> Answer:
    return Answer(call.hooks.state.accounts.public_user(call.person) | {"user_view_type": "public"})


async def list_installations(call: Call) -> Answer:
    state = call.hooks.state
    seen = [each for each in state.installations.values() if _repositories(call, each)]
    shown, headers = page_of(call, seen)
    installations = [state.accounts.installation(each) for each in shown]
    return Answer({"total_count": len(seen), "installations": installations}, headers=headers)


async def list_repositories(call: Call) -> Answer:
    state = call.hooks.state
    seen = _repositories(call, installation_by_id(state, call.number("installation_id")))
    if not seen:
        raise not_found()
    shown, headers = page_of(call, seen)
    body = {
        "total_count": len(seen),
        "repository_selection": "selected",
        "repositories": [
            state.accounts.repository(repo) | {"permissions": _permissions(state.role(repo, call.person))}
            for repo in shown
        ],
    }
    return Answer(body, headers=headers)


async def delete_token(call: Call) -> Answer:
    state = call.hooks.state
    if call.params["client_id"] != state.app.client_id:
        raise not_found()
    text = require(call.body, access_token=str)["access_token"]
    if state.user_tokens.pop(digest(text), None) is None:
        raise ApiError(422, "Validation Failed")
    return Answer(None, 204)


def _repositories(call: Call, installation: Installation) -> list[Repository]:
    state = call.hooks.state
    there = [] if installation.suspended_at else state.repos_of(installation)
    return [repo for repo in there if state.role(repo, call.person) != "none"]


def _permissions(role: str) -> dict[str, bool]:
    return {name: _LEVELS.index(role) >= _LEVELS.index(level) for name, level in _NAMES.items()}


ENDPOINTS = (
    Endpoint("DELETE", "/applications/{client_id}/token", delete_token, CLIENT),
    Endpoint("GET", "/user", get_user, USER),
    Endpoint("GET", "/user/installations", list_installations, USER),
    Endpoint("GET", "/user/installations/{installation_id}/repositories", list_repositories, USER),
)
