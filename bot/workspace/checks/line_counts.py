"""How many lines the files have that a log names, within bounds: the log and the files are anybody's.
Three hundred sparse files of 50 MB, each named once, must not make the bot read 15 GB."""

from __future__ import annotations

from pathlib import Path

from bot.errors import Refused
from bot.workspace.files.nofollow import read_state

MOST_FILE_BYTES = 16_000_000
"""Of one file; a larger one is none that people write."""
MOST_BYTES = 64_000_000
"""Of all the files of one log."""
MOST_FILES = 2_000


class LineCounts:
    """Asked for the files of one log, each is read once; what is past the bounds counts as not there."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._known: dict[str, int | None] = {}
        self._left = MOST_BYTES

    def of(self, path: str) -> int | None:
        """Lines of the file, at least 1; None where there is no such file in the tree, or none that may be read."""
        if path not in self._known:
            self._known[path] = self._count(path) if len(self._known) < MOST_FILES else None
        return self._known[path]

    def _count(self, path: str) -> int | None:
        try:
            state = read_state(self._tree, path, most=min(self._left, MOST_FILE_BYTES))
        except (OSError, Refused):
            return None
        if state is None:
            return None
        self._left -= len(state.content)
        return max(1, state.content.count(b"\n") + (not state.content.endswith(b"\n")))
