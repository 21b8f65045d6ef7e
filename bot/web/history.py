"""The error history for programs: what resolved the errors of a file, or this error (contract, *HTTP*)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from bot.model import Problem
from bot.reports.history.guidance import as_json
from bot.rules.runs.session_request import InvalidRequest
from bot.store.history.history import History
from bot.web.api import Endpoint, answer, number

LIMIT = 100
_DEFAULT = 10


def history(store: History) -> Endpoint:
    """`?file=` or `?error=`, one of them, and `?limit=` (1 to 100; 10): a list as `mendbot history --json` has it."""

    async def listing(request: Request) -> Response:
        file, error = (request.query_params.get(name, "") for name in ("file", "error"))
        if bool(file) == bool(error):
            message = "give either ?file= with a file's name or ?error= with an error's text"
            raise InvalidRequest((Problem(field="error" if file else "file", message=message),))
        most = number(request, "limit", _DEFAULT)
        if not 1 <= most <= LIMIT:
            raise InvalidRequest((Problem(field="limit", message=f"must be 1 to {LIMIT}"),))
        if file:
            return answer(as_json(await store.by_file(file, most)))
        known = await store.by_error(error)
        return answer(as_json([known] if known else []))

    return listing
