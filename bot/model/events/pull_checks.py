"""The events of a pull check: what its workflow writes, and its state is a fold of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from bot.model.events.base import Event
from bot.model.pipeline import PipelineStage, ValidationStep
from bot.model.pulls import CheckStatus, FailedOf, RunCounts
from bot.model.reasons import ExplainedStop, Reason
from bot.model.setups import SetupDone


class PullStarted(Event):
    """The head is here. `changed_paths` are the first paths that the pull request changes; `to_set_up` is whether the
    head's tree has anything to be set up."""

    type: Literal["pull_started"] = "pull_started"
    base_sha: str
    sandbox: Reason
    changed_paths: tuple[str, ...] = ()
    stages: tuple[PipelineStage, ...]
    to_set_up: bool


class PullSetupCompleted(Event):
    type: Literal["pull_setup_completed"] = "pull_setup_completed"
    steps: tuple[SetupDone, ...] = ()
    stages: tuple[PipelineStage, ...]

    @property
    def key(self) -> str:
        return "setup_done"


class PullSetupFailed(Event):
    type: Literal["pull_setup_failed"] = "pull_setup_failed"
    details: Reason
    exit_code: int | None = None
    duration_ms: int = 0

    @property
    def key(self) -> str:
        return "setup_done"


class PullCheckStarted(Event):
    type: Literal["pull_check_started"] = "pull_check_started"
    index: int
    stage: str

    @property
    def key(self) -> str:
        return f"check:{self.index}"


class PullCheckRan(Event):
    """A check was executed on the head: its errors by fingerprint, and the tool's own words of each with the test that
    failed. `remembered` are runs of the failing tests on the base branch so far: on the merge base, and before."""

    type: Literal["pull_check_ran"] = "pull_check_ran"
    index: int
    stage: str
    step: ValidationStep
    errors: tuple[str, ...] = ()
    printed: dict[str, tuple[str, str]] = Field(default_factory=dict)
    remembered: dict[str, tuple[RunCounts, RunCounts]] = Field(default_factory=dict)
    tests: FailedOf | None = None
    """How many tests failed, where the runner names or counts them."""
    changed: tuple[str, ...] = ()
    """Tests that the pull request adds or alters, as the runner names them."""

    @property
    def key(self) -> str:
        return f"ran:{self.index}"


class PullBaseChecked(Event):
    """What the same check shows on the base; `because` names why that is unknown where `errors` is None. `cached`: it
    is the result of an earlier run. `absent` are failures of the head whose test the base did not run."""

    type: Literal["pull_base_checked"] = "pull_base_checked"
    index: int
    errors: tuple[str, ...] | None
    because: str = "base_unknown"
    cached: bool = False
    absent: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"base:{self.index}"


class PullTestsRan(Event):
    """Failing tests ran again on one of the commits: those in `tests` alone, or the whole check. `number` counts these
    runs of a check. An unusable one was stopped, or could not start, and shows nothing."""

    type: Literal["pull_tests_ran"] = "pull_tests_ran"
    index: int
    number: int
    place: Literal["head", "base"]
    tests: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    printed: dict[str, tuple[str, str]] = Field(default_factory=dict)
    usable: bool = True
    duration_ms: int = 0

    @property
    def key(self) -> str:
        return f"tests:{self.index}:{self.number}"


class PullReachMeasured(Event):
    """Whether failing tests execute lines that the pull request changes, by failure; `unused` is why that could not be
    measured, or not for all of them."""

    type: Literal["pull_reach_measured"] = "pull_reach_measured"
    index: int
    reached: dict[str, bool] = Field(default_factory=dict)
    unused: Reason | None = None

    @property
    def key(self) -> str:
        return f"reach:{self.index}"


class PullCheckJudged(Event):
    type: Literal["pull_check_judged"] = "pull_check_judged"
    index: int
    check: CheckStatus

    @property
    def key(self) -> str:
        return f"judged:{self.index}"


class PullFinished(Event):
    type: Literal["pull_finished"] = "pull_finished"
    status: Literal["done", "cancelled"]
    stop: ExplainedStop | None = None


PullCheckEvent = Annotated[
    PullStarted
    | PullSetupCompleted
    | PullSetupFailed
    | PullCheckStarted
    | PullCheckRan
    | PullBaseChecked
    | PullTestsRan
    | PullReachMeasured
    | PullCheckJudged
    | PullFinished,
    Field(discriminator="type"),
]
PULL_CHECK_EVENTS: TypeAdapter[PullCheckEvent] = TypeAdapter(PullCheckEvent, config=ConfigDict(defer_build=True))
