"""`mendbot doctor`: examines what a server needs, and names the remedy of each problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from bot.cli.arguments import Flag, Number
from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import terminal_language
from bot.model import Language
from bot.model.diagnosis import Diagnosis
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, reason_text

_MAX_LINE = 500
_MARKS = {"ok": "✓", "warning": "!", "problem": "✗"}


def doctor(*, port: Number | None = None, json: Flag = False) -> int:
    """Examine environment, machine, database, GitHub App and agents; change nothing.

    Exit code 1 means that there is a problem; each has its remedy. Warnings are none.

    Parameters
    ----------
    port
        the port of the server (PORT, else 3000)
    json
        print one JSON document instead of lines
    """
    from bot.app.doctor import examine

    found = examine(port)
    is_well = not any(diagnosis.status == "problem" for diagnosis in found)
    if json:
        print_json({"ok": is_well, "checks": [_as_json(diagnosis) for diagnosis in found]})
    else:
        for line in _lines(found, terminal_language()):
            say(line)
    return PASSED if is_well else NOT_PASSED


def _as_json(diagnosis: Diagnosis) -> dict[str, str | None]:
    remedy = None if diagnosis.remedy is None else english(diagnosis.remedy)
    shown = {"area": diagnosis.area, "name": diagnosis.name, "status": diagnosis.status}
    return {**shown, "message": english(diagnosis.message), "remedy": remedy}


def _lines(found: Sequence[Diagnosis], language: Language) -> Iterator[str]:
    for area, diagnoses in groupby(found, key=lambda diagnosis: diagnosis.area):
        yield t(language, f"doctor.area.{area}")
        for diagnosis in diagnoses:
            message = one_line(reason_text(diagnosis.message, language), _MAX_LINE)
            status = t(language, f"doctor.{diagnosis.status}")
            yield f"  {_MARKS[diagnosis.status]} {status}  {one_line(diagnosis.name)}: {message}"
            if diagnosis.remedy is not None:
                yield "      " + t(language, "doctor.remedy", remedy=reason_text(diagnosis.remedy, language))
    counts = [sum(diagnosis.status == status for diagnosis in found) for status in ("problem", "warning")]
    if any(counts):
        yield t(language, "doctor.summary", count=len(found), problems=counts[0], warnings=counts[1])
    else:
        yield t(language, "doctor.all_well", count=len(found))
