"""The error history for programs: resolutions of the errors of a file, or of one error (contract, *HTTP*)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from bot.reports.history.guidance import as_json
from bot.rules.reasons import make_reason
from bot.store.history.history import History
from bot.web.api import Endpoint, answer, invalid, number

MAX_LIMIT = 100
_DEFAULT = 10


def history(store: History) -> Endpoint:
    """Answers `?file=` or `?error=`, with `?limit=` (1 to 100; default 10), as `mendbot history --json` does."""

    async def listing(request: Request) -> Response:
        file, error = (request.query_params.get(name, "") for name in ("file", "error"))
        if bool(file) == bool(error):
            raise invalid("error" if file else "file", make_reason("request.file_or_error"))
        limit = number(request, "limit", _DEFAULT, least=1, most=MAX_LIMIT)
        if file:
            return answer(as_json(await store.by_file(file, limit)))
        known = await store.by_error(error)
        return answer(as_json([known] if known else []))

    return listing
