"""A pytest plugin that writes each test's name and outcome to a file, a JSON list to a line, and runs only some tests
where it is asked to. It runs in the project's own Python (3.6 and up), so it knows pytest and the standard library
alone."""

import hashlib
import json
import os
from typing import Any

import pytest

_PLACE = "MENDBOT_TEST_NAMES"
_SELECTION = "MENDBOT_TEST_SELECTION"
_NAME_CHARS = 300


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config: Any) -> Any:
    """Turn pytest-cov off where only some tests run: their coverage is too low, and it would end other tracing."""
    if _SELECTION in os.environ and hasattr(early_config.known_args_namespace, "cov_source"):
        early_config.known_args_namespace.cov_source = []
    yield


def pytest_configure(config: Any) -> None:
    """Listen, unless this is a worker of pytest-xdist: what those run is reported to the process that started them."""
    before = dict(os.environ)
    place = os.environ.pop(_PLACE, "")
    wanted = _read_selection(os.environ.pop(_SELECTION, ""))
    _forget_in_children()
    if hasattr(config.option, "continue_on_collection_errors"):  # pytest 3 and up
        config.option.continue_on_collection_errors = True
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        place, wanted = worker.get(_PLACE, ""), worker.get(_SELECTION)
    elif place:
        config.pluginmanager.register(_Listener(place), "mendbot-test-names-listener")
    if place and wanted is not None:
        config.pluginmanager.register(_Selector(place, wanted, before), "mendbot-test-selector")
        files = _files(str(config.rootdir), wanted)
        if files and int(pytest.__version__.split(".")[0]) >= 7:
            config.pluginmanager.register(_OtherFiles(files), "mendbot-test-files")


def _read_selection(place: str) -> Any:
    """The names and files to select; None where all tests run."""
    if not place:
        return None
    with open(place, encoding="utf-8") as file:  # noqa: PTH123
        return json.load(file)


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


def _write(place: str, line: Any) -> None:
    # opened each time: whatever ends the process, what was written is there
    with open(place, "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(json.dumps(line) + "\n")


class _Listener:
    def __init__(self, place: str) -> None:
        self._place = place

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            _write(self._place, [report.nodeid, "failed"])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome not in ("passed", "failed", "skipped"):
            return  # a run that is repeated (pytest-rerunfailures): the last one counts
        if report.when == "call" or report.outcome != "passed":
            _write(self._place, [report.nodeid, report.outcome])


class _Selector:
    """Deselects all other tests, and writes how many are left."""

    def __init__(self, place: str, wanted: Any, environment: Any) -> None:
        self._place = place
        self._wanted = wanted
        self._environment = environment
        self._names = set(wanted["names"])
        self._files = {os.path.realpath(path) for path in wanted["files"]}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Make the workers of pytest-xdist load this plugin: they select, and this process runs no test."""
        os.environ.update(self._environment)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass the selection to a worker."""
        node.workerinput[_PLACE] = self._place
        node.workerinput[_SELECTION] = self._wanted

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: Any) -> None:
        selected = [item for item in items if self._is_wanted(item)]
        others = [item for item in items if not self._is_wanted(item)]
        items[:] = selected
        if others:
            config.hook.pytest_deselected(items=others)
        _write(self._place, {"selected": len(selected)})

    def _is_wanted(self, item: Any) -> bool:
        if self._files and os.path.realpath(str(item.fspath)) in self._files:
            return True
        return any(name in self._names for name in _names(item.nodeid))


class _OtherFiles:
    """Passes over files without a selected test, whose import may take long."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        path = str(collection_path)
        own = os.path.basename(path)  # noqa: PTH119
        is_test = own.endswith(".py") and own not in ("conftest.py", "__init__.py")
        return True if is_test and os.path.realpath(path) not in self._files else None


def _files(root: str, wanted: Any) -> Any:
    """The files of all selected tests; empty where one of them has none that is known."""
    named = [name.partition("::")[0] for name in wanted["names"]]
    paths = [os.path.join(root, name) for name in named] + wanted["files"]  # noqa: PTH118
    known = all(path.endswith(".py") and os.path.isfile(path) for path in paths)  # noqa: PTH113
    return {os.path.realpath(path) for path in paths} if known else set()


def _names(node: str) -> Any:
    """Yield the names under which pytest, its summary or its JUnit report lists a test."""
    node = _bounded(node)
    parts = node.partition("[")[0].split("::")
    row = node[len("::".join(parts)) :]
    for start in range(len(parts)):
        yield "::".join(parts[start:]) + row
    yield parts[0]
    module = parts[0].replace("/", ".")
    dotted = ".".join([module[:-3] if module.endswith(".py") else module, *parts[1:-1]])
    yield dotted + "::" + parts[-1] + row
    yield "::".join([parts[0], dotted, parts[-1]]) + row


def _bounded(name: str) -> str:
    """As the bot shortens names."""
    line = " ".join(name.split())
    if len(line) <= _NAME_CHARS:
        return line
    return line[:_NAME_CHARS] + "…" + hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()[:8]
