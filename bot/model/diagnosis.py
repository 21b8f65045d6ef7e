"""What `mendbot doctor` finds: one diagnosis for each thing that it examines."""

from __future__ import annotations

from typing import Literal

from bot.model.base import Model
from bot.model.reasons import Reason

Area = Literal["environment", "machine", "database", "app", "agents"]


class Diagnosis(Model):
    """The state of one thing. What is no `ok` has a remedy; only a `problem` keeps the server from its work."""

    area: Area
    name: str
    status: Literal["ok", "warning", "problem"]
    message: Reason
    remedy: Reason | None = None
