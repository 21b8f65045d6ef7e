"""The form at `/sessions/new` that starts a session, with presets for the sample repository (REQ-RUN-009).

It makes the request that programs send as JSON, and the same rules judge it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.responses import Response
from starlette.routing import Route

from bot.errors import UserError
from bot.model import Problem, Session, SessionRequest
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import error_text
from bot.rules.reasons import make_reason
from bot.rules.runs.session_request import InvalidRequest, parse_request
from bot.web.pages.presets import PRESETS, SAMPLE, Preset
from bot.web.pages.site import Forbidden, Site, Visit, redirect
from bot.web.sessions import require_write

_SEPARATOR = re.compile(r"[\r\n,]+")
_LINES = re.compile(r"[\r\n]+")
FIELDS = ("repo", "task", "filePaths", "testCommand", "validationCommands", "maxAttempts", "agents", "candidates")


class Starter(Protocol):
    """Starts sessions."""

    async def start(self, request: SessionRequest) -> Session:
        """Store a session and start it. Raises InvalidRequest or another UserError."""
        ...


@dataclass(frozen=True, slots=True)
class SessionForm:
    """The form. `make_sample` writes a new copy of the sample repository and returns its path; it raises InvalidRequest
    where it cannot be written."""

    site: Site
    sessions: Starter
    make_sample: Callable[[], Awaitable[str]]

    def routes(self) -> list[Route]:
        site = self.site
        return [
            Route("/sessions/new", site.page(self.show), methods=["GET"]),
            Route("/sessions", site.action(self.start), methods=["POST"]),
        ]

    async def show(self, visit: Visit) -> Response:
        _require_writer(visit)
        wanted = visit.request.query_params.get("preset", "")
        preset = next((preset for preset in PRESETS if preset.name == wanted), None)
        return self._form(visit, Filled(self._values(preset)), preset)

    async def start(self, visit: Visit) -> Response:
        _require_writer(visit)
        values = {name: visit.form.get(name, "") for name in FIELDS}
        parsed = parse_request(request_of({**values, "repo": "/" if values["repo"] == SAMPLE else values["repo"]}))
        if not isinstance(parsed, SessionRequest):
            return self._form(visit, Filled(values, _by_field(parsed)), status=422)
        try:
            require_write(visit.viewer, parsed)
            if values["repo"] == SAMPLE:
                parsed = parsed.model_copy(update={"repo": await self.make_sample()})
            session = await self.sessions.start(parsed)
        except InvalidRequest as error:
            return self._form(visit, Filled(values, _by_field(error.problems)), status=422)
        except UserError as error:
            return self._form(visit, Filled(values, message=error_text(error, self.site.language)), status=422)
        return redirect(f"/runs/{session.id}")

    def _values(self, preset: Preset | None) -> dict[str, str]:
        if preset is None:
            return dict.fromkeys(FIELDS, "") | {"maxAttempts": "3"}
        language = self.site.language
        title, task = t(language, f"pages.preset.{preset.name}"), t(language, "pages.session.sample_task")
        return {
            "repo": SAMPLE,
            "task": f"{title}: {task}",
            "filePaths": preset.file_paths,
            "testCommand": preset.test_command,
            "validationCommands": preset.validation_commands,
            "maxAttempts": str(preset.max_attempts),
            "agents": preset.agent,
            "candidates": "",
        }

    def _form(self, visit: Visit, filled: Filled, preset: Preset | None = None, status: int = 200) -> Response:
        # the presets work in a directory of this server
        presets = PRESETS if visit.viewer.is_operator else ()
        values = {"filled": filled, "presets": presets, "preset": preset}
        return self.site.render(visit.request, "session_form.html", visit.viewer, status, **values)


@dataclass(frozen=True, slots=True)
class Filled:
    """The values of the fields, with the problems of each, and a problem of none."""

    values: Mapping[str, str]
    problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    message: str = ""


def request_of(values: Mapping[str, str]) -> dict[str, object]:
    """The request that the fields of the form describe.

    Validation commands are separated by newlines or commas, files and agents by newlines; empty ones count as none."""
    return {
        "repo": values.get("repo", "").strip(),
        "task": values.get("task", ""),
        "filePaths": _parts(_SEPARATOR, values.get("filePaths", "")),
        "testCommand": values.get("testCommand", "").strip() or None,
        "validationCommands": _parts(_SEPARATOR, values.get("validationCommands", "")),
        "maxAttempts": _number(values.get("maxAttempts", "")),
        "agents": _parts(_LINES, values.get("agents", "")),
        "candidates": _number(values.get("candidates", "")) or None,
    }


def _number(text: str) -> int | str:
    """The number, or the text where it is none, which the request then refuses."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text


def _parts(separator: re.Pattern[str], text: str) -> list[str]:
    return [part.strip() for part in separator.split(text) if part.strip()]


def _by_field(problems: Sequence[Problem]) -> dict[str, tuple[Problem, ...]]:
    names = dict.fromkeys(problem.field for problem in problems)
    return {name: tuple(_by_label(problem) for problem in problems if problem.field == name) for name in names}


def _by_label(problem: Problem) -> Problem:
    """The problem in the words of the form; programs read the names of the JSON fields instead."""
    if problem.reason.kind != "session_request.no_command":
        return problem
    return problem.model_copy(update={"reason": make_reason("session_form.no_command")})


def _require_writer(visit: Visit) -> None:
    if not visit.viewer.writes_somewhere:
        raise Forbidden
