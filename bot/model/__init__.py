"""Frozen values that every package shares. They decide nothing: decisions are in `bot/rules`."""

from __future__ import annotations

from bot.model.agents import AgentTask, Applied, Change, Proposal, StyleFindings, Usage
from bot.model.base import CamelModel, Model
from bot.model.checks import (
    CHECK_ORDER,
    Annotation,
    AnnotationLevel,
    CheckName,
    CheckProgress,
    CheckResult,
    Classification,
    CouldNotRun,
    PreviousError,
    PullRequestsMode,
    RunChecksResult,
    SandboxMode,
    ShellCommand,
    ShownFailure,
    ToolsMode,
)
from bot.model.events.run_event import RunEvent
from bot.model.issues import Group, GroupBy, Issue
from bot.model.pipeline import SuiteCounts, Validation, ValidationStep
from bot.model.proof import Proof
from bot.model.reasons import Language
from bot.model.report_views import (
    CheckOutput,
    Conflict,
    ErrorDelta,
    KnownError,
    Loss,
    PullRequestRef,
    Resolution,
    RunView,
)
from bot.model.repositories import ManageWorktreeResult, Repo, WorktreeInfo
from bot.model.runs import Artifact, Phase, Status, StopReason
from bot.model.sessions import ChangedFile, Problem, Session, SessionRequest, SessionSummary, ShellOrArgv
from bot.model.setups import NeededSetup, SetupDone, SetupPlan

__all__ = [
    "CHECK_ORDER",
    "AgentTask",
    "Annotation",
    "AnnotationLevel",
    "Applied",
    "Artifact",
    "CamelModel",
    "Change",
    "ChangedFile",
    "CheckName",
    "CheckOutput",
    "CheckProgress",
    "CheckResult",
    "Classification",
    "Conflict",
    "CouldNotRun",
    "ErrorDelta",
    "Group",
    "GroupBy",
    "Issue",
    "KnownError",
    "Language",
    "Loss",
    "ManageWorktreeResult",
    "Model",
    "NeededSetup",
    "Phase",
    "PreviousError",
    "Problem",
    "Proof",
    "Proposal",
    "PullRequestRef",
    "PullRequestsMode",
    "Repo",
    "Resolution",
    "RunChecksResult",
    "RunEvent",
    "RunView",
    "SandboxMode",
    "Session",
    "SessionRequest",
    "SessionSummary",
    "SetupDone",
    "SetupPlan",
    "ShellCommand",
    "ShellOrArgv",
    "ShownFailure",
    "Status",
    "StopReason",
    "StyleFindings",
    "SuiteCounts",
    "ToolsMode",
    "Usage",
    "Validation",
    "ValidationStep",
    "WorktreeInfo",
]
