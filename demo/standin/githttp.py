"""git over HTTP: installation tokens at the door, `git http-backend` (CGI) behind it, pushes followed up.

The request body is read whole before git starts and its output whole before the answer: streaming either through
corrupts packs. Sources: gitprotocol-http(5), git-http-backend(1); refusals in GitHub's words."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from pathlib import Path
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot import proc
from demo.standin.actions.repository import pushed
from demo.standin.answers import ApiError
from demo.standin.auth import Caller, find_token, granted, may_see
from demo.standin.gitrepo import scrubbed_env
from demo.standin.records import LoggedRequest, Repository
from demo.standin.webhooks import Hooks

_LIMIT = proc.OutputLimit(head=1 << 29, tail=1 << 10, total=1 << 29)
_TIMEOUT_S = 120.0

PRE_RECEIVE = r"""#!/bin/sh
# Made by the stand-in: refuses what GitHub refuses, before any ref moves.
if [ -n "$STANDIN_REFUSE" ]; then
  printf '%s\n' "$STANDIN_REFUSE" >&2
  exit 1
fi
while read -r old new ref; do
  while read -r pattern; do
    [ -n "$pattern" ] || continue
    # shellcheck disable=SC2254
    case "${ref#refs/heads/}" in
      $pattern)
        echo "error: GH006: Protected branch update failed for $ref." >&2
        exit 1 ;;
    esac
  done <<EOF
$STANDIN_PROTECTED
EOF
  case "$new" in *[!0]*) ;; *) continue ;; esac
  if [ -z "$STANDIN_WORKFLOWS" ]; then
    file=$(git log --format= --name-only "$new" --not --all -- .github/workflows | head -n 1)
    if [ -n "$file" ]; then
      echo "refusing to allow a GitHub App to create or update workflow \`$file\` without \`workflows\` permission" >&2
      exit 1
    fi
  fi
done
exit 0
"""


class _Refused(Exception):
    """An answer git shows as `remote: …`."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


Service = Literal["git-upload-pack", "git-receive-pack"]


def place_hook(repo: Path) -> None:
    hook = repo / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(PRE_RECEIVE)
    hook.chmod(0o755)


class GitHttp:
    """The three routes of the smart protocol, with and without `.git`."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks

    def routes(self) -> list[Route]:
        home = "/{owner}/{repo}"
        return [
            Route(home + "/info/refs", self._serve, methods=["GET"]),
            Route(home + "/git-upload-pack", self._serve, methods=["POST"]),
            Route(home + "/git-receive-pack", self._serve, methods=["POST"]),
        ]

    async def _serve(self, request: Request) -> Response:
        began = time.monotonic()
        state = self.hooks.state
        body = await request.body()
        path = request.url.path
        fault = state.faults.take(request.method, path)
        if fault and fault.delay_s:
            await asyncio.sleep(fault.delay_s)
        caller: Caller | None = None
        lost = fault is not None and fault.status is not None and not fault.after_effect
        try:
            caller = self._caller(request)
            response = Response() if lost else await self._run(request, caller, body)
        except _Refused as refused:
            headers = {"WWW-Authenticate": 'Basic realm="GitHub"'} if refused.status == 401 else {}
            response = Response(refused.text + "\n", refused.status, headers, "text/plain")
        if fault and fault.status is not None:
            response = Response(str(fault.body or "fault"), fault.status, dict(fault.headers), "text/plain")
        state.requests.append(
            LoggedRequest(
                kind="git",
                method=request.method,
                path=path,
                query=dict(request.query_params),
                body=f"{len(body)} bytes",
                status=response.status_code,
                response=f"{len(response.body)} bytes",
                response_headers=dict(response.headers),
                authenticated_as=caller.name if caller else None,
                monotonic_s=began,
            )
        )
        state.pulse.beat()
        return response

    def _caller(self, request: Request) -> Caller:
        """Basic authentication with any user name and the token as password; GitHub names `x-access-token`."""
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            raise _Refused(401, "No credentials were given.")
        try:
            _, _, password = base64.b64decode(value, validate=True).decode().partition(":")
            return Caller(token=find_token(self.hooks.state, password))
        except (ApiError, binascii.Error, UnicodeDecodeError):
            raise _Refused(401, "Invalid username or token.") from None

    def _repository(self, request: Request, caller: Caller, service: Service) -> Repository:
        name = f"{request.path_params['owner']}/{request.path_params['repo'].removesuffix('.git')}"
        token = caller.token
        repo = self.hooks.state.repos.get(name.lower())
        if token is None or repo is None or not may_see(token, repo):
            raise _Refused(404, "Repository not found.")
        if not granted(token, [("contents", "read")]):
            raise _Refused(403, "Resource not accessible by integration")
        if service == "git-receive-pack" and not granted(token, [("contents", "write")]):
            raise _Refused(403, "Write access to repository not granted.")
        return repo

    async def _run(self, request: Request, caller: Caller, body: bytes) -> Response:
        last = request.url.path.rsplit("/", 1)[-1]
        asked = request.query_params.get("service", "") if last == "refs" else last
        service: Service
        if asked == "git-upload-pack":
            service = "git-upload-pack"
        elif asked == "git-receive-pack":
            service = "git-receive-pack"
        else:
            raise _Refused(403, "Please upgrade your git client: the dumb protocol is not served.")
        repo = self._repository(request, caller, service)
        if service == "git-upload-pack" or last == "refs":
            return await self._backend(request, repo, body, {})
        async with repo.git.lock:
            before = await repo.git.branches()
            response = await self._backend(request, repo, body, _rules(repo, caller))
            await pushed(self.hooks, repo, before, self.hooks.state.app.bot)
        return response

    async def _backend(self, request: Request, repo: Repository, body: bytes, extra: dict[str, str]) -> Response:
        tail = request.url.path.split("/", 3)[3]
        env = scrubbed_env() | extra
        env |= {
            "GATEWAY_INTERFACE": "CGI/1.1",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REQUEST_METHOD": request.method,
            "GIT_PROJECT_ROOT": str(repo.git.path.parent),
            "PATH_INFO": f"/{repo.git.path.name}/{tail}",
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_ADDR": "127.0.0.1",
            "REMOTE_USER": self.hooks.state.app.bot.login,
        }
        done = await proc.run(
            ("git", "http-backend"),
            cwd=repo.git.path,
            env=env,
            timeout_s=_TIMEOUT_S,
            stdin=body,
            limit=_LIMIT,
            merge_stderr=False,
        )
        head, gap, content = done.output.partition(b"\r\n\r\n")
        if not gap or done.dropped_bytes:
            said = done.spawn_error or done.errors.decode(errors="replace").strip()
            raise _Refused(500, f"git http-backend failed: {said}")
        lines = [line.partition(":") for line in head.decode().split("\r\n")]
        headers = {name.lower(): value.strip() for name, _, value in lines}
        status = int(headers.pop("status", "200").split()[0])
        return Response(content, status, headers)


def _rules(repo: Repository, caller: Caller) -> dict[str, str]:
    """What the pre-receive hook has to refuse this time, as its environment."""
    refused, repo.next_push_refused = repo.next_push_refused, None
    rules = {"STANDIN_PROTECTED": "\n".join(repo.protected)}
    if refused is not None:
        rules["STANDIN_REFUSE"] = refused
    if caller.token and granted(caller.token, [("workflows", "write")]):
        rules["STANDIN_WORKFLOWS"] = "1"
    return rules
