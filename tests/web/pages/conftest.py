"""A browser at the app's own server."""

from __future__ import annotations

import pytest

from tests.web.conftest import Door
from tests.web.pages.client import Client


@pytest.fixture
def visitor(door: Door) -> Client:
    """Nobody is signed in."""
    return Client(door.port)


@pytest.fixture
def operator(visitor: Client) -> Client:
    """Signed in with the admin token."""
    assert visitor.sign_in().status == 303
    return visitor
