"""The part of a run's state that tells how its tree was set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.model import SetupDone
from bot.rules.runs.pipeline import PipelineStage

if TYPE_CHECKING:
    from bot.rules.runs.state import RunState


def with_setup(state: RunState, data: Mapping[str, Any]) -> RunState:
    """The state after a setup: the tree that it left, and the checks that were chosen after it."""
    # events of before checks were chosen after setup have no stages
    stages = tuple(PipelineStage.model_validate(item) for item in data["stages"]) if "stages" in data else state.stages
    return replace(
        state, set_up=True, setup=steps_of(data), stages=stages, start=data["snapshot"], snapshot=data["snapshot"]
    )


def steps_of(data: Mapping[str, Any]) -> tuple[SetupDone, ...]:
    """The steps of a setup that its event tells of."""
    return tuple(SetupDone.model_validate(item) for item in data.get("steps", ()))
