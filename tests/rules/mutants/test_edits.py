"""What the operators of all languages share."""

from __future__ import annotations

import pytest

from bot.rules.mutants.edits import increased, is_logging


@pytest.mark.parametrize(
    ("literal", "after"),
    [
        *(("0", "1"), ("9", "10"), ("1_000", "1001"), ("0xFF", "256"), ("0b1", "2"), ("0O7", "8"), ("9n", "10n")),
        *(("1.5", "2.5"), (".5", "1.5"), ("1e3", "1001.0"), ("0.1e-5", "1.000001")),
        *((literal, None) for literal in ("017", "1e300", "1e999", "2j", "1.5n", "x", "", "9" * 5000)),
    ],
)
def test_a_number_is_increased_where_that_can_be_computed(literal: str, after: str | None) -> None:
    assert increased(literal) == after


@pytest.mark.parametrize(
    ("receiver", "method", "logs"),
    [
        *(
            (name, "info", True)
            for name in ("log", "logger", "_LOG", "self._logger", "this.#log", "logging", "a.b.log")
        ),
        ("logging.getLogger(f(a.b))", "exception", True),
        ("structlog.get_logger()", "warning", True),
        ("warnings", "warn", True),
        ("request_log", "debug", True),
        ("log", "silly", True),
        ("log", "append", False),
        ("math", "log", False),
        ("catalog", "info", False),
        ("blog", "error", False),
    ],
)
def test_a_call_writes_a_log_by_receiver_and_method(receiver: str, method: str, logs: bool) -> None:
    assert is_logging(receiver, method) is logs
