"""Examines what a server needs: environment, machine, database, the App on GitHub, agents. It changes nothing.

A running server on the same home goes on; what `serve` checks at its start is checked by the same functions."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bot.agent.profiles import PROFILES
from bot.app.created_app import APP_FILE, with_created_app
from bot.app.diagnoses import failed, fine, warned
from bot.app.doctor_app import examine_app
from bot.app.doctor_models import examine_model
from bot.app.doctor_port import examine_port
from bot.app.home import check_home
from bot.app.start_checks import START_CHECKS, agent_problem
from bot.config import Settings, judge_variables, load_settings, unknown_variables
from bot.errors import MendbotError
from bot.model.agents import Spent
from bot.model.diagnosis import Diagnosis
from bot.model.reasons import Reason
from bot.repo_config.agents import MODEL_PREFIX
from bot.reports.locale.catalog import gigabytes
from bot.reports.runs.usage import dollars
from bot.rules.reasons import error_reason, make_reason
from bot.store.database.open import database_url, reading
from bot.store.runs.agent_usage import AgentUsage, utc_day
from bot.workflows.agents.build_agents import operators_argv
from bot.workflows.agents.profile_agents import prepare_profile
from bot.workspace.git.command import require_git
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox

MIN_FREE_MB = 5 * 1024
"""Less free space is soon used by mirrors, dependencies and worktrees."""
_MEGABYTE = 1 << 20
_UNSET: Mapping[str, Callable[[Settings], bool]] = {
    "sign_in": lambda settings: not settings.github_client_id,
    "workspace_roots": lambda settings: not settings.workspace_roots,
}
"""Start checks of optional settings: whether the setting is not set, so that nothing was checked."""


def examine(port: int | None = None) -> tuple[Diagnosis, ...]:
    """All diagnoses for the settings of the environment, by area. Wrong variables count as not set for the others."""
    variables = judge_variables()
    settings = load_settings(serving=True, ignored=[name for name, problem in variables.items() if problem is not None])
    settings, created = _created_app(settings)
    environment = [*_variables(variables), *created, *_start_checks(settings)]
    stopped = {each.name for each in environment if each.status == "problem"}
    is_complete = not stopped & {"app_id", "private_key", "github_urls"}
    return (*environment, *asyncio.run(_examine(settings, port or settings.port, is_complete=is_complete)))


async def _examine(settings: Settings, port: int, *, is_complete: bool) -> tuple[Diagnosis, ...]:
    found = [await _git(), _home(settings.home), _disk(settings.home)]
    found += [*await _sandbox_and_agents(settings), *await _database(settings), await examine_port(port)]
    found += await examine_app(settings) if is_complete else [_not_asked()]
    order = ("environment", "machine", "database", "app", "agents")
    return tuple(sorted(found, key=lambda diagnosis: order.index(diagnosis.area)))


def _not_asked() -> Diagnosis:
    message, remedy = make_reason("doctor.app_unknown"), make_reason("doctor.remedy.environment")
    return warned("app", "app", message, remedy)


def _variables(judged: dict[str, Reason | None]) -> Iterator[Diagnosis]:
    for name, problem in sorted(judged.items()):
        if problem is None:
            yield fine("environment", name, make_reason("doctor.variable"))
        else:
            yield failed("environment", name, problem, make_reason("doctor.remedy.variable", name=name))
    for name, similar in unknown_variables().items():
        remedy = make_reason("doctor.remedy.similar", similar=similar) if similar else None
        message = make_reason("doctor.unknown_variable", name=name)
        yield warned("environment", name, message, remedy or make_reason("doctor.remedy.unknown", name=name))


def _created_app(settings: Settings) -> tuple[Settings, list[Diagnosis]]:
    """The settings with the App of `mendbot setup`, and the diagnosis of its file where that is used."""
    try:
        found = with_created_app(settings)
    except MendbotError as error:
        return settings, [failed("environment", APP_FILE, error_reason(error), make_reason("app_setup.file.remedy"))]
    message = make_reason("app_setup.file", path=str(settings.home / APP_FILE))
    return found, [] if found is settings else [fine("environment", APP_FILE, message)]


def _start_checks(settings: Settings) -> Iterator[Diagnosis]:
    for name, check in START_CHECKS.items():
        if name == "git":  # a part of the machine, with its version
            continue
        try:
            check(settings)
        except MendbotError as error:
            yield failed("environment", name, error_reason(error), make_reason(f"doctor.remedy.{name}"))
        else:
            unset = name in _UNSET and _UNSET[name](settings)
            yield fine("environment", name, make_reason(f"doctor.{name}.unset" if unset else f"doctor.{name}"))


async def _git() -> Diagnosis:
    try:
        return fine("machine", "git", make_reason("doctor.git", version=await require_git()))
    except MendbotError as error:
        return failed("machine", "git", error_reason(error), make_reason("doctor.remedy.git"))


def _home(home: Path) -> Diagnosis:
    """Whether the home is one, or may become one."""
    if not os.path.lexists(home):
        return fine("machine", "home", make_reason("doctor.home.new", path=str(home)))
    try:
        check_home(home)
    except MendbotError as error:
        return failed("machine", "home", error_reason(error), make_reason("doctor.remedy.home"))
    except OSError as error:
        message = make_reason("home.unusable", path=str(home), error=error.strerror or "")
        return failed("machine", "home", message, make_reason("doctor.remedy.home"))
    if not os.access(home, os.W_OK | os.X_OK):
        message = make_reason("doctor.home.read_only", path=str(home))
        return failed("machine", "home", message, make_reason("doctor.remedy.home"))
    return fine("machine", "home", make_reason("doctor.home", path=str(home)))


def _disk(home: Path) -> Diagnosis:
    there = next(path for path in (home.absolute(), *home.absolute().parents) if path.is_dir())
    free_mb = shutil.disk_usage(there).free // _MEGABYTE
    message = make_reason("doctor.disk", free=gigabytes(free_mb), path=str(there))
    if free_mb < MIN_FREE_MB:
        return warned("machine", "disk", message, make_reason("doctor.remedy.disk", wanted=gigabytes(MIN_FREE_MB)))
    return fine("machine", "disk", message)


async def _database(settings: Settings) -> list[Diagnosis]:
    """Whether the database can be read, and what agents used today; a missing database is made by the first start."""
    system = "PostgreSQL" if settings.database_url and not settings.database_url.startswith("sqlite") else "SQLite"
    try:
        async with reading(database_url(settings)) as database:
            problem = None if database is None else await database.problem()
            readable = database is not None and problem is None
            used = await AgentUsage(database).day(utc_day()) if database is not None and readable else Spent()
    except MendbotError as error:
        return [failed("database", "database", error_reason(error), make_reason("doctor.remedy.database"))]
    if problem is not None:
        message = make_reason("doctor.database.problem", problem=problem)
        return [failed("database", "database", message, make_reason("doctor.remedy.database"))]
    state = "doctor.database.new" if database is None else "doctor.database"
    return [fine("database", "database", make_reason(state, system=system)), _budget(settings, used)]


def _budget(settings: Settings, used: Spent) -> Diagnosis:
    """What agents and models used today, and whether a budget of all repositories is used up."""
    message = make_reason(
        "doctor.budget",
        cost=dollars(used.cost_usd),
        most=f"{settings.model_day_cost:g}",
        tokens=f"{used.unpriced_tokens:,}",
        limit=f"{settings.model_day_tokens:,}",
    )
    if 0 in (settings.model_day_cost, settings.model_day_tokens):
        return warned("agents", "budget", make_reason("doctor.budget.never"), make_reason("doctor.remedy.budget.never"))
    if used.cost_usd >= settings.model_day_cost or used.unpriced_tokens >= settings.model_day_tokens:
        return warned("agents", "budget", message, make_reason("doctor.remedy.budget"))
    return fine("agents", "budget", message)


async def _sandbox_and_agents(settings: Settings) -> list[Diagnosis]:
    """The sandbox that commands run in, and the agents that start in it."""
    try:
        tools = Tools(home=settings.home, fetch=False)
        sandbox = await open_sandbox(settings.sandbox, settings.toolchains, tools, settings.check_memory_mb)
    except MendbotError as error:
        return [failed("machine", "sandbox", error_reason(error), make_reason("doctor.remedy.toolchains"))]
    remedy = make_reason("doctor.remedy.sandbox")
    if sandbox.level == "refused":
        return [failed("machine", "sandbox", sandbox.description, remedy)]
    described = fine if sandbox.level == "bubblewrap" else warned
    found = [described("machine", "sandbox", sandbox.description, *([] if sandbox.level == "bubblewrap" else [remedy]))]
    for spec in settings.agents:
        if spec.startswith(MODEL_PREFIX):
            found.append(examine_model(spec))
            continue
        if spec in PROFILES:
            found.append(_profile(spec, settings))
            continue
        argv = operators_argv(settings, spec, by_operator=True)
        if argv is None:
            found.append(fine("agents", spec, make_reason("doctor.agent")))
        elif not argv:
            found.append(warned("agents", spec, make_reason("doctor.no_agent"), make_reason("doctor.remedy.no_agent")))
        else:
            found.append(await _agent(settings, spec, argv, sandbox))
    return found


def _profile(name: str, settings: Settings) -> Diagnosis:
    prepared = prepare_profile(name, settings)
    if isinstance(prepared, Reason):
        return failed("agents", name, prepared, make_reason("doctor.remedy.profile", agent=name))
    message = make_reason("doctor.profile", program=prepared.profile.program, variable=prepared.key.variable)
    return fine("agents", name, message)


async def _agent(settings: Settings, spec: str, argv: tuple[str, ...], sandbox: Sandbox) -> Diagnosis:
    problem = await agent_problem(settings, argv, sandbox)
    if problem is None:
        return fine("agents", spec, make_reason("doctor.agent.starts", program=argv[0]))
    return failed("agents", spec, problem, make_reason("doctor.remedy.agent"))
