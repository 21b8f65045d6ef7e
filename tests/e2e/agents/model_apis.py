"""Model APIs on loopback, in four wire formats: Anthropic's messages, OpenAI's responses and chat completions, Gemini.

Whatever it is asked, the model first calls the program's shell tool with one command, and then ends. In another mode it
fails in one way each time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["works", "busy", "broken", "refuses", "cut off"]
Answer = tuple[str, bytes]
SENT, RECEIVED = 100, 20
"""The tokens of each answer."""
_SSE = "text/event-stream"
_JSON = "application/json"
_REFUSAL = "I cannot help with that."


@dataclass
class ModelApi:
    """One API, which speaks all four formats. `requests` are the bodies that it got, with their paths."""

    command: str
    mode: Mode = "works"
    port: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, path: str, body: Mapping[str, Any]) -> Answer | None:
        """The type and the body of an answer; None for paths that no model has."""
        for part, make in _FORMATS.items():
            if part in path:
                return make(self, path, body)
        return None

    def turn(self, names: set[str], called: bool) -> tuple[str, dict[str, Any]] | None:
        """The shell tool and its arguments where it is still to be called, else None."""
        tool = next((name for name in _SHELL_TOOLS if name in names), None)
        if called or tool is None or self.mode == "refuses":
            return None
        return tool, {_SHELL_TOOLS[tool]: self.command, "description": "run a command"}

    @property
    def text(self) -> str:
        return _REFUSAL if self.mode == "refuses" else "Done."


_SHELL_TOOLS = {"Bash": "command", "bash": "command", "exec_command": "cmd", "run_shell_command": "command"}


@asynccontextmanager
async def serve_models(command: str, mode: Mode = "works") -> AsyncIterator[ModelApi]:
    """Serves the API on a free port of loopback until the end of the block."""
    api = ModelApi(command, mode)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(api, reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # a program that goes away
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 20)
    api.port = server.sockets[0].getsockname()[1]
    try:
        yield api
    finally:
        server.close()


async def _serve(api: ModelApi, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    request, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await _body(reader, headers)
    path = request.split(" ")[1]
    api.requests.append((path, body.decode("utf-8", "replace")))
    if headers.get("upgrade"):
        found, status = (_JSON, b"{}"), "426 Upgrade Required"
    elif api.mode == "busy":
        found, status = (_JSON, b'{"type": "error", "error": {"message": "slow down", "code": 429}}'), "429 Too Many"
    else:
        known = api.answer(path, json.loads(body) if body[:1] == b"{" else {})
        found, status = (known, "200 OK") if known else ((_JSON, b"{}"), "404 Not Found")
    kind, content = found
    if api.mode == "broken":
        content = content.replace(b"{", b"{{", 1) if kind == _JSON else content.replace(b"data: {", b"data: {{")
    length = len(content)
    if api.mode == "cut off":
        content = content[: length // 3]
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + content)
    await writer.drain()


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    chunks = []
    while size := int((await reader.readline()).strip(), 16):
        chunks.append(await reader.readexactly(size))
        await reader.readline()
    return b"".join(chunks)


def _event(name: str, **data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()


def _messages(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    if "count_tokens" in path:
        return _JSON, json.dumps({"input_tokens": SENT}).encode()
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    called = any(block.get("type") == "tool_result" for content in contents for block in content)
    call = api.turn({tool["name"] for tool in body.get("tools", [])}, called)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    usage = {"input_tokens": SENT, "output_tokens": 1}
    events = [_event("message_start", message={**message, "stop_reason": None, "usage": usage})]
    if call:
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": api.text}
    stop = {"stop_reason": "tool_use" if call else "refusal" if api.mode == "refuses" else "end_turn"}
    events += [_event("content_block_start", index=0, content_block=block)]
    events += [_event("content_block_delta", index=0, delta=delta), _event("content_block_stop", index=0)]
    events += [_event("message_delta", delta=stop, usage={"output_tokens": RECEIVED}), _event("message_stop")]
    return _SSE, b"".join(events)


def _responses(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    called = any(str(item.get("type", "")).endswith("_output") for item in body["input"])
    call = api.turn({str(tool.get("name")) for tool in body.get("tools", [])}, called)
    if call:
        item: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call[0]}
        item["arguments"] = json.dumps({"cmd": call[1]["cmd"]})
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant"}
        item["content"] = [{"type": "output_text", "text": api.text}]
    usage = {"input_tokens": SENT, "output_tokens": RECEIVED, "total_tokens": SENT + RECEIVED}
    events = [_event("response.created", response={"id": "resp_1"})]
    events += [_event(f"response.output_item.{step}", output_index=0, item=item) for step in ("added", "done")]
    return _SSE, b"".join([*events, _event("response.completed", response={"id": "resp_1", "usage": usage})])


def _chat(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    called = any(message["role"] == "tool" for message in body["messages"])
    call = api.turn({tool["function"]["name"] for tool in body.get("tools", [])}, called)
    message: dict[str, Any] = {"role": "assistant", "content": None if call else api.text}
    if call:
        function = {"name": call[0], "arguments": json.dumps({**call[1], "is_background": False})}
        message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    usage = {"prompt_tokens": SENT, "completion_tokens": RECEIVED, "total_tokens": SENT + RECEIVED}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": body.get("model", "m")}
    end = "tool_calls" if call else "stop"
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": end}
        return _JSON, json.dumps({**whole, "choices": [choice], "usage": usage}).encode()
    part = {**whole, "object": "chat.completion.chunk"}
    parts = [
        {**part, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        {**part, "choices": [], "usage": usage},
    ]
    return _SSE, b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in parts) + b"data: [DONE]\n\n"


def _gemini(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    called = any("functionResponse" in part for content in body["contents"] for part in content["parts"])
    declared = [each for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])]
    call = api.turn({each["name"] for each in declared}, called)
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": api.text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": SENT, "candidatesTokenCount": RECEIVED, "totalTokenCount": SENT + RECEIVED}
    answer = json.dumps({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini"})
    return (_SSE, f"data: {answer}\r\n\r\n".encode()) if "stream" in path else (_JSON, answer.encode())


_FORMATS: Mapping[str, Callable[[ModelApi, str, Mapping[str, Any]], Answer]] = {
    "/messages": _messages,
    "/responses": _responses,
    "/chat/completions": _chat,
    "enerateContent": _gemini,
}
