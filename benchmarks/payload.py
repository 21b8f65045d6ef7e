"""A webhook body of the size that GitHub's issue events have, and the headers that come with it.
`issues.opened` is really delivered to the App and really ignored by it, so the work behind the answer is small."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from typing import Any

SIZE = 11_500
EVENT = "issues"
PATH = "/api/github/webhooks"

_USER = ("followers", "following{/other_user}", "gists{/gist_id}", "starred{/owner}{/repo}", "subscriptions",
         "organizations", "repos", "events{/privacy}", "received_events")  # fmt: skip
_REPO = ("forks", "keys{/key_id}", "collaborators{/collaborator}", "teams", "hooks", "issues/events{/number}", "events",
         "assignees{/user}", "branches{/branch}", "tags", "git/blobs{/sha}", "git/tags{/sha}", "git/refs{/sha}",
         "git/trees{/sha}", "statuses/{sha}", "languages", "stargazers", "contributors", "subscribers", "subscription",
         "commits{/sha}", "git/commits{/sha}", "comments{/number}", "issues/comments{/number}", "contents/{+path}",
         "compare/{base}...{head}", "merges", "{archive_format}{/ref}", "downloads", "issues{/number}",
         "pulls{/number}", "milestones{/number}", "notifications{?since,all,participating}", "labels{/name}",
         "releases{/id}", "deployments")  # fmt: skip


def _urls(base: str, parts: tuple[str, ...]) -> dict[str, str]:
    return {f"{part.split('{')[0].strip('/').replace('/', '_') or 'archive'}_url": f"{base}/{part}" for part in parts}


def _user(login: str, number: int) -> dict[str, Any]:
    base = f"https://api.github.test/users/{login}"
    return {"login": login, "id": number, "node_id": f"U_{number:012d}", "type": "User", "url": base,
            "site_admin": False, **_urls(base, _USER)}  # fmt: skip


def body(variant: int) -> bytes:
    """A body of exactly SIZE bytes; each variant differs from the others."""
    base = "https://api.github.test/repos/octo/example"
    payload: dict[str, Any] = {
        "action": "opened",
        "issue": {
            "url": f"{base}/issues/{variant}", "id": 10_000 + variant, "number": variant + 1, "state": "open",
            "title": "The parser refuses a space", "user": _user("ada", 1), "labels": [], "assignees": [],
            "locked": False, "comments": 0, "created_at": "2025-01-02T03:04:05Z", "updated_at": "2025-01-02T03:04:05Z",
            "author_association": "MEMBER", "body": "",
        },
        "repository": {
            "id": 77, "name": "example", "full_name": "octo/example", "private": False, "owner": _user("octo", 2),
            "default_branch": "main", "fork": False, "size": 108, "stargazers_count": 3, "topics": ["a", "b"],
            "visibility": "public", **_urls(base, _REPO),
        },
        "installation": {"id": 5, "node_id": "MDIz"},
        "sender": _user("ada", 1),
    }  # fmt: skip
    line = 'Steps: call `parse("1h 30m")`; it raises `ValueError`. See pkg/parser.py:42.\n'
    missing = SIZE - len(json.dumps(payload).encode())
    text = ""
    while True:
        grown = text + line
        if len(json.dumps(grown)) - 2 > missing:
            break
        text = grown
    payload["issue"]["body"] = text + "." * (missing - (len(json.dumps(text)) - 2))
    return json.dumps(payload).encode()


def head(port: int, secret: str, content: bytes, delivery: str, target: int) -> bytes:
    """The request's head as GitHub sends it."""
    signature = hmac.new(secret.encode(), content, sha256).hexdigest()
    lines = (
        f"POST {PATH} HTTP/1.1", f"Host: 127.0.0.1:{port}", "User-Agent: GitHub-Hookshot/benchmark", "Accept: */*",
        "Content-Type: application/json", f"X-GitHub-Delivery: {delivery}", f"X-GitHub-Event: {EVENT}",
        f"X-GitHub-Hook-ID: {target}", f"X-GitHub-Hook-Installation-Target-ID: {target}",
        "X-GitHub-Hook-Installation-Target-Type: integration", f"X-Hub-Signature-256: sha256={signature}",
        f"Content-Length: {len(content)}",
    )  # fmt: skip
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
