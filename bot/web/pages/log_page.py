"""The page of a log at `/runs/{id}/logs/{name}`: folded to its failing lines, with a link to each line."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.reports.format.truncate import strip_control
from bot.web.api import number
from bot.web.pages.log_lines import CHUNK, WINDOW, Gap, LogIndex, LogLine, folded, index_log, read_ranges, window
from bot.web.pages.run_page import RunPages
from bot.web.pages.site import HEADERS, NotFound, Visit

MAX_INDEXES = 32
_RAW_HEADERS = {
    **HEADERS,
    # a log holds the output of untrusted code, which no browser may run as a page
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


class LogPages:
    """The logs of runs; the index of a log is made once."""

    def __init__(self, pages: RunPages) -> None:
        self._pages = pages
        self._indexes: OrderedDict[tuple[str, int, int], LogIndex] = OrderedDict()
        self._indexing = asyncio.Semaphore(1)

    def routes(self) -> list[Route]:
        site = self._pages.site
        return [
            Route("/runs/{run}/logs/{log}", site.page(self.show), methods=["GET"]),
            Route("/runs/{run}/logs/{log}/raw", site.page(self.raw), methods=["GET"]),
        ]

    async def show(self, visit: Visit) -> Response:
        run_id, name, path = await self._find(visit)
        first = number(visit.request, "from", 0)
        try:
            index = await self._index(path)
            ranges = window(index, first) if first else folded(index)
            lines = await asyncio.to_thread(read_ranges, path, index, ranges)
        except OSError:
            raise NotFound from None
        last = ranges[-1][1] if ranges else 0
        values = {
            "run_id": run_id,
            "name": name,
            "index": index,
            "lines": [line if isinstance(line, Gap) else _clean(line) for line in lines if not first or _is_line(line)],
            "is_window": bool(first),
            "before": max(1, ranges[0][0] - WINDOW) if first and ranges and ranges[0][0] > 1 else None,
            "after": last + 1 if first and last < index.line_count else None,
        }
        return self._pages.site.render(visit.request, "log.html", visit.viewer, **values)

    async def raw(self, visit: Visit) -> Response:
        """The whole log as text, sent in pieces."""
        _, _, path = await self._find(visit)
        return StreamingResponse(_pieces(path), headers=_RAW_HEADERS, media_type="text/plain; charset=utf-8")

    async def _find(self, visit: Visit) -> tuple[str, str, Path]:
        row = await self._pages.row(visit)
        name = visit.request.path_params["log"]
        path = self._pages.files.path(row.id, name)
        if path is None:
            raise NotFound
        return row.id, name, path

    async def _index(self, path: Path) -> LogIndex:
        async with self._indexing:  # one large log at a time
            status = await asyncio.to_thread(path.stat)
            key = (str(path), status.st_size, status.st_mtime_ns)
            known = self._indexes.pop(key, None)
            index = known if known is not None else await asyncio.to_thread(index_log, path)
            self._indexes[key] = index
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)
            return index


def _is_line(line: LogLine | Gap) -> bool:
    return isinstance(line, LogLine)


def _clean(line: LogLine) -> LogLine:
    """The line without terminal sequences, as one line."""
    return LogLine(line.number, strip_control(line.text).replace("\n", " "), line.failing)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
