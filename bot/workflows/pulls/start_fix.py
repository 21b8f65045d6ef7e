"""*Fix*: a run that fixes what is new on a pull request, and nothing else (spec H).

It starts from the very head that was checked. A branch of the repository gets the commit on top, never forced; on a
fork's pull request the diff is offered in the thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from bot.config import Policy
from bot.logs import get_logger
from bot.model import Annotation, Language, Repo
from bot.model.pulls import CheckStatus, PullRequest
from bot.reports.locale.catalog import t
from bot.rules.excerpts.excerpts import evidence_of
from bot.rules.failures.failure_origin import NOT_RUN
from bot.rules.pulls.eligibility import EligibilityFacts, from_fork, trust
from bot.rules.runs.spec import FixTarget, RunSpec
from bot.store.database.database import now_ms
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.kernel import enqueue_run
from bot.workflows.pulls.shared_heads import checks_at, get_checks
from bot.workflows.pulls.sync import with_trust
from bot.workflows.pushes.push_limits import push_limit_reached
from bot.workflows.repo_config import get_policy
from bot.workflows.runs.loop import FIX_RUN

_PATHS_NAMED = 20
_BLOCK_CHARS = 4_000

log = get_logger()


@dataclass(frozen=True, slots=True)
class StartResult:
    """The id of the run that was started, or the kind of the refusal (`refused.KIND` in the catalog) with its
    values."""

    run_id: str | None = None
    why: str = ""
    values: tuple[tuple[str, str], ...] = ()

    def text(self, language: Language) -> str:
        """The refusal as text."""
        return t(language, f"refused.{self.why}", **dict(self.values))


async def start_fix(
    context: Context, repo: Repo, number: int, *, by: str, max_attempts: int | None = None
) -> StartResult:
    """Start a run that fixes the new failures of the last checks of the pull request's head."""
    pull, policy, refused = await allowed(context, repo, number)
    if refused is not None:
        return refused
    row = await checks_at(context, repo, number, pull.head_sha)
    checks = () if row is None else await get_checks(context, row)
    why = _nothing_to_fix(row, checks)
    if why is not None:
        return StartResult(why=why)
    goal = goal_of(pull.title, [check for check in checks if check.new])
    spec = run_spec(context, repo, pull, policy, goal=goal, checks=checks, max_attempts=max_attempts)
    log.info("fix_requested", repo=repo.full_name, pull=number, by=by)
    return await start_run(context, spec)


async def allowed(context: Context, repo: Repo, number: int) -> tuple[PullRequest, Policy, StartResult | None]:
    """The pull request as it is now, and why no run may work on it, if so (T9, T11, T13)."""
    pull = await context.github.repository(repo).pull(number)
    policy, _ = await get_policy(context, repo)
    login = (await context.github.app_identity()).login
    found = trust(pull, await with_trust(context, repo, pull, EligibilityFacts(login, repo.full_name)))
    if pull.state != "open":
        return pull, policy, StartResult(why="pull_closed")
    if found.standing != "wanted":
        why = "no_box" if context.sandbox.trusted_only else "awaiting"
        return pull, policy, StartResult(why=why, values=(("sha", pull.head_sha[:12]),))
    limit = None if from_fork(pull, repo.full_name) else await push_limit_reached(context, repo, number)
    if limit is not None:
        return pull, policy, StartResult(why=limit.name, values=(("most", str(limit.most)),))
    return pull, policy, None


async def start_run(context: Context, spec: RunSpec) -> StartResult:
    """Make the run and have it worked on; refused where one works for that thread already."""
    numbers = "-".join(map(str, spec.threads))
    digest = sha256(f"{spec.place}:{numbers}:{now_ms()}".encode()).hexdigest()[:10]
    run_id = f"run-{digest}"
    if not await context.stores.runs.create(run_id, spec):
        taken = ("number", numbers)
        return StartResult(why="pull_taken" if spec.pull is not None else "issue_taken", values=(taken,))
    await enqueue_run(context, FIX_RUN, run_id, spec.place)
    return StartResult(run_id)


def run_spec(
    context: Context,
    repo: Repo,
    pull: PullRequest,
    policy: Policy,
    *,
    goal: str,
    checks: Sequence[CheckStatus] = (),
    max_attempts: int | None = None,
) -> RunSpec:
    """The specification of a run that works on the pull request's head."""
    return RunSpec(
        repo=repo,
        goal=context.mask(goal),
        key=f"pr-{pull.number}",
        suggested_branch=f"fix/pr-{pull.number}",
        policy=policy,
        base_branch=pull.base_ref,
        agents=context.agents(policy),
        max_attempts=max_attempts or policy.max_attempts,
        pull=FixTarget(
            number=pull.number,
            head_sha=pull.head_sha,
            head_ref=pull.head_ref,
            from_fork=from_fork(pull, repo.full_name),
            tolerated=dict(tolerated(checks)),
        ),
    )


def tolerated(checks: Sequence[CheckStatus]) -> Mapping[str, tuple[str, ...]]:
    """The errors of each check that are not the pull request's."""
    others = {check.name: [one.error for one in check.failures if not one.own] for check in checks}
    for check in checks:
        if check.step is not None and check.step.could_not_run is not None:
            others[check.name].append(NOT_RUN)  # no change that a fix may make would help
    return {name: tuple(errors) for name, errors in others.items() if errors}


def goal_of(title: str, failed: Sequence[CheckStatus]) -> str:
    """The task for an agent: the new failures with their places. All of it is untrusted."""
    parts = [t("en", "task.fix_pull", title=title).strip()]
    for check in failed:
        step = check.step
        if step is None:
            continue
        places = _places(step.annotations)
        tests = frozenset(one.test for one in check.new if one.test)
        facts = {"check": check.name, "command": step.command, "places": ", ".join(places)}
        head = t("en", "task.check_fails_at" if places else "task.check_fails", **facts)
        parts.append(f"{head}:\n\n{evidence_of(step, tests)[:_BLOCK_CHARS]}")
    return "\n\n".join(parts)


def _places(annotations: Sequence[Annotation]) -> list[str]:
    named = dict.fromkeys(f"`{one.path}`:{one.start_line}" for one in annotations)
    return list(named)[:_PATHS_NAMED]


def _nothing_to_fix(row: PullCheckRow | None, checks: Sequence[CheckStatus]) -> str | None:
    if row is None:
        return "not_checked"
    if row.status not in ("done", "cancelled"):
        return "not_done"
    if not any(check.new for check in checks):
        return "nothing_new"
    return None
