"""SARIF 2.1.0 read as annotations: results as linters and scanners write them for other programs (OASIS SARIF
2.1.0). The file is untrusted: each value is checked before it is used, and invalid ones are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from bot.model import Annotation, AnnotationLevel
from bot.rules.failures.annotations import MAX_ANNOTATIONS
from bot.rules.failures.junit import Unreadable
from bot.rules.failures.places import relative_path
from bot.rules.reasons import make_reason

_LEVELS: Final[Mapping[str, AnnotationLevel]] = {"error": "failure", "warning": "warning", "note": "notice"}
_LAST_LINE = 10_000_000
_BASES = 8
"""Bases that may stand on one another (SARIF 3.14.14); more of them is a circle."""

_Object = Mapping[str, object]


def sarif_annotations(
    text: str, stage: str, tree: str, limit: int = MAX_ANNOTATIONS
) -> tuple[Annotation, ...] | Unreadable:
    """The failed results of every run with a place in `tree` (absolute), first come first, each once, at most `limit`.

    Results that are suppressed, passed or are gone since the baseline are none (SARIF 3.27.9, 3.27.23, 3.27.24).
    Titles are the rule's id, else `stage`. Never raises: what is no SARIF 2 log is `Unreadable`."""
    try:
        log = json.loads(text)
    except RecursionError:
        return Unreadable(make_reason("report.deep_json"))
    except ValueError as error:
        return Unreadable(make_reason("report.no_json", error=str(error)))
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        return Unreadable(make_reason("report.no_sarif"))
    if not str(log.get("version", "")).startswith("2."):
        return Unreadable(make_reason("report.sarif_version", version=repr(str(log.get("version"))[:20])))
    found: dict[Annotation, None] = {}
    for run in _objects(log, "runs"):
        for result in _objects(run, "results"):
            note = _annotation(run, result, stage, tree) if _counts(result) else None
            if note is not None:
                found.setdefault(note)
            if len(found) >= limit:
                return tuple(found)
    return tuple(found)


def _object(value: object, *names: str) -> _Object:
    """The object at the path of names; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _objects(value: _Object, name: str) -> Iterator[_Object]:
    items = value.get(name)
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())


def _text(value: _Object, *names: str) -> str:
    """The first of the names that holds a text."""
    return next((found for name in names if isinstance(found := value.get(name), str) and found.strip()), "")


def _number(value: _Object, name: str, default: int) -> int:
    found = value.get(name)
    good = isinstance(found, int) and not isinstance(found, bool) and 1 <= found <= _LAST_LINE
    return found if good and isinstance(found, int) else default


def _at(value: _Object, name: str, index: object) -> _Object:
    """The object at an index of a list, which SARIF uses instead of repeating things (3.4.4 and others)."""
    items = value.get(name)
    inside = isinstance(items, list) and isinstance(index, int) and 0 <= index < len(items)
    return _object(items[index]) if inside and isinstance(items, list) and isinstance(index, int) else {}


def _counts(result: _Object) -> bool:
    suppressed = any(_text(item, "status") in ("", "accepted") for item in _objects(result, "suppressions"))
    kind = _text(result, "kind") or "fail"
    return not suppressed and kind in ("fail", "open", "review") and result.get("baselineState") != "absent"


def _annotation(run: _Object, result: _Object, stage: str, tree: str) -> Annotation | None:
    place = next((_object(item, "physicalLocation") for item in _objects(result, "locations")), {})
    path = _path(run, _object(place, "artifactLocation"), tree)
    if path is None:
        return None
    rule = _rule(run, result)
    name = _text(result, "ruleId") or _text(_object(result, "rule"), "id") or _text(rule, "id")
    region = _object(place, "region")
    start = _number(region, "startLine", 1)
    return Annotation(
        path=path,
        start_line=start,
        end_line=max(start, _number(region, "endLine", start)),
        level=_level(rule, result),
        message=_message(rule, _object(result, "message")) or _message(rule, _object(rule, "shortDescription")) or name,
        title=(name or stage)[:255],
        rule=name,
    )


def _rule(run: _Object, result: _Object) -> _Object:
    """The rule's own description: by index, else by id (SARIF 3.27.5 to 3.27.7)."""
    driver = _object(run, "tool", "driver")
    index = result.get("ruleIndex", _object(result, "rule").get("index"))
    described = _at(driver, "rules", index)
    if described:
        return described
    name = _text(result, "ruleId") or _text(_object(result, "rule"), "id")
    return next((rule for rule in _objects(driver, "rules") if name and rule.get("id") == name), {})


def _level(rule: _Object, result: _Object) -> AnnotationLevel:
    """The result's level, else the rule's, else a warning (SARIF 3.27.10)."""
    level = _text(result, "level") or _text(_object(rule, "defaultConfiguration"), "level") or "warning"
    return _LEVELS.get(level, "notice")


def _message(rule: _Object, message: _Object) -> str:
    """The text, or the rule's text of that id, with its arguments put in (SARIF 3.11)."""
    text = _text(message, "text", "markdown") or _text(_object(rule, "messageStrings", _text(message, "id")), "text")
    given = message.get("arguments")
    arguments = [str(item) for item in given if isinstance(item, str)] if isinstance(given, list) else []
    if arguments:
        text = re.sub(r"\{(\d{1,2})\}", lambda m: arguments[int(m[1])] if int(m[1]) < len(arguments) else m[0], text)
    return text.strip()


def _path(run: _Object, location: _Object, tree: str) -> str | None:
    """The file in the tree: the URI, on its base where that names one (SARIF 3.4.3, 3.4.4, 3.14.14).

    A base of another machine's is passed over: what stands on it is then taken as relative to the tree."""
    if "uri" not in location:
        location = _object(_at(run, "artifacts", location.get("index")), "location")
    uri = _text(location, "uri")
    if not uri:
        return None
    whole, base = uri, location.get("uriBaseId")
    for _ in range(_BASES):
        described = _object(run, "originalUriBaseIds", base) if isinstance(base, str) else {}
        if not described:
            break
        whole = _text(described, "uri") + whole
        base = described.get("uriBaseId")
    return _relative(whole, tree) or (_relative(uri, tree) if whole != uri and "://" not in uri else None)


def _relative(uri: str, tree: str) -> str | None:
    path = unquote(uri, errors="replace").removeprefix("file://")
    path = path.removeprefix("localhost")
    if "://" in path:
        return None
    if re.match(r"/[A-Za-z]:/", path):  # file:///C:/…
        path = path[1:]
    return relative_path(path, tree)
