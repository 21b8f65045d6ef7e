"""The MCP server: lists the tools of the table, validates arguments, calls a tool and returns its JSON.

A call runs as a task of its own: the protocol's cancellation repeats at every `await`, and a check that is cancelled
has to end its processes and restore files first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.mcp.tools import TOOLS, Services, Tool, has_failed
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english, error_text
from bot.rules.reasons import all_reasons, make_reason, quoted

_MAX_PROBLEMS = 10
_INSTRUCTIONS = (
    "Mendbot's tools. Before a fix: manage_worktree create, and error_history for the files and errors it is about. "
    "After each change: run_checks. When the check that showed the error passes: record_resolution."
)

log = get_logger()

_Context = ServerRequestContext[Any, Any]


def build_server(services: Services) -> Server[Any]:
    """The server with all tools, for any transport."""

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(name, tool) for name, tool in TOOLS.items()])

    async def call_tool(context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            reason = make_reason("mcp.unknown_tool", name=params.name[:80], tools=", ".join(TOOLS))
            raise MCPError(types.INVALID_PARAMS, english(reason))
        return await _call(tool, params, services, context)

    return Server(
        "mendbot",
        version=version("mendbot"),
        title="Mendbot",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _listed(name: str, tool: Tool) -> types.Tool:
    return types.Tool(
        name=name,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema=tool.result.model_json_schema(mode="serialization", by_alias=True),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.repeatable,
            open_world_hint=False,
        ),
    )


async def _call(
    tool: Tool, params: types.CallToolRequestParams, services: Services, context: _Context
) -> types.CallToolResult:
    try:
        # as JSON, in which a strict model takes an array for a tuple
        given = tool.arguments.model_validate_json(_utf8(params.arguments or {}))
        result = await _with_progress(lambda progress: tool.call(services, given, progress), context)
    except ValidationError as error:
        return _failure(english(_argument_problems(error)))
    except MendbotError as error:
        return _failure(error_text(error, "en"))
    except Exception:
        log.exception("tool_failed", tool=params.name)
        return _failure(english(make_reason("mcp.our_fault")))
    text = _utf8(result.model_dump(mode="json", by_alias=True)).decode()
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=json.loads(text), is_error=has_failed(result))


async def _with_progress(
    call: Callable[[Callable[[str], object]], Awaitable[BaseModel]], context: _Context
) -> BaseModel:
    """Awaits the call and reports each of its lines. When this is cancelled, the call has ended before it returns."""
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(call(lines.put_nowait))
    task.add_done_callback(lambda _: lines.put_nowait(None))
    number = 0
    try:
        while (line := await lines.get()) is not None:
            number += 1
            await context.session.report_progress(number, message=line)
        return task.result()
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(task, return_exceptions=True)


def _failure(text: str) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text.encode("utf-8", "replace").decode())
    return types.CallToolResult(content=[content], is_error=True)


def _utf8(value: Any) -> bytes:
    """The value as JSON, with `?` for a lone surrogate, which logs and arguments may hold and UTF-8 may not."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _argument_problems(error: ValidationError) -> Reason:
    problems = (_problem(each) for each in error.errors(include_url=False, include_input=False))
    return all_reasons(problems, _MAX_PROBLEMS)


def _problem(error: Mapping[str, Any]) -> Reason:
    field = ".".join(map(str, error["loc"])) or "arguments"
    return make_reason("field_problem", field=field[:80], why=quoted(str(error["msg"])[:500]))
