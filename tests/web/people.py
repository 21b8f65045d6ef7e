"""People at a GitHub of their own, and a server with runs of two repositories that they sign in to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demo.standin.server import StandIn
from tests.web.conftest import SECRET, Door
from tests.web.pages.stored_records import fill_records
from tests.web.pages.stored_runs import fill, fill_stories

ROLES = {"reader": "read", "writer": "write"}
"""What each person may do in `octo/pocket`; `stranger` may write to `other/place` alone."""


@contextmanager
def github_with_people(root: Path) -> Iterator[StandIn]:
    with StandIn(root, webhook_url=None, webhook_secret=SECRET) as github:
        world = github.world
        for name in ("octo/pocket", "other/place", "acme/records"):
            world.create_repo(name, {"README.md": "# Hi\n"})
        for login, role in ROLES.items():
            world.set_permission("octo/pocket", login, role)  # type: ignore[arg-type]
        world.set_permission("other/place", "stranger", "write")
        yield github


@contextmanager
def served_people(root: Path) -> Iterator[tuple[Door, StandIn]]:
    """A server with runs of `octo/pocket`, records of `acme/records` and a session in `/srv/a`."""
    with github_with_people(root / "github") as github:
        (root / "home").mkdir()
        with Door(root / "home", github) as door:
            for work in (fill(door.database), fill_stories(door.database, door.home), fill_records(door.database)):
                asyncio.run(work)
            yield door, github
