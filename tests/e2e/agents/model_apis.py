"""Model APIs on loopback, in four wire formats: Anthropic's messages, OpenAI's responses and chat completions, Gemini.

The model calls the given tools one after the other, whatever it is asked, and then ends. Its first answers may fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

Fault = Literal["busy", "broken", "cut off", "refuses", "silent"]
Answer = tuple[str, bytes]
SENT, RECEIVED = 100, 20
"""The tokens of each answer."""
_SSE = "text/event-stream"
_JSON = "application/json"
_REFUSAL = "I cannot help with that."
_SHELL_TOOLS = {"Bash": "command", "bash": "command", "exec_command": "cmd", "run_shell_command": "command"}
_WRITE_TOOLS = {"Write": "file_path", "write_file": "file_path", "write": "filePath"}


@dataclass(frozen=True)
class Call:
    """One call of a tool: a shell command, a new file, or a tool by its name."""

    command: str = ""
    path: str = ""
    content: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def named(self, names: set[str]) -> tuple[str, dict[str, Any]] | None:
        """The name and arguments of the program's tool for it; None where the program offers none."""
        if self.name:
            return next(((name, dict(self.arguments)) for name in names if name.endswith(self.name)), None)
        if self.command:
            found = next((name for name in _SHELL_TOOLS if name in names), None)
            more = {"description": "run a command"}
            return (found, {_SHELL_TOOLS[found]: self.command, **more}) if found else None
        found = next((name for name in _WRITE_TOOLS if name in names), None)
        return (found, {_WRITE_TOOLS[found]: self.path, "content": self.content}) if found else None

    @property
    def script(self) -> str:
        """The same in JavaScript, for models of Codex that call their tools from a script."""
        if self.command:
            return f"text((await tools.exec_command({json.dumps({'cmd': self.command})})).output)"
        lines = "".join(f"+{line}\n" for line in self.content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {self.path}\n{lines}*** End Patch\n"
        return f"text(await tools.apply_patch({json.dumps(patch)}))"


@dataclass
class ModelApi:
    """One API, which speaks all four formats. `requests` are the bodies that it got, with their paths.

    Each of `faults` is made once, in answer to a request that may call tools. An `endless` model never ends. `text` is
    the model's last message."""

    calls: Sequence[Call]
    faults: list[Fault]
    text: str = "Done."
    endless: bool = False
    port: int = 0
    requests: list[tuple[str, str]] = field(default_factory=list)
    numbers: Any = field(default_factory=count)

    def turn(self, names: set[str], done: int) -> tuple[str, dict[str, Any]] | None:
        """The tool and its arguments that follow `done` results of tools; None at the end."""
        call = self.call(done)
        return call.named(names) if call else None

    def call(self, done: int) -> Call | None:
        """The call that follows `done` results of tools."""
        if self.endless:
            return self.calls[0]
        return self.calls[done] if done < len(self.calls) else None


@asynccontextmanager
async def serve_models(
    *calls: Call, faults: Sequence[Fault] = (), text: str = "Done.", endless: bool = False
) -> AsyncIterator[ModelApi]:
    """Serves the API on a free port of loopback until the end of the block."""
    api = ModelApi(calls, list(faults), text, endless)

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
    # programs ask for titles and the like besides, without tools; aider has none
    fault = api.faults.pop(0) if api.faults and (b'"tools"' in body or b"SEARCH/REPLACE" in body) else None
    if fault == "silent":
        await reader.read()
    if headers.get("upgrade"):
        found, status = (_JSON, b"{}"), "426 Upgrade Required"
    elif fault == "busy":
        found, status = (_JSON, b'{"type": "error", "error": {"message": "slow down", "code": 429}}'), "429 Too Many"
    else:
        asked = json.loads(body) if body[:1] == b"{" else {}
        refusing = ModelApi((), [], _REFUSAL) if fault == "refuses" else api
        known = next((make(refusing, path, asked) for part, make in _FORMATS.items() if part in path), None)
        found, status = (known, "200 OK") if known else ((_JSON, b"{}"), "404 Not Found")
    kind, content = found
    if fault == "broken":
        content = content.replace(b"{", b"{{", 1) if kind == _JSON else content.replace(b"data: {", b"data: {{")
    length = len(content)
    if fault == "cut off":
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
    done = sum(block.get("type") == "tool_result" for content in contents for block in content)
    call = api.turn({tool["name"] for tool in body.get("tools", [])}, done)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    usage = {"input_tokens": SENT, "output_tokens": 1}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{next(api.numbers)}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": api.text}
    stop = {"stop_reason": "tool_use" if call else "refusal" if api.text == _REFUSAL else "end_turn"}
    if not body.get("stream"):
        content = [{**block, "text": api.text}]
        usage = {"input_tokens": SENT, "output_tokens": RECEIVED}
        return _JSON, json.dumps({**message, "content": content, **stop, "usage": usage}).encode()
    events = [_event("message_start", message={**message, "stop_reason": None, "usage": usage})]
    events += [_event("content_block_start", index=0, content_block=block)]
    events += [_event("content_block_delta", index=0, delta=delta), _event("content_block_stop", index=0)]
    events += [_event("message_delta", delta=stop, usage={"output_tokens": RECEIVED}), _event("message_stop")]
    return _SSE, b"".join(events)


def _responses(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    done = sum(str(item.get("type", "")).endswith("_output") for item in body["input"])
    call, number = api.call(done), next(api.numbers)
    names = {str(tool.get("name")) for tool in body.get("tools", [])}
    item: dict[str, Any] = {"id": f"fc_{number}", "call_id": f"call_{number}"}
    if call and (named := call.named(names)):
        item |= {"type": "function_call", "name": named[0], "arguments": json.dumps(named[1])}
    elif call and not names:
        item |= {"type": "custom_tool_call", "name": "exec", "namespace": "functions", "input": call.script}
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant"}
        item["content"] = [{"type": "output_text", "text": api.text}]
    usage = {"input_tokens": SENT, "output_tokens": RECEIVED, "total_tokens": SENT + RECEIVED}
    events = [_event("response.created", response={"id": "resp_1"})]
    events += [_event(f"response.output_item.{step}", output_index=0, item=item) for step in ("added", "done")]
    return _SSE, b"".join([*events, _event("response.completed", response={"id": "resp_1", "usage": usage})])


def _chat(api: ModelApi, path: str, body: Mapping[str, Any]) -> Answer:
    done = sum(message["role"] == "tool" for message in body["messages"])
    call = api.turn({tool["function"]["name"] for tool in body.get("tools", [])}, done)
    message: dict[str, Any] = {"role": "assistant", "content": None if call else api.text}
    if call:
        background = {"is_background": False} if "command" in call[1] else {}
        function = {"name": call[0], "arguments": json.dumps({**call[1], **background})}
        number = next(api.numbers)
        message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
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
    done = sum("functionResponse" in part for content in body["contents"] for part in content["parts"])
    declared = [each for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])]
    call = api.turn({each["name"] for each in declared}, done)
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
