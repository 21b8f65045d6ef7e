"""Makes the diagnoses of `mendbot doctor`."""

from __future__ import annotations

from bot.model.diagnosis import Area, Diagnosis
from bot.model.reasons import Reason


def fine(area: Area, name: str, message: Reason) -> Diagnosis:
    """It works."""
    return Diagnosis(area=area, name=name, status="ok", message=message)


def warned(area: Area, name: str, message: Reason, remedy: Reason | None = None) -> Diagnosis:
    """It limits what the server can do, or will soon."""
    return Diagnosis(area=area, name=name, status="warning", message=message, remedy=remedy)


def failed(area: Area, name: str, message: Reason, remedy: Reason) -> Diagnosis:
    """It keeps the server from its work."""
    return Diagnosis(area=area, name=name, status="problem", message=message, remedy=remedy)
