"""The port is free, used by a Mendbot in whatever state, or used by another program."""

from __future__ import annotations

import socket
from pathlib import Path

from bot.app.doctor_port import examine_port
from bot.reports.locale.reasons import english
from tests.machine import kept_port
from tests.web.conftest import Door


async def test_a_free_port_is_fine() -> None:
    assert (await examine_port(kept_port())).status == "ok"


async def test_another_program_on_the_port_is_a_problem() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert (await examine_port(bound.getsockname()[1])).status == "problem"


async def test_a_mendbot_that_is_not_ready_says_what_is_missing(tmp_path: Path) -> None:
    with Door(tmp_path) as door:  # its worker does not run
        found = await examine_port(door.port)
    assert found.status == "problem"
    assert "worker" in english(found.message) and found.remedy is not None
