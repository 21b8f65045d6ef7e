"""The interpreter for what must not see the bot's packages."""

from __future__ import annotations

import sys
from pathlib import Path


def base_python() -> Path:
    """The Python below the bot's own virtual environment: the only one of the two that the sandbox shows."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
