"""The exit codes of the contract."""

from __future__ import annotations

PASSED, NOT_PASSED, BAD_INPUT, OUR_FAULT = 0, 1, 2, 3
