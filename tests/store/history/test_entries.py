"""The entries of the error history for its page: filters, order, and who sees which (REQ-RUN-009)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history.entries import Entries, EntryFilter
from bot.store.history.history import History
from tests.store import databases
from tests.store.databases import plans

T = TypeVar("T")
CART, MAIL, SAME = "cart.py: KeyError: 'total_1'", "mail.py: 100% lost", "shared.py: no"


async def run(where: Path, work: Callable[[Entries], Awaitable[T]]) -> T:
    """Work on a history with one error of each of two repositories, one of both, and one of none."""

    async def filled(database: Database) -> T:
        history = History(database)
        await history.record(CART, Resolution(repo="Acme/Shop", how="first", tool_sequence=("Edit src/cart.py",)))
        await history.record(MAIL, Resolution(repo="acme/api", how="second"))
        await history.record("tool.py: none", Resolution(how="third"))
        await history.record(SAME, Resolution(repo="acme/shop", how="theirs"), raw="/home/shop/shared.py: no")
        await history.record(SAME, Resolution(repo="acme/api", how="ours"), raw="/home/api/shared.py: no")
        return await work(Entries(database))

    return await databases.run(where, filled)


async def how(entries: Entries, wanted: EntryFilter, limit: int = 10, offset: int = 0) -> tuple[set[str], int]:
    page = await entries.page(wanted, limit, offset)
    return {entry.known.resolution.how for entry in page.entries}, page.count


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (EntryFilter(), {"first", "second", "third", "theirs", "ours"}),
        (EntryFilter(repo="ACME/shop"), {"first", "theirs"}),
        (EntryFilter(file="lib/shared.py"), {"theirs", "ours"}),
        (EntryFilter(file="red.py"), set()),
        (EntryFilter(text="keyerror"), {"first"}),
        (EntryFilter(text="100%"), {"second"}),
        (EntryFilter(text="%"), {"second"}),
        (EntryFilter(text="total_", repo="acme/api"), set()),
        (EntryFilter(visible={"acme/shop"}), {"first", "theirs"}),
        (EntryFilter(visible={"acme/shop"}, repo="acme/api"), set()),
        (EntryFilter(visible=set()), set()),
    ],
)
async def test_a_filter_selects_entries_of_visible_repositories(
    tmp_path: Path, wanted: EntryFilter, shown: set[str]
) -> None:
    assert await run(tmp_path, lambda entries: how(entries, wanted)) == (shown, len(shown))


async def test_pages_hold_the_latest_first_and_count_all(tmp_path: Path) -> None:
    async def pages(entries: Entries) -> list[tuple[set[str], int]]:
        return [await how(entries, EntryFilter(), 1, offset) for offset in (0, 4, 9)]

    first, last, beyond = await run(tmp_path, pages)
    assert first == ({"ours"}, 5) and last == ({"first"}, 5) and beyond == (set(), 5)


async def test_the_printed_text_stays_with_its_repository(tmp_path: Path) -> None:
    async def both(entries: Entries) -> dict[str, str]:
        page = await entries.page(EntryFilter(file="shared.py"), 10)
        return {entry.repo: entry.known.raw for entry in page.entries}

    assert await run(tmp_path, both) == {"acme/api": "/home/api/shared.py: no", "acme/shop": ""}


async def test_repositories_and_files(tmp_path: Path) -> None:
    async def listed(entries: Entries) -> tuple[object, ...]:
        page = await entries.page(EntryFilter(text="total_1"), 1)
        repositories = await entries.repositories(), await entries.repositories({"Acme/api"})
        return (*repositories, await entries.files(2), page.entries[0].files)

    everything, visible, files, own = await run(tmp_path, listed)
    assert (everything, visible) == (("acme/api", "acme/shop"), ("acme/api",))
    assert files == (("cart.py", 1), ("mail.py", 1)) and own == ("cart.py",)


async def test_a_resolution_that_did_not_help_is_spent(tmp_path: Path) -> None:
    async def follow(database: Database) -> tuple[bool, bool]:
        history, entries = History(database), Entries(database)
        await history.record(CART, Resolution(repo="acme/shop"))
        before = (await entries.page(EntryFilter(), 1)).entries[0].is_spent
        for _ in range(3):
            await history.followed(await history.by_errors([CART]), passed=False)
        return before, (await entries.page(EntryFilter(), 1)).entries[0].is_spent

    assert await databases.run(tmp_path, follow) == (False, True)


async def test_a_page_is_found_without_reading_the_stored_changes(tmp_path: Path) -> None:
    (ordered, *_) = await plans(tmp_path, lambda database: Entries(database).page(EntryFilter(repo="acme/shop"), 10))
    assert "error_kb_resolved" in ordered
