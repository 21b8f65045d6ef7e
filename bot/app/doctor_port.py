"""Examines the port of the server: free, used by a Mendbot, or used by another program."""

from __future__ import annotations

import json
import socket

from bot.app.diagnoses import failed, fine
from bot.errors import MendbotError
from bot.http import open_client, send
from bot.model.diagnosis import Diagnosis
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason

_TIMEOUT_S = 5.0


async def examine_port(port: int) -> Diagnosis:
    """The state of a port of 127.0.0.1. A Mendbot there must be ready."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return fine("machine", "port", make_reason("doctor.port.free", port=port))
    except PermissionError:
        return failed("machine", "port", make_reason("doctor.port.forbidden", port=port), _remedy())
    except (OSError, OverflowError):
        return await _server(port)


async def _server(port: int) -> Diagnosis:
    url = f"http://127.0.0.1:{port}"
    try:
        async with open_client(url, timeout_s=_TIMEOUT_S) as client:
            answer = await send(client, "GET", f"{url}/readyz", {}, total_s=_TIMEOUT_S)
        state = json.loads(answer.body)
        status, missing = state["status"], state.get("missing", {})
    except (MendbotError, ValueError, KeyError, TypeError):
        return failed("machine", "port", make_reason("doctor.port.taken", port=port), _remedy())
    if status == "ready":
        return fine("machine", "port", make_reason("doctor.port.serving", port=port))
    problems = "; ".join(f"{name}: {problem}" for name, problem in missing.items())
    message = make_reason("doctor.port.not_ready", port=port, problems=problems)
    remedy = "doctor.remedy.no_app" if missing.keys() == {"app"} else "doctor.remedy.not_ready"
    return failed("machine", "port", message, make_reason(remedy))


def _remedy() -> Reason:
    return make_reason("doctor.remedy.port")
