"""A loopback server that speaks the wire formats of Anthropic, OpenAI (Responses and Chat) and Gemini.

Each answer of the script is served once: arguments of the final tool, an HTTP error, or a way in which models fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Answer = dict[str, Any] | int | Literal["broken", "refusal", "cut_off"]
IN, OUT = 1000, 200
"""Tokens that each answer says it has used."""


@dataclass
class ModelServer:
    """The script, and the requests that came: path, headers and body."""

    url: str
    script: list[Answer]
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def environment(self, key: str) -> dict[str, str]:
        """The variables by which each provider's client finds this server."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            **{f"{name}_API_KEY": key for name in ("ANTHROPIC", "OPENAI", "GOOGLE")},
        }


@contextmanager
def model_server(script: Sequence[Answer]) -> Iterator[ModelServer]:
    """Serves the script; the last answer is repeated."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.requests.append((self.path, dict(self.headers.items()), body))
            answer = served.script.pop(0) if len(served.script) > 1 else served.script[0]
            status = answer if isinstance(answer, int) else 200
            data = {"error": {"message": "try later", "type": "x"}} if status != 200 else _formatted(self.path, answer)
            content = json.dumps(data | ({"model": body["model"]} if "model" in data else {})).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if status == 429:
                self.send_header("Retry-After", "7")
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        served = ModelServer(f"http://127.0.0.1:{http.server_port}", list(script))
        threading.Thread(target=http.serve_forever, daemon=True).start()
        try:
            yield served
        finally:
            http.shutdown()


def _formatted(path: str, answer: Answer) -> dict[str, Any]:
    for ending, form in (("/messages", _anthropic), ("/responses", _responses), ("/completions", _chat)):
        if path.endswith(ending):
            return form(answer)
    return _gemini(answer)


def _arguments(answer: Answer) -> Any:
    return {"changes": "none of your business"} if answer == "broken" else answer


def _anthropic(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {"type": "tool_use", "id": "t1", "name": "final_result", "input": _arguments(answer)}
    ]
    stop = "tool_use"
    if answer == "refusal":
        content, stop = [], "refusal"
    elif answer == "cut_off":
        content, stop = [{"type": "text", "text": "{"}], "max_tokens"
    usage = {"input_tokens": IN, "output_tokens": OUT}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def _responses(answer: Answer) -> dict[str, Any]:
    call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "final_result", "status": "completed"}
    output: list[dict[str, Any]] = [{**call, "arguments": _text(answer)}]
    status, details = "completed", None
    if answer == "refusal":
        refusal = [{"type": "refusal", "refusal": "I will not"}]
        output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": refusal}]
    elif answer == "cut_off":
        output, status, details = [], "incomplete", {"reason": "max_output_tokens"}
    usage = {
        "input_tokens": IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": IN + OUT,
    }
    head = {"id": "r1", "object": "response", "created_at": 1, "model": "gpt-5", "status": status}
    more = {"incomplete_details": details, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**head, **more, "output": output, "usage": usage}


def _chat(answer: Answer) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "final_result", "arguments": _text(answer)}}
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    finish = "tool_calls"
    if answer == "refusal":
        message, finish = {"role": "assistant", "content": None, "refusal": "I will not"}, "stop"
    elif answer == "cut_off":
        message, finish = {"role": "assistant", "content": "{"}, "length"
    usage = {"prompt_tokens": IN, "completion_tokens": OUT, "total_tokens": IN + OUT}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice], "usage": usage}


def _gemini(answer: Answer) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"functionCall": {"name": "final_result", "args": _arguments(answer)}}]
    finish = "STOP"
    if answer == "refusal":
        parts, finish = [], "SAFETY"
    elif answer == "cut_off":
        parts, finish = [{"text": "{"}], "MAX_TOKENS"
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    usage = {"promptTokenCount": IN, "candidatesTokenCount": OUT, "totalTokenCount": IN + OUT}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}


def _text(answer: Answer) -> str:
    """The arguments as OpenAI sends them; broken ones are no JSON at all."""
    return '{"changes": [' if answer == "broken" else json.dumps(answer)
