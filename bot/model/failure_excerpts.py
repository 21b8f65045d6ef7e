"""A failure as a person should see it: what its tool wrote of it, found in the whole log and cut to what matters."""

from __future__ import annotations

from bot.model.base import CamelModel


class ShownFailure(CamelModel):
    """One failed test, or one finding of a tool that judges code, in the tool's own words.

    `name` is the test's or the rule's, `message` what is wrong, on one line; either may be empty. `expected` and
    `received` are filled only where the tool says which is which. `path` is relative to the tree; `line` counts from 1
    and is 0 where the tool names no line. `block` has at most 40 lines and 3,000 characters of the log; it is empty
    for later failures of a long list."""

    name: str = ""
    message: str = ""
    expected: str = ""
    received: str = ""
    path: str = ""
    line: int = 0
    block: str = ""
