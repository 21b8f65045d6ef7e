"""`mendbot group`: groups issues that are given as JSON."""

from __future__ import annotations

import json as json_
import sys
from typing import Any, Literal

from bot.cli.arguments import Flag, Number
from bot.cli.exits import PASSED
from bot.cli.output import print_json, say
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

MAX_INPUT_BYTES = 128 * 1024 * 1024
"""50,000 issues are some 35 MB, and parsed they take ten times that space."""


def group(
    *,
    by: Literal["component", "file", "label", "similarity"],
    max_size: Number = 5,
    json: Flag = False,
) -> int:
    """Group issues, given as JSON on stdin in the form of GitHub's REST API.

    Parameters
    ----------
    by
        the key
    max_size
        larger groups are split
    json
        print one JSON document; also where stdout is no terminal
    """
    from bot.rules.grouping import group_issues

    groups = group_issues(_issues(sys.stdin.buffer.read(MAX_INPUT_BYTES + 1) if sys.stdin else b""), by, max_size)
    if json or not sys.stdout or not sys.stdout.isatty():
        print_json({"groups": [each.model_dump(mode="json") for each in groups]})
    else:
        for each in groups:
            numbers = " ".join(f"#{number}" for number in each.issues)
            say(f"{one_line(each.key)}\t{numbers}\t{each.suggested_branch}\t{one_line('; '.join(each.reasons))}")
    return PASSED


def _issues(data: bytes) -> list[dict[str, Any]]:
    if len(data) > MAX_INPUT_BYTES:
        raise user_error(make_reason("cli.too_many_issues", limit=MAX_INPUT_BYTES))
    try:
        value = json_.loads(data)
    except (ValueError, RecursionError) as error:
        raise user_error(make_reason("cli.no_json", error=str(error))) from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise user_error(make_reason("cli.no_issues"))
    return value
