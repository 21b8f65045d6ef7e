"""Which plug-ins pytest needs for what a project's configuration says: without them pytest refuses to start."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BY_OPTION = (
    (r"--(?:no-)?cov(?:-[\w-]+)?", "pytest-cov"),
    (r"-n(?:=?\d+|auto|logical)?|--numprocesses|--dist|--maxprocesses", "pytest-xdist"),
    (r"--timeout(?:-[\w-]+)?", "pytest-timeout"),
    (r"--benchmark-[\w-]+", "pytest-benchmark"),
    (r"--reruns(?:-[\w-]+)?", "pytest-rerunfailures"),
    (r"--asyncio-mode", "pytest-asyncio"),
    (r"--randomly-[\w-]+", "pytest-randomly"),
    (r"--random-order[\w-]*", "pytest-random-order"),
    (r"--mypy[\w-]*", "pytest-mypy"),
    (r"--ruff[\w-]*", "pytest-ruff"),
    (r"--black", "pytest-black"),
    (r"--flake8", "pytest-flake8"),
    (r"--nbval[\w-]*", "nbval"),
    (r"--ds|--reuse-db|--create-db|--nomigrations|--no-migrations", "pytest-django"),
    (r"--html|--self-contained-html", "pytest-html"),
    (r"--disable-socket|--allow-hosts", "pytest-socket"),
    (r"--hypothesis-[\w-]+", "hypothesis"),
)
_BY_KEY = {
    "asyncio_mode": "pytest-asyncio",
    "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "timeout": "pytest-timeout",
    "timeout_method": "pytest-timeout",
    "DJANGO_SETTINGS_MODULE": "pytest-django",
    "env": "pytest-env",
    "mock_use_standalone_module": "pytest-mock",
    "qt_api": "pytest-qt",
    "trio_mode": "pytest-trio",
}


def needed_plugins(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The packages of the plug-ins that the settings of pytest, with its `addopts`, name."""
    options = settings.get("addopts")
    words = options.split() if isinstance(options, str) else options if isinstance(options, list) else []
    found = [package for key, package in _BY_KEY.items() if key in settings]
    for word in words:
        name = str(word).partition("=")[0]
        found += [package for shape, package in _BY_OPTION if package and re.fullmatch(shape, name)]
    return tuple(dict.fromkeys(found))
