"""The bell: whoever waits is woken at once, in any loop, from any thread, and misses nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from bot.store.database.notify import Changes

LONG_S = 100.0
"""What is woken is back long before; what is not fails the test."""


def test_everyone_who_waits_is_woken_from_any_thread_in_every_loop() -> None:
    changes = Changes()

    async def wait_three_times() -> float:
        began = time.monotonic()
        seen = changes.count
        tasks = [asyncio.create_task(changes.wait(LONG_S, seen)) for _ in range(3)]
        await asyncio.gather(*tasks)
        return time.monotonic() - began

    with ThreadPoolExecutor(3) as pool:
        loops = [pool.submit(asyncio.run, wait_three_times()) for _ in range(3)]
        while len(changes._waiting) < 9:
            time.sleep(0.01)
        time.sleep(0.1)  # a loop that has fallen asleep is woken by its own means alone
        changes.notify()
        assert all(loop.result() < LONG_S / 2 for loop in loops)


async def test_what_rang_between_looking_and_waiting_is_not_missed() -> None:
    changes = Changes()

    seen = changes.count
    changes.notify()
    await asyncio.wait_for(changes.wait(LONG_S, seen), LONG_S / 2)


async def test_a_wait_ends_with_its_time_or_its_task_and_leaves_nothing_behind() -> None:
    changes = Changes()

    await changes.wait(0.01)
    task = asyncio.create_task(changes.wait(LONG_S))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert not changes._waiting


def test_a_loop_that_closed_while_it_waited_hinders_no_one() -> None:
    changes = Changes()
    loop = asyncio.new_event_loop()
    task = loop.create_task(changes.wait(LONG_S))
    loop.run_until_complete(asyncio.sleep(0))

    async def run() -> None:
        other = asyncio.create_task(changes.wait(LONG_S))
        await asyncio.sleep(0)
        loop.close()
        changes.notify()
        await asyncio.wait_for(other, LONG_S / 2)

    asyncio.run(run())
    assert not task.done()
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # its loop is gone, as is meant here


async def test_until_looks_at_once_at_each_ring_and_by_itself() -> None:
    changes = Changes()
    facts: list[str] = []

    async def look() -> bool:
        return bool(facts)

    assert not await changes.until(look, 0)
    assert not await changes.until(look, 0.05)
    waiting = asyncio.create_task(changes.until(look, LONG_S, poll_s=LONG_S))
    await asyncio.sleep(0.01)
    changes.notify()
    await asyncio.sleep(0.01)
    assert not waiting.done()
    facts.append("there")
    changes.notify()
    assert await asyncio.wait_for(waiting, LONG_S / 2)
    assert await changes.until(look, 0)
    facts.clear()
    # another process writes, which rings no bell here
    waiting = asyncio.create_task(changes.until(look, LONG_S, poll_s=0.05))
    await asyncio.sleep(0.01)
    facts.append("there")
    assert await asyncio.wait_for(waiting, LONG_S / 2)


async def test_a_thousand_rings_from_four_threads_lose_no_waiter() -> None:
    changes = Changes()
    written = 0
    lock = threading.Lock()

    def write() -> None:
        nonlocal written
        for _ in range(250):
            with lock:
                written += 1
            changes.notify()

    async def run() -> None:
        async def all_there() -> bool:
            return written == 1000

        threads = [threading.Thread(target=write) for _ in range(4)]
        waiters = [asyncio.create_task(changes.until(all_there, LONG_S, poll_s=LONG_S)) for _ in range(5)]
        await asyncio.sleep(0)
        for thread in threads:
            thread.start()
        assert all(await asyncio.wait_for(asyncio.gather(*waiters), LONG_S / 2))
        for thread in threads:
            thread.join()

    await run()
    assert changes.count == 1000
