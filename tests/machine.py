"""What tests take for granted of the machine they run on: not its speed, and that a port of theirs stays theirs."""

from __future__ import annotations

import socket

from bot.proc import base_python

PATIENCE_S = 100.0
"""How long a test waits for what must come. One that passes waits as long as it needs; a machine that is busy with much
else is no reason to fail."""
CPU_S = 10.0
"""Seconds of the processor's own time, which others do not use up: what grows with the square takes far more."""

PYTHON = str(base_python())
"""A Python that commands find in the sandbox, which does not show the environment that runs the tests."""

_kept: list[socket.socket] = []


def kept_port() -> int:
    """A port of 127.0.0.1 that a server may listen on, and on again after it was killed. It stays bound, so the system
    gives it to nobody who asks for any port; nobody listens, so whoever names it gets it."""
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    _kept.append(keeper)
    return int(keeper.getsockname()[1])
