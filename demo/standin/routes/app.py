"""The routes of the App itself: who it is, where it is installed, its tokens, its webhook deliveries."""

from __future__ import annotations

import json

from demo.standin.answers import Answer, ApiError, not_found, require
from demo.standin.auth import installation_by_id, mint
from demo.standin.json.account import maybe_stamp, node_id, stamp
from demo.standin.records import Delivery, Json
from demo.standin.routes.table import ANYONE, APP, NOBODY, RATE_LIMIT, Call, Endpoint, link_to, page_of


async def get_app(call: Call) -> Answer:
    state = call.hooks.state
    return Answer(state.accounts.integration(installations=len(state.installations)))


async def hook_config(call: Call) -> Answer:
    app = call.hooks.state.app
    shown = {"content_type": "json", "insecure_ssl": "0", "url": app.webhook_url or ""}
    return Answer(shown | {"secret": "********"} if app.webhook_secret else shown)


async def get_user(call: Call) -> Answer:
    state = call.hooks.state
    return Answer(state.accounts.public_user(state.user(call.params["username"])))


async def rate_limit(call: Call) -> Answer:
    reset = int(call.hooks.state.now().timestamp()) + 3600
    whole = {"limit": RATE_LIMIT, "remaining": RATE_LIMIT, "used": 0, "reset": reset}
    return Answer({"resources": {"core": whole, "search": whole | {"limit": 30, "remaining": 30}}, "rate": whole})


async def list_installations(call: Call) -> Answer:
    state = call.hooks.state
    shown, headers = page_of(call, list(state.installations.values()))
    return Answer([state.accounts.installation(one) for one in shown], headers=headers)


async def get_installation(call: Call) -> Answer:
    state = call.hooks.state
    return Answer(state.accounts.installation(installation_by_id(state, call.number("installation_id"))))


async def repo_installation(call: Call) -> Answer:
    state = call.hooks.state
    installation = state.installation_of(call.repo)
    if installation is None:
        raise not_found()
    return Answer(state.accounts.installation(installation))


async def create_token(call: Call) -> Answer:
    state = call.hooks.state
    installation = installation_by_id(state, call.number("installation_id"))
    text, token, chosen = mint(state, installation, call.body)
    body: Json = {
        "token": text,
        "expires_at": stamp(token.expires_at),
        "permissions": token.permissions,
        "repository_selection": "selected",
    }
    if chosen is not None:
        body["repositories"] = [state.accounts.repository(repo) for repo in chosen]
    return Answer(body, 201)


async def revoke_token(call: Call) -> Answer:
    mine = call.token
    tokens = call.hooks.state.tokens
    for key in [key for key, token in tokens.items() if token is mine]:
        del tokens[key]
    return Answer(None, 204)


async def installation_repositories(call: Call) -> Answer:
    state, token = call.hooks.state, call.token
    seen = [repo for repo in state.repos_of(token.installation) if repo.id in token.repository_ids]
    shown, headers = page_of(call, seen)
    body = {
        "total_count": len(seen),
        "repository_selection": "selected",
        "repositories": [state.accounts.repository(repo) for repo in shown],
    }
    return Answer(body, headers=headers)


async def list_deliveries(call: Call) -> Answer:
    """Newest first, by cursor: `cursor` is the id before which to go on."""
    newest_first = [one for one in reversed(call.hooks.deliveries) if one.delivered_at]
    status = call.query.get("status")
    if status:
        newest_first = [one for one in newest_first if (one.status == "OK") == (status == "success")]
    cursor = call.query.get("cursor", "")
    if cursor:
        if not cursor.isascii() or not cursor.isdecimal():
            raise ApiError(400, "Invalid cursor")
        newest_first = [one for one in newest_first if one.id < int(cursor)]
    size = call.query.get("per_page", "30")
    wanted = min(int(size) if size.isascii() and size.isdecimal() else 30, 100) or 30
    shown = newest_first[:wanted]
    more = len(newest_first) > len(shown)
    headers = {"Link": f'<{link_to(call, cursor=str(shown[-1].id))}>; rel="next"'} if more else {}
    return Answer([_delivery(one) for one in shown], headers=headers)


async def get_delivery(call: Call) -> Answer:
    one = call.hooks.find(call.number("delivery_id"))
    body = _delivery(one) | {
        "url": call.hooks.state.app.webhook_url,
        "request": {"headers": one.request_headers, "payload": json.loads(one.payload)},
        "response": {"headers": one.response_headers, "payload": one.response_body},
    }
    return Answer(body)


async def redeliver(call: Call) -> Answer:
    call.hooks.redeliver(call.number("delivery_id"))
    return Answer({}, 202)


def _delivery(one: Delivery) -> Json:
    return {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": maybe_stamp(one.delivered_at),
        "redelivery": one.redelivery,
        "duration": one.duration_s,
        "status": one.status,
        "status_code": one.status_code,
        "event": one.event,
        "action": one.action,
        "installation_id": one.installation_id,
        "repository_id": one.repository_id,
        "throttled_at": None,
    }


MAX_PINNED = 3
"""GitHub docs, "Pinning an issue to your repository"."""


async def graphql(call: Call) -> Answer:
    """The one mutation that the App uses: `pinIssue` with the issue's node id as the variable `issue`."""
    body = require(call.body, query=str, variables=dict)
    if "pinIssue(" not in body["query"]:
        return Answer({"errors": [{"message": "Only pinIssue exists here"}]})
    wanted = body["variables"].get("issue")
    for repo in call.hooks.state.repos_of(call.token.installation):
        for issue in repo.issues.values():
            if node_id("Issue", issue.id) == wanted:
                if issue not in repo.pinned and len(repo.pinned) >= MAX_PINNED:
                    return Answer({"data": {"pinIssue": None}, "errors": [{"message": "Maximum 3 pinned issues"}]})
                repo.pinned += [] if issue in repo.pinned else [issue]
                return Answer({"data": {"pinIssue": {"clientMutationId": None}}})
    return Answer({"data": {"pinIssue": None}, "errors": [{"message": "Could not resolve to a node"}]})


async def convert_manifest(call: Call) -> Answer:
    """The App that was made from a manifest, with its secrets; a code works once, for an hour."""
    state = call.hooks.state
    made = state.manifest_codes.pop(call.params["code"], None)
    if made is None or state.now() > made.expires_at:
        raise not_found()
    secrets = {"client_secret": made.client_secret, "webhook_secret": state.app.webhook_secret, "pem": made.pem}
    return Answer(state.accounts.integration() | {"name": made.name} | secrets, 201)


ENDPOINTS = (
    Endpoint("POST", "/app-manifests/{code}/conversions", convert_manifest, NOBODY),
    Endpoint("POST", "/graphql", graphql, (("issues", "write"),)),
    Endpoint("GET", "/app", get_app, APP),
    Endpoint("GET", "/app/installations", list_installations, APP),
    Endpoint("GET", "/app/installations/{installation_id}", get_installation, APP),
    Endpoint("POST", "/app/installations/{installation_id}/access_tokens", create_token, APP),
    Endpoint("GET", "/app/hook/config", hook_config, APP),
    Endpoint("GET", "/app/hook/deliveries", list_deliveries, APP),
    Endpoint("GET", "/app/hook/deliveries/{delivery_id}", get_delivery, APP),
    Endpoint("POST", "/app/hook/deliveries/{delivery_id}/attempts", redeliver, APP),
    Endpoint("GET", "/repos/{owner}/{repo}/installation", repo_installation, APP),
    Endpoint("GET", "/installation/repositories", installation_repositories, (("metadata", "read"),)),
    Endpoint("DELETE", "/installation/token", revoke_token, (("metadata", "read"),)),
    Endpoint("GET", "/users/{username}", get_user, ANYONE),
    Endpoint("GET", "/rate_limit", rate_limit, ANYONE),
)
