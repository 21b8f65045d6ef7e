"""The JSON that coding agents print is read as the real programs print it; anything else is no error.

The lines are shortened output of claude-code 2.1, codex 0.169, gemini-cli 0.61, opencode 1.18 and qwen-code 0.15."""

from __future__ import annotations

import json

import pytest

from bot.agent.program_output import (
    UNKNOWN,
    ProgramOutput,
    ReadOutput,
    read_aider,
    read_claude,
    read_codex,
    read_gemini,
    read_opencode,
)
from bot.model import Usage


def lines(*events: object) -> bytes:
    return b"\n".join(json.dumps(event).encode() for event in events) + b"\n"


CLAUDE = {
    "type": "result", "subtype": "success", "is_error": False, "result": "Done.", "total_cost_usd": 0.002,
    "usage": {"input_tokens": 150, "cache_read_input_tokens": 50, "output_tokens": 40},
}  # fmt: skip
QWEN = [{"type": "system"}, {"type": "result", "is_error": False, "result": "Done.", "usage": {"input_tokens": 200,
        "output_tokens": 40, "cache_read_input_tokens": 0}}]  # fmt: skip
CODEX = lines(
    {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 200, "cached_input_tokens": 10, "output_tokens": 40}},
)
OPENCODE = lines(
    {"type": "step_finish", "part": {"tokens": {"input": 90, "output": 10, "reasoning": 10,
     "cache": {"read": 10, "write": 0}}, "cost": 0.0006}},
    {"type": "text", "part": {"type": "text", "text": "Done."}},
    {"type": "step_finish", "part": {"tokens": {"input": 100, "output": 20}, "cost": 0.0014}},
)  # fmt: skip
GEMINI = {
    "session_id": "1", "response": "Done.",
    "stats": {"models": {"a": {"tokens": {"prompt": 150, "candidates": 20, "thoughts": 10}},
                         "b": {"tokens": {"prompt": 50, "candidates": 10}}}},
}  # fmt: skip
AIDER = b"Done.\nTokens: 1.5k sent, 1,020 received. Cost: $0.01 message, $0.01 session.\nTokens: 500 sent, 20 received. Cost: $0.02 message, $0.03 session.\n"  # noqa: E501


@pytest.mark.parametrize(
    ("read", "printed", "sent", "received", "cost"),
    [
        (read_claude, lines(CLAUDE), 200, 40, 0.002),
        (read_claude, b"a warning\n" + lines(CLAUDE) + b"another\n", 200, 40, 0.002),
        (read_claude, lines(QWEN), 200, 40, None),
        (read_codex, CODEX, 200, 40, None),
        (read_opencode, OPENCODE, 200, 40, 0.002),
        (read_gemini, b"YOLO mode is enabled.\n" + json.dumps(GEMINI, indent=2).encode(), 200, 40, None),
        (read_gemini, json.dumps(GEMINI, indent=2).encode() + b"\nbye\n", 200, 40, None),
    ],
    ids=["claude", "claude with warnings", "qwen", "codex", "opencode", "gemini", "gemini with a last line"],
)
def test_the_last_message_and_the_usage_are_read(
    read: ReadOutput, printed: bytes, sent: int, received: int, cost: float | None
) -> None:
    """REQ-RUN-008."""
    usage = Usage(input_tokens=sent, output_tokens=received, cost_usd=cost)
    assert read(printed) == ProgramOutput("Done.", usage=usage)


def test_aiders_lines_are_added_up_and_its_cost_is_the_sessions() -> None:
    assert read_aider(AIDER).usage == Usage(input_tokens=2000, output_tokens=1040, cost_usd=0.03)


def test_an_error_that_a_message_follows_is_none_of_aiders() -> None:
    assert read_aider(b"litellm.RateLimitError: slow down\nRetrying in 1 seconds...\n" + AIDER).error == ""


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        (read_claude, lines({**CLAUDE, "is_error": True, "result": "API Error:\n429"})),
        (read_claude, json.dumps({"error": {"message": "API Error: 429", "code": 53}}, indent=2).encode()),
        (read_codex, lines({"type": "turn.failed", "error": {"message": "API Error:\x1b[1m 429"}})),
        (read_gemini, json.dumps({"session_id": "1", "error": {"message": "API Error: 429"}}).encode()),
        (
            read_gemini,
            2 * (json.dumps({"session_id": "1", "error": {"message": "API Error: 429"}}, indent=2) + "\n").encode(),
        ),
        (read_opencode, lines({"type": "error", "error": {"name": "APIError", "data": {"message": "API Error: 429"}}})),
        (
            read_aider,
            b"litellm.RateLimitError: slow down\nRetrying in 1 seconds...\nlitellm.APIError: API Error: 429\n",
        ),
    ],
    ids=["claude", "qwen", "codex", "gemini", "gemini twice", "opencode", "aider"],
)
def test_a_programs_own_error_is_read_as_one_line(read: ReadOutput, printed: bytes) -> None:
    assert read(printed).error == "API Error: 429"


@pytest.mark.parametrize("read", [read_claude, read_codex, read_gemini, read_opencode, read_aider])
@pytest.mark.parametrize(
    "printed",
    [
        b"", b"\xff\xfe", b"{\n}", b"{\n" * 9, b"[[[", b'{"type": "result", "usage": 7, "result": 3}', b"[1, null]",
        b'{"type": "result", "usage": {"input_tokens": 1e999, "output_tokens": -4}, "total_cost_usd": NaN}',
        b'{"session_id": 1, "response": null, "stats": {"models": {"a": 1}}}', b"[" * 100_000,
        b'{"type": "turn.completed", "usage": {"input_tokens": "x"}}', b'{"type": "step_finish", "part": {"cost": {}}}',
        b'{"type": "error", "error": []}', b"Tokens: 1..2k sent, , received.",
    ],
)  # fmt: skip
def test_whatever_a_program_prints_is_no_error(read: ReadOutput, printed: bytes) -> None:
    found = read(printed)
    assert found.usage == UNKNOWN or found.usage.tokens


def test_a_figure_of_0_is_unknown() -> None:
    """Programs print it for a model of one's own server, and for an answer that they did not get."""
    assert read_claude(lines({**CLAUDE, "usage": {"input_tokens": 0}, "total_cost_usd": 0})).usage == UNKNOWN
    free = {"type": "step_finish", "part": {"cost": 0, "tokens": {"input": 7, "output": 1}}}
    assert read_opencode(lines(free)).usage == Usage(input_tokens=7, output_tokens=1)
