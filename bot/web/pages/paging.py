"""Pages of a list: the number of the shown one, and the addresses of those before and after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

MAX_PAGE = 100_000
_NUMBER = re.compile(r"[1-9][0-9]{0,5}\Z", re.ASCII)


def page_number(text: str) -> int:
    """The number of the page that a query names, from 1; 1 for any other text."""
    return min(int(text), MAX_PAGE) if _NUMBER.match(text) else 1


@dataclass(frozen=True, slots=True)
class Paging:
    """The page `number` of `pages`, of a list with `count` items; `previous` and `next` are addresses or empty."""

    number: int
    pages: int
    count: int
    previous: str
    next: str

    @classmethod
    def of(cls, path: str, query: Mapping[str, str], number: int, per_page: int, count: int) -> Paging:
        """The paging of a list at that path, whose other query fields stay."""
        fields = {name: value for name, value in query.items() if value}
        pages = max(1, -(-count // per_page))

        def address(page: int) -> str:
            return f"{path}?{urlencode({**fields, 'page': page})}"

        before = address(min(number - 1, pages)) if number > 1 else ""
        return cls(number, pages, count, before, address(number + 1) if number < pages else "")
