"""What tests of several stores use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.store.database.database import Database


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all examples of a property."""
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'mendbot.db'}")
    database.migrate()
    yield database
    database.close()
