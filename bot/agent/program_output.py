"""Reads what coding agents print in their JSON formats: their last message, their error, tokens and cost.

All of it is untrusted: whatever a program prints, a reader returns what it can read and never raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.model.agents import Usage
from bot.rules.failures.log_lines import plain

_LAST_BYTES = 4_000_000
_MAX_ERROR = 300
_MAX_NUMBER = 1e12
_AIDER = re.compile(r"Tokens: ([\d.,]+)([kM]?) sent,.*? ([\d.,]+)([kM]?) received\.(?:.*\$([\d.]+) session)?")
_AIDER_ERROR = re.compile(r"^litellm\.\w+: (.+)$", re.MULTILINE)
_INDENTED = re.compile(r"^\{$", re.MULTILINE)
_MAX_INDENTED = 20
UNKNOWN = Usage()
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a coding agent printed: its last message, its own error message, and its usage as far as it is known."""

    text: str
    error: str = ""
    usage: Usage = UNKNOWN


ReadOutput = Callable[[bytes], ProgramOutput]


def read_claude(output: bytes) -> ProgramOutput:
    """`claude -p --output-format json` and `qwen --output-format json`: an object with `type: result`, in qwen the last
    of an array. Where qwen gives up it prints an error alone."""
    objects = list(_objects(output))
    found = [each for each in objects if each.get("type") == "result"]
    if not found:
        errors = [error for each in objects if (error := _path(each, "error", "message"))]
        return ProgramOutput(_text(output), _line(str(errors[-1])) if errors else "")
    last = found[-1]
    counted = _mapping(last.get("usage"))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    sent = sum(_number(counted.get(name)) for name in names)
    usage = _usage(sent, counted.get("output_tokens"), last)
    result = last.get("result")
    message = result if isinstance(result, str) else ""
    failed = last.get("is_error") is True
    error = message or str(_mapping(last.get("error")).get("message") or last.get("subtype") or "")
    return ProgramOutput(message, _line(error) if failed else "", usage)


def read_codex(output: bytes) -> ProgramOutput:
    """`codex exec --json`: one event a line."""
    text, error, sent, received, counted = "", "", 0.0, 0.0, False
    for event in _objects(output):
        item, usage = _mapping(event.get("item")), _mapping(event.get("usage"))
        if event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = str(item.get("text", ""))
        elif event.get("type") == "turn.failed":
            error = _line(str(_mapping(event.get("error")).get("message", "")))
        elif event.get("type") == "turn.completed":
            sent, received = sent + _number(usage.get("input_tokens")), received + _number(usage.get("output_tokens"))
            counted = True
    return ProgramOutput(text, error, _usage(sent, received, {}) if counted else UNKNOWN)


def read_opencode(output: bytes) -> ProgramOutput:
    """`opencode run --format json`: one event a line; each step has its own tokens and cost."""
    text, error, sent, received, cost, counted = "", "", 0.0, 0.0, 0.0, False
    for event in _objects(output):
        part = _mapping(event.get("part"))
        if event.get("type") == "text":
            text = str(part.get("text", ""))
        elif event.get("type") == "error":
            fault = _mapping(event.get("error"))
            error = _line(str(_mapping(fault.get("data")).get("message") or fault.get("name") or ""))
        elif event.get("type") == "step_finish":
            tokens, counted = _mapping(part.get("tokens")), True
            cache = _mapping(tokens.get("cache"))
            sent += sum(map(_number, (tokens.get("input"), cache.get("read"), cache.get("write"))))
            received += sum(map(_number, (tokens.get("output"), tokens.get("reasoning"))))
            cost += _number(part.get("cost"))
    return ProgramOutput(text, error, _usage(sent, received, {"total_cost_usd": cost}) if counted else UNKNOWN)


def read_gemini(output: bytes) -> ProgramOutput:
    """`gemini --output-format json`: one object with `response`, `error` and `stats`."""
    found = [each for each in _objects(output) if each.keys() & {"response", "error"} and "session_id" in each]
    if not found:
        return ProgramOutput(_text(output))
    last = found[-1]
    models = [_mapping(_mapping(each).get("tokens")) for each in _mapping(_path(last, "stats", "models")).values()]
    sent = sum(_number(each.get("prompt")) for each in models)
    received = sum(_number(each.get("candidates")) + _number(each.get("thoughts")) for each in models)
    error = _line(str(_mapping(last.get("error")).get("message", "")))
    return ProgramOutput(str(last.get("response") or ""), error, _usage(sent, received, {}) if models else UNKNOWN)


def read_aider(output: bytes) -> ProgramOutput:
    """aider's plain text: each message ends with a line of tokens, and of the session's cost so far.

    It ends with exit code 0 after an error of the API; an error that no message follows is its last."""
    text = _text(output)
    sent, received, cost = 0.0, 0.0, None
    found = list(_AIDER.finditer(text))
    for line in found:
        sent += _number(line[1].replace(",", "")) * _UNITS[line[2]]
        received += _number(line[3].replace(",", "")) * _UNITS[line[4]]
        cost = _number(line[5]) if line[5] else cost
    errors = [each[1] for each in _AIDER_ERROR.finditer(text, found[-1].end() if found else 0)]
    usage = _usage(sent, received, {"total_cost_usd": cost}) if found else UNKNOWN
    return ProgramOutput(text, _line(errors[-1]) if errors else "", usage)


def _text(output: bytes) -> str:
    return output[-_LAST_BYTES:].decode("utf-8", "replace")


def _objects(output: bytes) -> Iterator[Mapping[str, Any]]:
    """Yields the JSON objects in the last megabytes: of lines, of an array on one line, or over many lines."""
    text = _text(output)
    for line in text.splitlines():
        if line.lstrip()[:1] in ("{", "["):
            yield from _parsed(line)
    starts = [found.start() for found in _INDENTED.finditer(text)]
    for start in starts[-_MAX_INDENTED:]:
        end = text.find("\n}", start)
        yield from _parsed(text[start : end + 2])


def _parsed(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict))


def _usage(sent: Any, received: Any, costs: Mapping[str, Any]) -> Usage:
    """The usage; a number of 0 is unknown, since programs print it for what they do not count, such as the price of a
    model of one's own server."""
    tokens = int(_number(sent)), int(_number(received))
    cost = round(_number(costs.get("total_cost_usd")), 6) or None
    if not any(tokens):
        return Usage(cost_usd=cost)
    return Usage(input_tokens=tokens[0], output_tokens=tokens[1], cost_usd=cost)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _path(value: Any, *names: str) -> Any:
    for name in names:
        value = _mapping(value).get(name)
    return value


def _number(value: Any) -> float:
    """The value as a number of tokens or dollars; 0 for anything else."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) and 0 <= number <= _MAX_NUMBER else 0.0


def _line(text: str) -> str:
    return " ".join(plain(text.encode("utf-8", "replace").decode()).split())[:_MAX_ERROR]
