"""Files that run before the tests: what they may replace, and what is noted."""

from __future__ import annotations

import pytest

from bot.rules.tampering.weakened_tests import FileTexts, weakened

AUTOUSE = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef _patched(monkeypatch):\n    {}\n"
OURS: dict[str, tuple[str, str]] = {
    "an assignment in conftest.py": ("conftest.py", "import calc\n\ncalc.add = lambda a, b: 3\n"),
    "an attribute of a class": ("tests/conftest.py", "from shop.cart import Cart\n\nCart.total = lambda self: 0\n"),
    "setattr": ("conftest.py", "import calc\n\nsetattr(calc, 'add', lambda a, b: 3)\n"),
    "sys.modules": ("conftest.py", "import sys\n\nsys.modules['calc'] = object()\n"),
    "an autouse fixture": ("conftest.py", AUTOUSE.format("monkeypatch.setattr('calc.add', lambda a, b: 3)")),
    "mock.patch": ("conftest.py", "from unittest import mock\n\nmock.patch('calc.add', lambda a, b: 3).start()\n"),
    "a hook of pytest": ("conftest.py", "def pytest_configure(config):\n    import calc\n    calc.add = max\n"),
    "a function that runs": ("conftest.py", "import calc\n\ndef go():\n    calc.add = max\n\ngo()\n"),
    "the package of the tests": ("tests/__init__.py", "import calc\n\ncalc.add = max\n"),
    "a helper that tests import": ("tests/kit.py", "import calc\n\ncalc.add = max\n"),
    "jest.mock": ("jest.setup.js", "jest.mock('./src/calc', () => ({ add: () => 3 }))\n"),
    "vi.mock": ("vitest.setup.ts", "import { vi } from 'vitest'\nvi.mock('@/calc', () => ({ add: () => 3 }))\n"),
    "an assignment in a setup file": ("test/setup.js", "const calc = require('../calc')\ncalc.add = () => 3\n"),
    "a module's property": ("test/setup.cjs", "require('../calc').add = () => 3\n"),
    "a spy before each test": (
        "src/setupTests.ts",
        "import * as calc from './calc'\nbeforeEach(() => { jest.spyOn(calc, 'add').mockReturnValue(3) })\n",
    ),
    "the loader of modules": ("test/setup.js", "const Module = require('module')\nModule._load = () => ({})\n"),
}
NOTED: dict[str, tuple[str, str]] = {
    "a library": ("conftest.py", AUTOUSE.format("monkeypatch.setattr('requests.get', None)")),
    "an autouse fixture": ("conftest.py", AUTOUSE.format("monkeypatch.setenv('TZ', 'UTC')")),
    "a call": ("tests/conftest.py", "import sys\n\nsys.path.insert(0, '.')\n"),
    "a setup file": ("test/setup.js", "process.env.TZ = 'UTC'\n"),
    "a package that is mocked": ("jest.setup.ts", "jest.mock('axios')\n"),
    "a helper of RSpec": ("spec/spec_helper.rb", "require 'calc'\n"),
}
ACCEPTED: dict[str, tuple[str, str]] = {
    "a fixture that a test asks for": (
        "conftest.py",
        "import pytest\n\n\n@pytest.fixture\ndef fake(monkeypatch):\n    monkeypatch.setattr('calc.add', max)\n",
    ),
    "a decorated fixture": (
        "conftest.py",
        "import pytest\nfrom mock import patch\n\n\n@pytest.fixture\n@patch('calc.add')\ndef a(b):\n    return b\n",
    ),
    "a helper's function": (
        "tests/kit.js",
        "const calc = require('../calc')\nfunction fake() { calc.add = () => 3 }\n",
    ),
    "a client": ("tests/kit.py", "def change(client):\n    return client.patch('/items/1')\n"),
    "code of an application": ("src/setup.js", "const calc = require('./calc')\ncalc.rate = 3\n"),
}
CODE = FileTexts("calc.py", "x = 1\n", "x = 2\n")


@pytest.mark.parametrize("name", OURS)
def test_code_under_test_may_not_be_replaced_before_the_tests(name: str) -> None:
    """REQ-PROOF-008."""
    path, text = OURS[name]
    assert [(one.severity, one.path) for one in weakened([FileTexts(path, None, text), CODE])] == [("refuse", path)]
    assert weakened([FileTexts(path, text, text + "\n"), CODE]) == (), "what was there before may stay"


@pytest.mark.parametrize("name", NOTED)
def test_other_new_files_that_run_before_the_tests_are_noted(name: str) -> None:
    path, text = NOTED[name]
    assert [(one.severity, one.kind) for one in weakened([FileTexts(path, None, text), CODE])] == [
        ("note", "support_file")
    ]


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_tests_ask_for_is_accepted(name: str) -> None:
    path, text = ACCEPTED[name]
    assert weakened([FileTexts(path, None, text), CODE]) == ()
