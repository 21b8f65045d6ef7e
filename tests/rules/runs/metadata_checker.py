"""A program that checks run metadata by its rules alone."""

from __future__ import annotations

from typing import Any


def faults(told: dict[str, Any]) -> list[str]:
    """The rules of the docstring of `rules.runs.run_metadata` that the metadata breaks."""
    found, last, left = [], 0, None
    judged = [one for one in told["attempts"] if one["result"] in ("passed", "failed")]
    numbers = [one["attempt"] for one in told["attempts"]]
    if numbers != list(range(told["attempts_left_out"] + 1, told["attempts_left_out"] + 1 + len(numbers))):
        found.append("1")
    for one in told["attempts"]:
        has = one["after"] is not None
        if has != (one in judged) or (one["before"] is not None and not has):
            found.append("2")
    for one in judged:
        fixed, remaining, introduced = one["fixed"], one["remaining"], one["introduced"]
        after = set(one["after"])
        before = after if one["before"] is None else set(one["before"])
        if remaining + introduced != one["after_count"]:
            found.append("3 after")
        if one["before"] is not None and fixed + remaining != one["before_count"]:
            found.append("3 before")
        counted = one["before_count"] if one["before"] is not None else one["after_count"]
        whole = len(after) == one["after_count"] and len(before) == counted
        if whole and (len(before - after), len(before & after), len(after - before)) != (fixed, remaining, introduced):
            found.append("3 sets")
        if left is not None and (one["before"], one["before_count"]) != left:
            found.append("4")
        left = (one["after"], one["after_count"])
        if one["result"] == "passed" and one["after"] and not one["flaky"]:
            found.append("5")
        last = one["attempt"]
    passed = bool(judged) and judged[-1]["result"] == "passed" and last
    if (told["decision"] == "fixed" or (told["decision"] == "unproven" and judged)) and not passed:
        found.append("6")
    if told.get("shown") != {"fixed": True, "unproven": False}.get(told["decision"]):
        found.append("decision")
    return found
