"""The REST side answers as GitHub's description says, with GitHub's limits and refusals."""

from __future__ import annotations

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from demo.standin import StandIn, World
from demo.standin.records import Role
from demo.standin.server import TABLE
from tests.demo.conftest import REPO, Api, app_jwt
from tests.oracle.openapi import rest_oracle

HOME = f"/repos/{REPO}"


def test_every_route_of_the_table_is_one_of_githubs() -> None:
    described = rest_oracle().description["paths"]
    for endpoint in TABLE:
        if endpoint.path == "/graphql":
            continue  # GitHub describes it by a schema of its own
        path = endpoint.path.replace(":path", "")
        path = "/repos/{owner}/{repo}/contents/{path}" if path.endswith("/contents") else path
        assert endpoint.method.lower() in described.get(path, {}), endpoint


def test_the_app_is_who_its_jwt_says(app: Api) -> None:
    described = app.ok("GET", "/app")
    assert (described["id"], described["slug"]) == (1234, "mendbot")
    installation = app.ok("GET", f"{HOME}/installation")
    assert app.ok("GET", f"/app/installations/{installation['id']}") == installation
    # here GitHub's description asks for an account that is a user and an enterprise at once
    assert Api(app.standin, app.token, judged=False).ok("GET", "/app/installations") == [installation]
    assert app.ok("GET", "/users/mendbot[bot]")["type"] == "Bot"
    assert app.ok("GET", "/rate_limit")["rate"]["limit"] == 5000


@pytest.mark.parametrize(
    ("token", "status", "message"),
    [
        ({"issued": 30}, 401, "'Issued at' claim"),
        ({"expires": 700}, 401, "too far in the future"),
        ({"expires": -1}, 401, "'Expiration time' claim"),
        ({"issuer": "99"}, 404, "Integration not found"),
    ],
)
def test_a_jwt_out_of_its_time_is_refused(standin: StandIn, token: dict[str, float], status: int, message: str) -> None:
    answer = Api(standin, app_jwt(standin, **token))("GET", "/app")  # type: ignore[arg-type]
    assert answer.status_code == status
    assert message in answer.json()["message"]


def test_a_jwt_signed_with_another_key_is_refused(standin: StandIn) -> None:
    other = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    answer = Api(standin, app_jwt(standin, key=other))("GET", "/app")
    assert (answer.status_code, answer.json()["message"]) == (401, "A JSON web token could not be decoded")


def test_githubs_clock_decides_about_jwts(standin: StandIn, app: Api) -> None:
    standin.world.set_clock_skew(-300)
    answer = app("GET", "/app")
    assert answer.status_code == 401
    assert "Issued at" in answer.json()["message"]


def test_a_token_is_limited_to_what_was_asked(standin: StandIn, app: Api, world: World) -> None:
    world.create_repo("octo/other", {"a": "b"})
    route = f"/app/installations/{world.installation_id(REPO)}/access_tokens"
    made = app.ok("POST", route, {"repositories": ["hello"], "permissions": {"contents": "read"}})
    assert made["token"].startswith("ghs_1234_")
    assert len(made["token"]) > 400
    assert "." in made["token"] and "-" in made["token"]
    assert made["permissions"] == {"metadata": "read", "contents": "read"}
    limited = Api(standin, made["token"])
    assert [repo["full_name"] for repo in limited.ok("GET", "/installation/repositories")["repositories"]] == [REPO]
    assert limited("GET", "/repos/octo/other").status_code == 404
    assert limited("GET", HOME).status_code == 200
    answer = limited("POST", f"{HOME}/issues/1/comments", {"body": "hi"})
    assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")
    assert "issues=write" in answer.headers["x-accepted-github-permissions"]
    assert limited("GET", "/app").status_code == 401


def test_what_is_not_granted_cannot_be_asked_for(app: Api, world: World) -> None:
    route = f"/app/installations/{world.installation_id(REPO)}/access_tokens"
    assert app("POST", route, {"permissions": {"workflows": "write"}}).status_code == 422
    assert app("POST", route, {"repositories": ["nothing"]}).status_code == 422
    world.suspend_app(REPO)
    assert app("POST", route, {}).status_code == 403


def test_dead_and_foreign_tokens_are_refused(standin: StandIn, api: Api) -> None:
    assert Api(standin, "ghs_never")("GET", HOME).json()["message"] == "Bad credentials"
    assert httpx2.get(f"{standin.api_url}{HOME}").status_code == 401
    assert api("DELETE", "/installation/token").status_code == 204
    assert api("GET", HOME).status_code == 401


def test_no_token_is_kept_in_the_log(api: Api, app: Api, world: World) -> None:
    route = f"/app/installations/{world.installation_id(REPO)}/access_tokens"
    token = app.ok("POST", route, {})["token"]
    assert token not in repr(world.requests)
    assert {request.authenticated_as for request in world.requests} == {"app"}


def test_a_repository_and_who_may_do_what_in_it(api: Api, world: World) -> None:
    assert api.ok("GET", HOME)["default_branch"] == "main"
    roles: tuple[tuple[Role, str], ...]
    roles = (("maintain", "write"), ("triage", "read"), ("admin", "admin"), ("write", "write"), ("read", "read"))
    for role, legacy in roles:
        world.set_permission(REPO, "cara", role)
        answer = api.ok("GET", f"{HOME}/collaborators/cara/permission")
        assert (answer["permission"], answer["role_name"]) == (legacy, role)
    assert api.ok("GET", f"{HOME}/collaborators/octo/permission")["role_name"] == "admin"
    assert api("GET", f"{HOME}/collaborators/nobody/permission").status_code == 404


def test_everybody_may_read_a_public_repository_and_nobody_a_private_one(api: Api, world: World) -> None:
    world.set_permission(REPO, "cara", "admin")
    world.set_permission(REPO, "cara", "none")
    secret = "octo/secret"
    world.create_repo(secret, {"a": "b"}, private=True)
    inside = Api(api.standin, world.new_token(secret))
    for login in ("bob", "cara"):
        public = api.ok("GET", f"{HOME}/collaborators/{login}/permission")
        assert (public["permission"], public["role_name"]) == ("read", "read")
        private = inside.ok("GET", f"/repos/{secret}/collaborators/{login}/permission")
        assert (private["permission"], private["role_name"]) == ("none", "none")


def test_issues_are_read_listed_and_changed(api: Api, world: World) -> None:
    number = world.create_issue(REPO, "Second", "", "bob", ["auto-fix"])
    assert api.ok("GET", f"{HOME}/issues/{number}")["labels"][0]["name"] == "auto-fix"
    listed = api.ok("GET", f"{HOME}/issues?labels=auto-fix&state=open")
    assert [issue["number"] for issue in listed] == [number]
    changed = api.ok("PATCH", f"{HOME}/issues/{number}", {"state": "closed", "state_reason": "not_planned"})
    assert (changed["state"], changed["state_reason"], changed["closed_by"]["type"]) == ("closed", "not_planned", "Bot")
    assert api.ok("GET", f"{HOME}/issues?state=closed")[0]["number"] == number
    assert api("GET", f"{HOME}/issues/99").status_code == 404
    assert api.ok("POST", f"{HOME}/issues", {"title": "Third", "labels": ["x"]})["number"] == number + 1


def test_labels_come_and_go(api: Api) -> None:
    labels = f"{HOME}/issues/1/labels"
    put = api.ok("POST", labels, {"labels": ["auto-fix", "Auto-Fix", "needs care"]})
    assert [label["name"] for label in put] == ["bug", "auto-fix", "needs care"]
    assert [label["name"] for label in api.ok("DELETE", f"{labels}/needs%20care")] == ["bug", "auto-fix"]
    gone = api("DELETE", f"{labels}/needs%20care")
    assert (gone.status_code, gone.json()["message"]) == (404, "Label does not exist")
    assert [label["name"] for label in api.ok("PUT", labels, {"labels": ["only"]})] == ["only"]
    assert api.ok("GET", f"{HOME}/labels/auto-fix")["color"] == "ededed"
    assert api.ok("POST", f"{HOME}/labels", {"name": "done", "color": "00ff00"})["color"] == "00ff00"
    assert api("POST", f"{HOME}/labels", {"name": "DONE"}).status_code == 422
    assert api("DELETE", labels).status_code == 204
    assert api.ok("GET", labels) == []


def test_comments_of_the_app_carry_the_app(api: Api, world: World) -> None:
    made = api.ok("POST", f"{HOME}/issues/1/comments", {"body": "one"})
    assert made["performed_via_github_app"]["id"] == 1234
    assert made["user"]["login"] == "mendbot[bot]"
    world.comment(REPO, 1, "two", "bob")
    assert [item["performed_via_github_app"] is None for item in api.ok("GET", f"{HOME}/issues/1/comments")] == [
        False,
        True,
    ]
    place = f"{HOME}/issues/comments/{made['id']}"
    assert api.ok("PATCH", place, {"body": "changed"})["body"] == "changed"
    assert api("POST", f"{place}/reactions", {"content": "eyes"}).status_code == 201
    assert api("POST", f"{place}/reactions", {"content": "eyes"}).status_code == 200
    assert api.ok("GET", place)["reactions"]["eyes"] == 1
    assert len(api.ok("GET", f"{place}/reactions")) == 1
    assert api("DELETE", place).status_code == 204
    assert api("GET", place).status_code == 404


def test_overlong_and_blank_comments_are_refused(api: Api) -> None:
    for body in ("x" * 65_537, " \n"):
        answer = api("POST", f"{HOME}/issues/1/comments", {"body": body}, judge_request=False)
        assert answer.status_code == 422
    assert api("POST", f"{HOME}/issues/1/comments", {"body": "x" * 65_536}).status_code == 201


def test_pages_are_linked(api: Api, world: World) -> None:
    for number in range(7):
        world.comment(REPO, 1, f"comment {number}", "bob")
    seen, url = [], f"{HOME}/issues/1/comments?per_page=3"
    while url:
        answer = api("GET", url)
        seen += [comment["body"] for comment in answer.json()]
        assert len(answer.json()) <= 3
        url = answer.links.get("next", {}).get("url", "")
    assert seen == [f"comment {number}" for number in range(7)]
    last = api("GET", f"{HOME}/issues/1/comments?per_page=3&page=3")
    assert set(last.links) == {"first", "prev"}


def test_broken_bodies_are_refused(standin: StandIn, api: Api) -> None:
    headers = {"Authorization": f"Bearer {api.token}"}
    url = f"{standin.api_url}{HOME}/issues/1/comments"
    assert httpx2.post(url, headers=headers, content=b"{").status_code == 400
    assert httpx2.post(url, headers=headers, content=b"[]").status_code == 400
    assert httpx2.post(url, headers=headers, json={"body": 3}).status_code == 422
    assert httpx2.post(url, headers=headers, json={}).status_code == 422
    assert httpx2.get(f"{standin.api_url}/nothing/here", headers=headers).status_code == 404
