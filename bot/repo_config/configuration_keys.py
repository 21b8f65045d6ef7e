"""Every key of `.github/mendbot.yml` with its default, its bounds and one line of help, which the JSON Schema and
docs/configuration.md repeat. The allowed values are defined here alone: messages are made from the schema of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationInfo, field_validator

from bot.model import CheckName, GroupBy, Language
from bot.model.proof import RequiredProof
from bot.model.reasons import Reason, make_reason
from bot.repo_config.agents import AGENT_NAMES, MODEL_SPEC, agent_problem
from bot.repo_config.describe import in_quotes

POLICY_PATH = ".github/mendbot.yml"

CHECK_TIMEOUTS_S: Mapping[CheckName, float] = {"typecheck": 60.0, "lint": 120.0, "test": 300.0}
"""The time limits of spec A."""

VerbName = Literal[
    "fix", "check", "retest", "retry", "cancel", "status", "group", "apply", "explain", "history", "resolved",
    "ok-to-test", "pause", "resume", "help",
]  # fmt: skip
VERB_NAMES: tuple[VerbName, ...] = get_args(VerbName)
"""The verbs of REQ-CMD-002, which an alias may stand for."""

MAX_CANDIDATES = 5
"""The changes that one attempt may ask for: each costs an agent's turn and a run of the checks."""

_ALIAS = r"^/?[a-z][a-z-]*$"
_DRIVE = re.compile(r"[A-Za-z]:")
_INVALID_BRANCH = re.compile(r"[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[/.]$|^[-/.]|^@$")
"""Names that git allows for no branch (git-check-ref-format), and names that look like options."""


class InvalidValue(ValueError):
    """A value that a key does not take, with the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.kind)
        self.reason = reason


def _not_blank(value: str) -> str:
    if not value.strip():
        raise InvalidValue(make_reason("config.empty"))
    return value


def _starts_with_program(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words[0].strip():
        raise InvalidValue(make_reason("config.no_program"))
    return words


def _inside_repository(path: str) -> str:
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        raise InvalidValue(make_reason("config.absolute_path", value=in_quotes(path)))
    if ".." in re.split(r"[/\\]", path):
        raise InvalidValue(make_reason("config.path_outside", value=in_quotes(path)))
    return path


def _valid_pattern(pattern: str) -> str:
    if not pattern.removeprefix("!").strip():
        raise InvalidValue(make_reason("config.empty_pattern", value=in_quotes(pattern)))
    _inside_repository(pattern.removeprefix("!"))
    return pattern


def _known_agent(spec: str) -> str:
    if (problem := agent_problem(spec)) is not None:
        raise InvalidValue(problem)
    return spec


def _slash_command(word: str) -> str:
    if re.fullmatch(_ALIAS, word) is None or word.endswith("\n"):
        raise InvalidValue(make_reason("config.alias", value=in_quotes(word)))
    word = "/" + word.removeprefix("/")
    if word == "/mendbot":
        raise InvalidValue(make_reason("config.alias_taken"))
    return word


def _verb_name(word: str) -> str:
    verb = word.removeprefix("/")
    if verb not in VERB_NAMES:
        raise InvalidValue(make_reason("config.verb", value=in_quotes(word)))
    return verb


YesNo = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Seconds = Annotated[float, Strict()]
Text = Annotated[str, Field(min_length=1), AfterValidator(_not_blank)]
Label = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(_not_blank)]
"""GitHub's own limit for the name of a label."""
CommandLine = Text | Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_starts_with_program)]
InnerPath = Annotated[Text, AfterValidator(_inside_repository), Field(json_schema_extra={"pattern": r"^[^/\\]"})]
Glob = Annotated[Text, AfterValidator(_valid_pattern), Field(json_schema_extra={"pattern": r"^(![^/\\]|[^!/\\])"})]
AgentSpec = Annotated[
    str,
    AfterValidator(_known_agent),
    Field(json_schema_extra={"pattern": rf"^({'|'.join(AGENT_NAMES)}|command:\s*\S[\s\S]*|{MODEL_SPEC})$"}),
]
Aliases = Annotated[
    dict[Annotated[str, AfterValidator(_slash_command)], VerbName],
    Field(json_schema_extra={"propertyNames": {"pattern": _ALIAS}}),
]
ShortVerbs = tuple[
    Annotated[str, AfterValidator(_verb_name), Field(json_schema_extra={"pattern": rf"^/?({'|'.join(VERB_NAMES)})$"})],
    ...,
]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _key(
    default: Any,
    *,
    help: str,  # noqa: A002
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
) -> Any:
    return Field(default, description=help, ge=ge, gt=gt, le=le)


class CheckPolicy(_Section):
    """One check's own command, its limit in seconds and the report it writes."""

    command: CommandLine | None = _key(
        None, help="What runs the check: text for `sh -c`, or a list of words; found in the project's files by default."
    )
    timeout: Seconds | None = _key(
        None,
        help="Its time limit in seconds; 60 for typecheck, 120 for lint and 300 for test by default.",
        gt=0,
        le=7200,
    )
    report: InnerPath | None = _key(
        None, help="A JUnit XML or SARIF file that the command writes, for places; JUnit also names the tests that ran."
    )


class ChecksPolicy(_Section):
    """The three checks."""

    typecheck: CheckPolicy = _key(CheckPolicy(), help="The type checker.")
    lint: CheckPolicy = _key(CheckPolicy(), help="The linter.")
    test: CheckPolicy = _key(CheckPolicy(), help="The tests.")

    def of(self, check: CheckName) -> CheckPolicy:
        return {"typecheck": self.typecheck, "lint": self.lint, "test": self.test}[check]


class StopPolicy(_Section):
    """The limits of a run."""

    max_iterations: Whole = _key(10, help="Attempts after which a run ends.", ge=1, le=100)
    max_duration_ms: Whole = _key(1_800_000, help="Milliseconds after which a run ends.", ge=1000, le=604_800_000)
    no_progress_threshold: Whole = _key(3, help="Attempts without progress after which a run ends.", ge=1, le=1000)
    max_day_cost: Seconds | None = _key(
        None, help="US dollars that models may use here in one day (UTC); at most the operator's.", ge=0, le=1_000_000
    )
    max_day_tokens: Whole | None = _key(
        None,
        help="Tokens that models without a known price may use here in one day; at most the operator's.",
        ge=1,
        le=1_000_000_000_000,
    )


class PullRequestsPolicy(_Section):
    """The checks of pull requests."""

    enabled: YesNo = _key(True, help="Check pull requests.")
    drafts: YesNo = _key(False, help="Check drafts too.")
    paths: tuple[Glob, ...] = _key(
        (), help="Check only pull requests that change a file which these patterns name; all by default."
    )


class Policy(_Section):
    """How Mendbot works in a repository, read from its default branch alone (spec K)."""

    trigger_label: Label = _key("auto-fix", help="The label that starts a run on an issue.")
    skip_label: Annotated[Label, Field(validate_default=True)] = _key(
        "auto-fix-skip", help="The label that keeps Mendbot away from an issue or a pull request."
    )
    group_by: GroupBy | None = _key(
        None, help="What brings issues together in one run; by default a component, else a file, else similar words."
    )
    max_group_size: Whole = _key(5, help="Issues in one run at most.", ge=1, le=50)
    quiet_seconds: Seconds | None = _key(
        None,
        help="Seconds to wait for more labels before issues are grouped; the operator's by default.",
        ge=0,
        le=3600,
    )
    max_worktrees: Whole | None = _key(
        None, help="Runs at once in this repository; at most the operator's.", ge=1, le=50
    )
    base_branch: str | None = _key(None, help="The branch that runs start from; the default branch by default.")
    setup: CommandLine | None = _key(
        None, help="Prepares a fresh worktree, such as `npm ci`; the only command that has the network."
    )
    checks: ChecksPolicy = _key(ChecksPolicy(), help="The commands that a change must pass.")
    fixers: tuple[CommandLine, ...] | None = _key(
        None,
        help="Commands that fix files, such as formatters; found in the project's files by default, `[]` for none.",
    )
    agents: tuple[AgentSpec, ...] | None = _key(
        None,
        help="Agents that propose changes, in order: fixers, history, command, command:ARGV, llm:PROVIDER:MODEL or a "
        "coding agent's name; the operator's by default.",
    )
    max_attempts: Whole = _key(3, help="Attempts of one run at most.", ge=1, le=100)
    candidates: Whole = _key(
        1,
        help="Changes that one attempt asks the coding agents for at most, of which the best is taken.",
        ge=1,
        le=MAX_CANDIDATES,
    )
    stop: StopPolicy = _key(StopPolicy(), help="When a run ends without success.")
    guidance_trial: YesNo = _key(
        True,
        help="Withhold what the error history knows from the agents of one in ten runs, to measure what it is worth.",
    )
    require_proof: RequiredProof = _key(
        "none",
        help="The proof that a change needs to be pushed: proven, covered or none; any other is offered as a diff.",
    )
    protected_paths: tuple[Text, ...] = _key(
        (), help="Patterns of files that no change may touch; `!PATTERN` lifts one of the built-in ones."
    )
    aliases: YesNo | Aliases | ShortVerbs = _key(
        False,
        help="Short commands: true for /fix, /retest, /check, /retry and /cancel, a list of verbs, or words for verbs.",
    )
    language: Language | None = _key(None, help="The language of what Mendbot writes; the operator's by default.")
    dashboard: YesNo = _key(False, help="Keep an issue up to date that shows queue, failures, flaky tests and pauses.")
    pull_requests: PullRequestsPolicy = _key(PullRequestsPolicy(), help="Which pull requests are checked.")

    @field_validator("base_branch")
    @classmethod
    def _valid_branch(cls, value: str | None) -> str | None:
        if value is not None and (not value or _INVALID_BRANCH.search(value)):
            raise InvalidValue(make_reason("config.branch", value=in_quotes(value)))
        return value

    @field_validator("skip_label")
    @classmethod
    def _distinct_labels(cls, value: str, info: ValidationInfo) -> str:
        if value.casefold() == str(info.data.get("trigger_label", "")).casefold():
            raise InvalidValue(make_reason("config.same_labels"))
        return value


class PolicyProblem(_Section):
    """What is wrong with a configuration file, the dotted key (empty for the file as a whole), and the line and the
    column in the file, both from 1."""

    key: str
    reason: Reason
    line: int = 1
    column: int = 1


MAX_PROBLEMS: Final = 20
"""The problems that are reported at once: a file with more is hardly a configuration."""
