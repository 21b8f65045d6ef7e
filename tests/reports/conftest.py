"""What every test of a report begins with: a run to tell about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.model import RunView
from tests.reports.views_runs import make_view


@pytest.fixture
def view() -> Callable[..., RunView]:
    return make_view
