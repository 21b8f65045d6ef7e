"""A pytest plugin that writes each test's name and outcome to a file, a JSON list to a line.
It runs in the project's own Python (3.6 and up), so it knows pytest and the standard library alone."""

import json
import os
from typing import Any

_PLACE = "MENDBOT_TEST_NAMES"


def pytest_configure(config: Any) -> None:
    """Listen, unless this is a worker of pytest-xdist: what those run is reported to the process that started them."""
    place = os.environ.pop(_PLACE, "")
    _forget_in_children()
    if hasattr(config.option, "continue_on_collection_errors"):  # pytest 3 and up
        config.option.continue_on_collection_errors = True
    if place and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Listener(place), "mendbot-test-names-listener")


def _forget_in_children() -> None:
    """A pytest that a test starts is part of that test: it is neither listened to nor asked to load this plugin."""
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # as on the oldest Python
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != own]
    options = os.environ.get("PYTEST_ADDOPTS", "").replace("-p mendbot_test_names", "").strip()
    for name, value in (("PYTHONPATH", os.pathsep.join(paths)), ("PYTEST_ADDOPTS", options)):
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)


class _Listener:
    def __init__(self, place: str) -> None:
        self._place = place

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write(report.nodeid, "failed")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome not in ("passed", "failed", "skipped"):
            return  # a run that is repeated (pytest-rerunfailures): the last one counts
        if report.when == "call" or report.outcome != "passed":
            self._write(report.nodeid, report.outcome)

    def _write(self, name: str, outcome: str) -> None:
        # opened each time: whatever ends the process, what was written is there
        with open(self._place, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps([name, outcome]) + "\n")
