"""What holds for every test: neither the machine's speed nor luck decides whether it passes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import new_database, postgres

sys.dont_write_bytecode = False
"""Else each worker compiles the tests and the bot anew, where PYTHONDONTWRITEBYTECODE is set: ten seconds of each."""

_UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=_UNHURRIED)
settings.register_profile("searching", deadline=None, suppress_health_check=_UNHURRIED, max_examples=1000)
settings.load_profile("steady")
"""`pytest --hypothesis-profile=searching` looks where nobody has looked yet."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Excludes what the collection made from every later garbage collection: a million objects that live to the end."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests that are `async def` run on the loop that the bot runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """One Postgres for all tests of a worker."""
    with postgres() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """An empty database of the test's own."""
    return new_database(postgres_server)
