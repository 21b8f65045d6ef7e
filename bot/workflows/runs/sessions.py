"""Sessions: runs that are requested with a task instead of labels (spec D). HTTP, the command line and programs share
this code, so that all refuse the same requests."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.agent.model_providers import model_problem
from bot.agent.profiles import PROFILES
from bot.errors import ConfigError, Stale, UserError
from bot.model import Problem, Repo, Session, SessionRequest, Status, StopReason
from bot.model.reasons import Reason, Value
from bot.repo_config.agents import MODEL_PREFIX, agent_problem
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.rules.runs.session_request import InvalidRequest, session_for
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import RunRow, Runs
from bot.workflows.agents.build_agents import check_specs, not_chosen, operators_argv
from bot.workflows.agents.profile_agents import prepare_profile
from bot.workflows.context import Context
from bot.workflows.repo_config import get_policy
from bot.workspace.detect.local_policy import local_policy
from bot.workspace.sandbox.agent_program import program_problem


def new_id() -> str:
    """A session's id: it cannot be guessed, and is valid in a path, in a branch and in a URL."""
    return f"session-{secrets.token_hex(6)}"


async def get_spec(
    context: Context, request: SessionRequest, *, roots: Sequence[Path] | None, attended: bool = False
) -> RunSpec:
    """The specification of the run for a request. A path must lie in one of `roots`, where they are given.

    Agents that the request of an `attended` session names are the operator's own, and must be able to start.
    Raises InvalidRequest for problems that only this machine or GitHub can show, UserError for an invalid
    `.github/mendbot.yml`."""
    try:
        check_specs(request.agents)
    except ConfigError as error:
        raise InvalidRequest((Problem(field="agents", reason=error_reason(error)),)) from None
    _demand_chosen(context, request, by_operator=attended and request.repo.startswith("/"))
    if request.repo.startswith("/"):
        return await _in_tree(context, request, _tree(request.repo, roots), attended)
    return await _on_github(context, request, attended)


def _demand_chosen(context: Context, request: SessionRequest, *, by_operator: bool) -> None:
    """Raises InvalidRequest for agents of the request that the operator has not chosen, as the run could not ask them.

    The operator's own must be known here: `fix` starts no server, which would have checked them."""
    settings = context.settings
    problems = [
        Problem(field="agents", reason=make_reason("agent", agent=spec, why=reason))
        for spec in dict.fromkeys(request.agents)
        if (reason := not_chosen(settings, spec, by_operator=by_operator)) is not None
    ]
    if not request.agents:
        unknown = (agent_problem(spec) for spec in settings.agents)
        problems += [Problem(field="MENDBOT_AGENTS", reason=reason) for reason in unknown if reason is not None]
    if problems:
        raise InvalidRequest(problems)


async def _in_tree(context: Context, request: SessionRequest, tree: Path, attended: bool) -> RunSpec:
    policy = await local_policy(tree)
    agents = request.agents or context.agents(policy)
    by_operator = attended and bool(request.agents)
    if attended:
        await _demand_programs(context, agents, tree, by_operator)
    return RunSpec(
        workspace=str(tree),
        goal=request.task,
        files=request.file_paths,
        test_command=request.test_command,
        validation_commands=request.validation_commands,
        key="session",
        policy=policy,
        agents=agents,
        max_attempts=request.max_attempts,
        candidates=request.candidates,
        agents_by_operator=by_operator,
        attended=attended,
    )


async def _demand_programs(context: Context, agents: Sequence[str], tree: Path, by_operator: bool) -> None:
    """Raises InvalidRequest where an agent of the operator's own could not start."""
    problems = []
    for spec in dict.fromkeys(agents):
        if spec.startswith(MODEL_PREFIX) and (by_operator or spec in context.settings.agents):
            missing = model_problem(spec)
            problems += [] if missing is None else [Problem(field="agents", reason=missing)]
            continue
        if by_operator and spec in PROFILES:
            found = prepare_profile(spec, context.settings)
            if isinstance(found, Reason):
                problems.append(Problem(field="agents", reason=make_reason("agent", agent=spec, why=found)))
            continue
        argv = operators_argv(context.settings, spec, by_operator=by_operator)
        if argv:
            reason = await program_problem(argv, tree, context.sandbox, context.settings)
        else:
            reason = make_reason("session.no_command") if by_operator and argv is not None else None
        if reason is not None:
            problems.append(Problem(field="agents", reason=reason))
    if problems:
        raise InvalidRequest(problems)


def _tree(path: str, roots: Sequence[Path] | None) -> Path:
    try:
        tree = Path(path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        text = getattr(error, "strerror", None)
        why = quoted(text) if text else make_reason("session.no_path")
        raise _bad_repo("session.bad_path", path=path, why=why) from None
    if not tree.is_dir():
        raise _bad_repo("session.no_directory", path=path)
    if tree == Path("/") or tree == Path.home().resolve():
        raise _bad_repo("session.whole_home", path=path)
    if roots is None:
        return tree
    if not any(tree.is_relative_to(root.resolve()) for root in roots):
        if not roots:
            raise _bad_repo("session.no_roots", path=path)
        raise _bad_repo("session.outside_roots", path=path, roots=", ".join(map(str, roots)))
    return tree


def _bad_repo(kind: str, **values: Value) -> InvalidRequest:
    return InvalidRequest((Problem(field="repo", reason=make_reason(kind, **values)),))


async def _on_github(context: Context, request: SessionRequest, attended: bool) -> RunSpec:
    if context.github_or_none is None:
        raise _bad_repo("session.on_github" if attended else "setup.no_app")
    owner, _, name = request.repo.partition("/")
    try:
        installation = await context.github.installation_of(owner, name)
        repo = Repo(owner=owner, name=name, installation_id=installation)
        policy, default_branch = await get_policy(context, repo)
    except (Stale, UserError) as error:
        raise _bad_repo("session.refused", repo=request.repo, why=error_reason(error)) from None
    return RunSpec(
        repo=repo,
        goal=request.task,
        files=request.file_paths,
        test_command=request.test_command,
        validation_commands=request.validation_commands,
        key=(request.task.strip().splitlines() or ["session"])[0][:80],
        suggested_branch=f"fix/session-{secrets.token_hex(4)}",
        policy=policy,
        base_branch=policy.base_branch or default_branch,
        agents=request.agents or context.agents(policy),
        max_attempts=request.max_attempts,
        candidates=request.candidates,
    )


async def read_session(runs: Runs, row: RunRow) -> Session:
    """The session of a run, from its row and its events."""
    state = await runs.state(row.id)
    # row and events are written in one transaction but read in two, so the events, which were read last, decide
    status = state.finished or (row.status if not row.status.final else Status.RUNNING)
    created_at = datetime.fromtimestamp(row.created_at / 1000, UTC)
    session = session_for(row.id, row.spec, status, state, created_at=created_at)
    stop = StopReason(reason=state.stop.reason, details=english(state.stop.details)) if state.stop else None
    waiting_for = english(row.waiting_for) if row.waiting_for and not status.final else None
    return session.model_copy(update={"stop_reason": stop, "waiting_for": waiting_for})
