"""The floor: Starlette on uvicorn that reads, verifies and parses a webhook and answers, and stores nothing."""

import hmac
import json
import os
from hashlib import sha256

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()


async def receive(request: Request) -> JSONResponse:
    body = await request.body()
    wanted = "sha256=" + hmac.new(SECRET, body, sha256).hexdigest()
    if not hmac.compare_digest(wanted, request.headers.get("x-hub-signature-256", "")):
        return JSONResponse({"error": "signature"}, 401)
    payload = json.loads(body)
    return JSONResponse({"delivery": request.headers["x-github-delivery"], "keys": len(payload)}, 202)


uvicorn.run(
    Starlette(routes=[Route("/api/github/webhooks", receive, methods=["POST"])]),
    host="127.0.0.1", port=int(os.environ["PORT"]), loop="uvloop", http="httptools", lifespan="off",
    log_level="warning", access_log=False, server_header=False, date_header=False,
)  # fmt: skip
