"""Compares two outputs to see whether an attempt made progress. Counts mislead (fixing one syntax error can uncover
five type errors), so runs compare sets of errors where there are any (`rules.stop.trajectory`)."""

from __future__ import annotations

import re

_NOUNS = "tests?|specs?|suites?|files?|checks?|assertions?|examples?|cases?|steps?|type|lint|syntax|fatal|have|has"
_COUNT = rf"(?:(?<![\w.,/:#-])(\d{{1,9}})[ \t](?:(?:{_NOUNS})[ \t]){{0,3}})?"
_WRONG = "errors?|fail(?:ed|ures?|s|ing)?|exceptions?|stack trace"
_WORSE = f"{_WRONG}|broken|crash(?:ed|es)?|panic(?:ked)?|traceback|timed out"
_WELL = "pass(?:ed|es|ing)?|success(?:es|ful|fully)?|succeed(?:ed|s)?|fixed|resolved|completed?|working"


def _words(words: str, marks: str) -> re.Pattern[str]:
    """A pattern for the words or marks; a figure before (`2 tests failed`) or after (`failures=2`) is a group."""
    after = r"\b(?:errors|failures|failed)[ \t]?[=:][ \t]?(\d{1,9})\b(?![ \t]?\w)"
    return re.compile(rf"{after}|{_COUNT}\b(?:{words})\b|[{marks}]", re.IGNORECASE)


_ERRORS = _words(_WRONG, "✗✘✖❌")
_FAILURES = _words(_WORSE, "✗✘✖❌")
_SUCCESSES = _words(_WELL, "✓✔✅")


def made_progress(previous: str, current: str) -> bool:
    """Whether `current` is a better output than `previous` (REQ-STOP-002), by the first sign that differs.

    The signs in order: the same output, or an empty one, is no progress; fewer errors are, more are not; more words of
    success are, more words of failure are not; a different output without any sign counts as progress.
    A figure beside such a word counts as that many: `9 failed` is worse than `5 failed`."""
    if previous == current or not current.strip():
        return False
    errors_before, errors_now = _weigh(_ERRORS, previous), _weigh(_ERRORS, current)
    if errors_before != errors_now:
        return errors_now < errors_before
    if _weigh(_SUCCESSES, current) > _weigh(_SUCCESSES, previous):
        return True
    return _weigh(_FAILURES, current) <= _weigh(_FAILURES, previous)


def _weigh(words: re.Pattern[str], text: str) -> int:
    """How often the words occur, where a word with a figure counts as the figure."""
    total = 0
    for match in words.finditer(text):
        figure = next((group for group in match.groups() if group is not None), None)
        total += 1 if figure is None else int(figure)
    return total
