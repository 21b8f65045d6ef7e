"""What could not run is told from what ran and failed, by what the tools themselves printed."""

from __future__ import annotations

import pytest

from bot.model import CouldNotRun
from bot.rules.test_results.could_not_run import could_not_run

NPM = "\n> sample@1.0.0 test\n> {command}\n\n{said}\n"
NODE_GONE = """node:internal/modules/cjs/loader:1520
  throw err;
  ^

Error: Cannot find module '/tree/gone.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1517:15)
    at node:internal/main/run_main_module:33:47 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v24.19.0
"""
NPM_GONE = """npm error Missing script: "gone"
npm error
npm error To see a list of scripts, run:
npm error   npm run
npm error A complete log of this run can be found in: /home/user/.npm/_logs/debug-0.log
"""
CONSOLE_SCRIPT = """Traceback (most recent call last):
  File "/home/user/project/.venv/bin/pytest", line 5, in <module>
    from pytest import console_main
ModuleNotFoundError: No module named 'pytest'
"""
TOX_OFFLINE = """flake8: install_deps> python -I -m pip install flake8 flake8-black
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NameResolutionError'
ERROR: Could not find a version that satisfies the requirement flake8 (from versions: none)
ERROR: No matching distribution found for flake8
flake8: exit 1 (8.63 seconds) /tree> python -I -m pip install flake8 flake8-black pid=13
  flake8: FAIL code 1 (9.30 seconds)
  evaluation failed :( (9.36 seconds)
"""
NOX_OFFLINE = """nox > Running session lint
nox > Creating virtual environment (virtualenv) using python in .nox/lint
nox > python -m pip install ruff
ERROR: Could not find a version that satisfies the requirement ruff (from versions: none)
ERROR: No matching distribution found for ruff
nox > Command python -m pip install ruff failed with exit code 1:
nox > Session lint failed.
"""


@pytest.mark.parametrize(
    ("command", "code", "log", "hindrance", "what"),
    [
        ("tox run -e flake8", 1, TOX_OFFLINE, "no_module", "flake8"),
        ("nox -s lint", 1, NOX_OFFLINE, "no_module", "ruff"),
        ("pytest -q", 127, "sh: 1: pytest: not found\n", "not_found", "pytest"),
        ("pytest -q", 127, "bash: line 1: pytest: command not found\n", "not_found", "pytest"),
        ("pytest -q", 127, "sh: pytest: not found\n", "not_found", "pytest"),
        (".venv/bin/pytest", 127, "sh: 1: .venv/bin/pytest: not found\n", "not_found", ".venv/bin/pytest"),
        ("./g", 127, "bash: line 1: ./g: cannot execute: required file not found\n", "not_found", "./g"),
        ("./f", 126, "sh: 1: ./f: Permission denied\n", "not_executable", "./f"),
        ("env -C web eslint", 127, "env: ‘eslint’: No such file or directory\n", "not_found", "eslint"),
        ("npm test", 127, NPM.format(command="jest", said="sh: 1: jest: not found"), "not_found", "jest"),
        ("some thing", 127, "", "not_found", "some thing"),
        (
            "make test",
            2,
            "pytest -q\nmake: pytest: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n",
            "not_found",
            "pytest",
        ),
        ("make test", 2, "make: *** No rule to make target 'test'.  Stop.\n", "no_target", "test"),
        ("just test", 1, "error: Justfile does not contain recipe `test`\n", "no_target", "test"),
        ("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n", "no_module", "pytest"),
        (
            "npm test",
            1,
            NPM.format(command="python3 -m pytest", said="/usr/bin/python3: No module named pytest"),
            "no_module",
            "pytest",
        ),
        (".venv/bin/pytest", 1, CONSOLE_SCRIPT, "no_module", "pytest"),
        (
            "python3 judge.py",
            2,
            "python3: can't open file '/tree/judge.py': [Errno 2] No such file or directory\n",
            "no_file",
            "/tree/judge.py",
        ),
        ("sh judge.sh", 2, "sh: 0: cannot open judge.sh: No such file\n", "no_file", "judge.sh"),
        ("sh judge.sh", 2, "sh: 0: Can't open judge.sh\n", "no_file", "judge.sh"),
        ("node gone.js", 1, NODE_GONE, "no_file", "/tree/gone.js"),
        ("npm test", 1, NPM.format(command="node gone.js", said=NODE_GONE), "no_file", "/tree/gone.js"),
        ("npm run gone", 1, NPM_GONE, "no_script", "gone"),
        ("pnpm run gone", 1, " ERR_PNPM_NO_SCRIPT  Missing script: gone\n", "no_script", "gone"),
    ],
)
def test_what_could_not_run_is_named(command: str, code: int, log: str, hindrance: str, what: str) -> None:
    assert could_not_run(command, code, log) == CouldNotRun.model_validate({"hindrance": hindrance, "what": what})


@pytest.mark.parametrize(
    ("error", "hindrance", "what"),
    [
        ("No such file or directory: cargo", "not_found", "cargo"),
        ("Permission denied: ./check.sh", "not_started", "Permission denied: ./check.sh"),
        ("No such file or directory: /no/such/place", "not_started", "No such file or directory: /no/such/place"),
    ],
)
def test_what_the_system_refused_to_start_is_named_or_told_in_its_words(error: str, hindrance: str, what: str) -> None:
    found = could_not_run("cargo test", None, "", spawn_error=error)
    assert found == CouldNotRun.model_validate({"hindrance": hindrance, "what": what})


FAILED_TEST = "\n".join(
    [
        "FAILED tests/cli/test_cli.py::test_a_missing_module - AssertionError",
        "----------------------------- Captured stderr call -----------------------------",
        "{line}",
        *(f"tests/cli/test_cli.py::test_{number} PASSED" for number in range(20)),
        "========================= 1 failed, 20 passed in 0.52s =========================",
    ]
)


@pytest.mark.parametrize(
    ("command", "code", "log"),
    [
        ("pytest", 0, "sh: 1: pytest: not found\n"),
        ("pytest", 1, FAILED_TEST.format(line="/usr/bin/python3: No module named pytest")),
        ("pytest", 1, FAILED_TEST.format(line='npm error Missing script: "gone"')),
        ("pytest", 1, FAILED_TEST.format(line="make: *** No rule to make target 'test'.  Stop.")),
        ("pytest", 1, "E   ModuleNotFoundError: No module named 'requests'\n1 error in 0.1s\n"),
        ("python3 -m pytest", 1, "ImportError while loading conftest\nModuleNotFoundError: No module named 'click'\n"),
        ("python3 app.py", 1, "Traceback (most recent call last):\nModuleNotFoundError: No module named 'click'\n"),
        ("node test.js", 1, NODE_GONE.replace("[]", "[ '/tree/test.js' ]")),
        ("npm test", 1, "sh: 1: jest: not found\n"),
        ("make test", 2, "make: *** [Makefile:2: test] Error 1\n"),
        ("tox", 1, FAILED_TEST.format(line="ERROR: No matching distribution found for flake8")),
        ("pytest tests/test_pip.py", 1, "ERROR: No matching distribution found for flake8\n"),
        ("pytest", None, ""),
        ("pytest", -9, "sh: 1: pytest: not found\n"),
    ],
)
def test_what_ran_and_failed_is_not_taken_for_it(command: str, code: int | None, log: str) -> None:
    assert could_not_run(command, code, log) is None
