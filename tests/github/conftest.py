"""A GitHub small enough to read: one repository, real tokens and JWTs, a clock of its own, and faults on demand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import unquote

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.github.client import GitHub
from bot.github.clock import Clock
from bot.http import ASGITransport, open_client
from bot.model import Repo

APP_ID = 4242
API = "https://api.github.com"


@pytest.fixture(scope="session")
def app_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class FakeTime:
    """GitHub's time, and a local clock that may be wrong by `skew`; sleeping takes no time but passes it."""

    t: float = 1_800_000_000.0
    skew: float = 0.0

    def clock(self) -> Clock:
        return Clock(now=lambda: self.t + self.skew, steady=lambda: self.t, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.t += seconds
        await asyncio.sleep(0)


@dataclass
class Seen:
    host: str
    method: str
    path: str
    query: str
    authorization: str
    body: Any
    at: float

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Fault:
    pattern: re.Pattern[str]
    answer: Callable[[], Response]
    times: int
    after_effect: bool


@dataclass
class World:
    """What GitHub knows, what it was asked, and what will go wrong next."""

    key: rsa.RSAPrivateKey
    time: FakeTime = field(default_factory=FakeTime)
    seen: list[Seen] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    comments: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    roles: dict[str, dict[str, str]] = field(default_factory=dict)
    deliveries: list[dict[str, Any]] = field(default_factory=list)
    per_page: int = 100
    turns: dict[str, int] = field(default_factory=dict)  # how long a path's answer takes, in turns of the loop
    in_flight: int = 0
    most_in_flight: int = 0

    # --- what tests use

    def github(self, spacing_s: float = 0.0) -> GitHub:
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        ).decode()
        app = Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "POST", "PATCH", "PUT", "DELETE"])])
        client = open_client(API, transport=ASGITransport(app))
        return GitHub(
            app_id=str(APP_ID), key_pem=pem, api_url=API, client=client, write_spacing_s=spacing_s,
            clock=self.time.clock(),
        )  # fmt: skip

    @property
    def repo(self) -> Repo:
        return Repo(owner="octo", name="shop", installation_id=7)

    def fail(
        self, pattern: str, status: int, body: Any = None, *, times: int = 1, after_effect: bool = False, **headers: str
    ) -> None:
        """The next `times` requests whose "METHOD path" matches get this answer, the effect done or not."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def answer() -> Response:
            if isinstance(body, str):
                return Response(body, status, named, media_type="text/html")
            return JSONResponse({"message": "no"} if body is None else body, status, named)

        self.faults.append(Fault(re.compile(pattern), answer, times, after_effect))

    def lines(self, start: str = "") -> list[str]:
        return [seen.line for seen in self.seen if seen.line.startswith(start)]

    def comment(self, body: str, login: str, app_id: int | None = None) -> dict[str, Any]:
        made = {
            "id": 100 + len(self.comments),
            "body": body,
            "user": {"login": login, "id": 1},
            "performed_via_github_app": {"id": app_id} if app_id else None,
            "issue_url": f"{API}/repos/octo/shop/issues/3",
        }
        self.comments.append(made)
        return made

    # --- the server

    async def _serve(self, request: Request) -> Response:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            for _ in range(self.turns.get(request.url.path, 1)):
                await asyncio.sleep(0)
            response = await self._answer(request)
        finally:
            self.in_flight -= 1
        response.headers["date"] = format_datetime(datetime.fromtimestamp(self.time.t, UTC), usegmt=True)
        return response

    async def _answer(self, request: Request) -> Response:
        raw = await request.body()
        path = unquote(request.scope["raw_path"].decode())
        seen = Seen(
            request.headers["host"], request.method, path, request.url.query,
            request.headers.get("authorization", ""), json.loads(raw) if raw else None, self.time.t,
        )  # fmt: skip
        self.seen.append(seen)
        for fault in self.faults:
            if fault.times and fault.pattern.search(seen.line):
                fault.times -= 1
                if fault.after_effect:
                    self._route(seen, request)
                return fault.answer()
        refusal = self._refuse(seen)
        return refusal or self._route(seen, request)

    def _refuse(self, seen: Seen) -> Response | None:
        bearer = seen.authorization.removeprefix("Bearer ")
        if seen.path.startswith("/app"):
            return self._refuse_jwt(bearer)
        token = self.tokens.get(bearer)
        if token is None or token["expires"] <= self.time.t:
            return JSONResponse({"message": "Bad credentials"}, 401)
        return None

    def _refuse_jwt(self, bearer: str) -> Response | None:
        claims = jwt.decode(
            bearer, self.key.public_key(), algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
        )
        assert claims["iss"] == str(APP_ID)
        said = ""
        if claims["iat"] > self.time.t:
            said = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        elif claims["exp"] > self.time.t + 600:
            said = "'Expiration time' claim ('exp') is too far in the future"
        elif claims["exp"] <= self.time.t:
            said = "'Expiration time' claim ('exp') must be a numeric value representing the future time"
        return JSONResponse({"message": said}, 401) if said else None

    def _route(self, seen: Seen, request: Request) -> Response:
        for pattern, handle in ROUTES.items():
            match = re.fullmatch(pattern, seen.line)
            if match:
                return handle(self, seen, request, *match.groups())
        return JSONResponse({"message": "Not Found"}, 404)

    def page(self, items: list[Any], request: Request, key: str | None = None) -> Response:
        number = int(request.query_params.get("page", "1"))
        part = items[(number - 1) * self.per_page : number * self.per_page]
        headers = {}
        if number * self.per_page < len(items):
            headers["link"] = f'<{request.url.include_query_params(page=number + 1)}>; rel="next"'
        return JSONResponse({"total_count": len(items), key: part} if key else part, headers=headers)


def _mint(world: World, seen: Seen, request: Request, installation: str) -> Response:
    expires = world.time.t + 3600
    token = f"ghs_{APP_ID}_{len(world.tokens)}." + "x-" * 240
    world.tokens[token] = {"expires": expires, "request": seen.body, "installation": installation}
    stamp = datetime.fromtimestamp(expires, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return JSONResponse({"token": token, "expires_at": stamp}, 201)


def _post_comment(world: World, seen: Seen, request: Request, number: str) -> Response:
    made = world.comment(seen.body["body"], "mendbot[bot]", APP_ID)
    return JSONResponse(made, 201)


def _one_comment(world: World, seen: Seen, request: Request, number: str) -> Response:
    found = next((c for c in world.comments if c["id"] == int(number)), None)
    if found is None:
        return JSONResponse({"message": "Not Found"}, 404)
    if seen.method == "PATCH":
        found["body"] = seen.body["body"]
    return JSONResponse(found)


def _write_run(world: World, seen: Seen, request: Request, number: str = "") -> Response:
    body = dict(seen.body)
    annotations = body.get("output", {}).pop("annotations", [])
    if len(annotations) > 50:
        return JSONResponse({"message": "Invalid request", "errors": ["annotations: too many"]}, 422)
    if number:
        run = next(r for r in world.runs if r["id"] == int(number))
    else:
        run = {"id": 900 + len(world.runs), "app": {"id": APP_ID}, "conclusion": None, "annotations": []}
        world.runs.append(run)
    run["annotations"].extend(annotations)
    run |= body
    run["output"] = body["output"] | {"annotations_count": len(run["annotations"])}
    next(iter(r for r in world.runs if r["id"] == run["id"])).update(run)
    return JSONResponse({k: v for k, v in run.items() if k != "annotations"}, 200 if number else 201)


def _list_runs(world: World, seen: Seen, request: Request, sha: str) -> Response:
    name = request.query_params["check_name"]
    found = [r for r in world.runs if r["head_sha"] == sha and r["name"] == name]
    return world.page(found, request, "check_runs")


def _post_pull(world: World, seen: Seen, request: Request) -> Response:
    number = 50 + len(world.pulls)
    made = {
        "number": number,
        "html_url": f"https://github.com/octo/shop/pull/{number}",
        "state": "open",
        "head": {"ref": seen.body["head"], "sha": "a" * 40},
        "base": {"ref": seen.body["base"], "sha": "b" * 40},
    }
    world.pulls.append(made)
    return JSONResponse(made, 201)


def _labels(world: World, seen: Seen, request: Request, label: str = "") -> Response:
    if label:
        if label not in world.labels:
            return JSONResponse({"message": "Label does not exist"}, 404)
        world.labels.remove(label)
    else:
        world.labels.extend(x for x in seen.body["labels"] if x not in world.labels)
    return JSONResponse([{"name": x} for x in world.labels])


def _permission(world: World, seen: Seen, request: Request, login: str) -> Response:
    if login not in world.roles:
        return JSONResponse({"message": "Not Found"}, 404)
    return JSONResponse(world.roles[login])


def _one_pull(world: World, seen: Seen, request: Request, number: str) -> Response:
    found = next((pull for pull in world.pulls if pull["number"] == int(number)), None)
    return JSONResponse(found or {"message": "Not Found"}, 200 if found else 404)


def _revoke(world: World, seen: Seen, request: Request) -> Response:
    del world.tokens[seen.authorization.removeprefix("Bearer ")]
    return Response(status_code=204)


_R = "/repos/octo/shop"
ROUTES: dict[str, Callable[..., Response]] = {
    r"POST /app/installations/(\d+)/access_tokens": _mint,
    r"GET /app": lambda w, s, r: JSONResponse({"id": APP_ID, "slug": "mendbot"}),
    r"GET /users/mendbot\[bot\]": lambda w, s, r: JSONResponse({"id": 31, "login": "mendbot[bot]"}),
    r"DELETE /installation/token": _revoke,
    rf"GET {_R}": lambda w, s, r: JSONResponse({"default_branch": "trunk"}),
    rf"GET {_R}/issues/3": lambda w, s, r: JSONResponse(
        {"number": 3, "title": "T", "body": None, "state": "open", "labels": ["a", {"name": "b"}], "user": None}
    ),
    rf"GET {_R}/issues/\d+/comments": lambda w, s, r: w.page(w.comments, r),
    rf"POST {_R}/issues/(\d+)/comments": _post_comment,
    rf"(?:GET|PATCH) {_R}/issues/comments/(\d+)": _one_comment,
    rf"POST {_R}/issues/3/labels": _labels,
    rf"DELETE {_R}/issues/3/labels/(.+)": _labels,
    rf"GET {_R}/collaborators/(.+)/permission": _permission,
    rf"GET {_R}/commits/(\w+)/check-runs": _list_runs,
    rf"POST {_R}/check-runs": _write_run,
    rf"PATCH {_R}/check-runs/(\d+)": _write_run,
    rf"GET {_R}/pulls": lambda w, s, r: w.page(w.pulls, r),
    rf"POST {_R}/pulls": _post_pull,
    rf"GET {_R}/pulls/(\d+)": _one_pull,
    rf"GET {_R}/pulls/\d+/files": lambda w, s, r, *_: w.page(w.files, r),
    rf"GET {_R}/commits/\w+/pulls": lambda w, s, r: w.page([], r),
    rf"POST {_R}/(issues|pulls)/comments/\d+/reactions": lambda w, s, r, kind: JSONResponse({"id": 1}, 201),
    r"GET /app/hook/deliveries": lambda w, s, r: w.page(w.deliveries, r),
    r"POST /app/hook/deliveries/\d+/attempts": lambda w, s, r: JSONResponse({}, 202),
}


@pytest.fixture
def world(app_key: rsa.RSAPrivateKey) -> Iterator[World]:
    yield World(app_key)
