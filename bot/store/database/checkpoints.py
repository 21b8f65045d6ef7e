"""Moves the write-ahead log into the database file from a thread of its own, so that no commit waits for it.

SQLite's own habit is to do so inside whichever commit makes the log 1,000 pages long: the slowest hundredth of all
acknowledgements (performance.md). Durability is the log's (`synchronous=FULL`), not the checkpoint's."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from bot.logs import get_logger

QUIET_S = 0.25
LONGEST_LOG = 64 * 1024 * 1024
"""Past this size the log is moved even while commits go on, or it would grow as long as they do."""
_READERS_S = 0.2
_AGAIN_S = 2.0

log = get_logger()


class Checkpointer:
    """Call `committed` after each commit, `close` at the end. The database must be in WAL mode, and no connection
    that writes may checkpoint on its own (`wal_autocheckpoint=0`)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_file = path.with_name(f"{path.name}-wal")
        self._last_commit = 0.0
        self._dirty = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="store-checkpoint", daemon=True)
        self._thread.start()

    def committed(self) -> None:
        self._last_commit = time.monotonic()
        if not self._dirty.is_set():
            self._dirty.set()

    def close(self) -> None:
        """Stop; SQLite checkpoints once more when the last connection closes."""
        self._stopping.set()
        self._dirty.set()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            self._dirty.wait()
            self._await_quiet()
            if self._stopping.is_set():
                return
            self._dirty.clear()
            try:
                complete = self._checkpoint()
            except sqlite3.Error as error:  # the log keeps everything
                log.warning("checkpoint_failed", error=str(error))
                complete = False
            if not complete:
                self._dirty.set()
                self._stopping.wait(_AGAIN_S)

    def _await_quiet(self) -> None:
        """Return when no commit has come for a while, or the log is too long to wait."""
        while (rest := self._last_commit + QUIET_S - time.monotonic()) > 0 and self._length() < LONGEST_LOG:
            if self._stopping.wait(rest):
                return

    def _length(self) -> int:
        try:
            return self._log_file.stat().st_size
        except FileNotFoundError:
            return 0

    def _checkpoint(self) -> bool:
        """Whether all of it was moved; a reader of an old snapshot hinders that."""
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=_READERS_S)
        try:
            connection.execute("PRAGMA synchronous=FULL")
            # the bulk of it beside readers and the writer; then the little that came meanwhile, and the log is empty
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            hindered, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not hindered
        finally:
            connection.close()
