"""Whether tests execute changed code, measured in real runs of Python and Node in the sandbox."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.model import ShellCommand
from bot.rules.reach.reach import Reach, changed_code
from bot.rules.tampering.weakened_tests import FileTexts
from bot.workspace.checks.reach import measuring
from bot.workspace.checks.single_tests import SingleTests, command_for_tests, run_single_tests
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox

PYTEST = "python3 -m pytest -p no:cacheprovider"


async def reach(
    tmp_path: Path, files: Mapping[str, str], changes: Mapping[str, str | None], run: str, *tests: str
) -> Reach:
    """What a run of these tests, or of the whole command, shows of a change: `files` are those after it, `changes`
    the texts before it of those that it alters."""
    tree = tmp_path / "tree"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    code = changed_code([FileTexts(path, before, files.get(path)) for path, before in changes.items()])
    assert isinstance(code, tuple)
    box, command = await open_sandbox("auto", ()), ShellCommand(run=run, timeout_s=120)
    single = command_for_tests(command, tests, tree) if tests else SingleTests(command)
    assert single is not None

    async def execute(wanted: ShellCommand, grant: SandboxGrant) -> StepRun:
        return await run_step("test", wanted, tree, box, grant=grant, mask=str)

    own = tmp_path / "own"
    async with measuring(own, tree, code) as asked:
        ended = await run_single_tests(single, own, asked.granted(SandboxGrant()), execute, str)
        assert set(ended.outcomes) == set(tests), ended.run.log.decode()
        found = await asked.answer(ended.run)
    assert list(own.iterdir()) == []
    return found


CALC = '''"""Sums."""


def add(a, b):
    return a + b


def sub(a, b):
    if a > 100:
        return None
    return a - b


class Account:
    """An account."""

    def pay(self, amount):
        def inner():
            return amount
        return inner()
'''
TEST = """import calc


def test_add():
    assert calc.add(1, 2) == 3


def test_sub():
    assert calc.sub(2, 1) == 1


def test_pay():
    assert calc.Account().pay(1) == 1
"""
PROJECT = {"calc.py": CALC, "test_calc.py": TEST}
BEFORE_SUB = CALC.replace("return a - b", "return b - a")
BEFORE_PAY = CALC.replace("return amount", "return 0")


@pytest.mark.parametrize(
    ("test", "before", "excused"),
    [
        ("test_add", BEFORE_SUB, True),
        ("test_sub", BEFORE_SUB, False),
        ("test_add", BEFORE_PAY, True),
        ("test_pay", BEFORE_PAY, False),
        # a line that was deleted from a function that runs, and one from a function that does not
        ("test_sub", CALC.replace("    if a > 100:", "    print(a)\n    if a > 100:"), False),
        ("test_add", CALC.replace("    if a > 100:", "    print(a)\n    if a > 100:"), True),
        # what runs when the module is imported is reached by each test that imports it
        ("test_add", CALC.replace('"""Sums."""', '"""Differences."""'), False),
        ("test_add", CALC.replace("def sub(a, b):", "def sub(a, b=1):"), False),
        ("test_add", CALC.replace("def sub(a, b):", "def minus(a, b):"), False),
        ("test_add", CALC.replace("class Account:", "class Account(dict):"), False),
        ("test_add", CALC + "\n\ndef div(a, b):\n    return a / b\n", False),
        ("test_add", CALC.replace('"""An account."""', ""), False),
    ],
)
async def test_a_test_of_pytest_reaches_what_it_runs(tmp_path: Path, test: str, before: str, excused: bool) -> None:
    """REQ-PROOF-007"""
    found = await reach(tmp_path, PROJECT, {"calc.py": before}, PYTEST, f"test_calc.py::{test}")
    assert (found.kind, found.excuses) == ("measured", excused)


async def test_the_place_of_what_ran_is_named(tmp_path: Path) -> None:
    found = await reach(tmp_path, PROJECT, {"calc.py": BEFORE_SUB}, PYTEST, "test_calc.py::test_sub")
    assert found.executed == {("calc.py", 8)}


async def test_a_file_that_is_not_imported_is_not_reached(tmp_path: Path) -> None:
    files = {**PROJECT, "other.py": "x = 1\n", "pkg/new.py": "y = 1\n"}
    changes = {"other.py": "x = 2\n", "pkg/new.py": None}
    assert (await reach(tmp_path, files, changes, PYTEST, "test_calc.py::test_add")).excuses


async def test_a_document_is_reached_only_where_it_is_read(tmp_path: Path) -> None:
    files = {**PROJECT, "README.md": "2\n", "test_doc.py": "def test_doc():\n    assert open('README.md').read()\n"}
    assert (await reach(tmp_path, files, {"README.md": "1\n"}, PYTEST, "test_calc.py::test_add")).excuses
    found = await reach(tmp_path, files, {"README.md": "1\n"}, PYTEST, "test_doc.py::test_doc")
    assert found.executed == {("README.md", 1)}


async def test_unittest_is_measured_too(tmp_path: Path) -> None:
    test = "import unittest, calc\nclass T(unittest.TestCase):\n    def test_add(self):\n        calc.add(1, 2)\n"
    files = {"calc.py": CALC, "test_calc.py": test}
    run = "python3 -m unittest"
    assert (await reach(tmp_path, files, {"calc.py": BEFORE_SUB}, run, "test_calc.T.test_add")).excuses
    before = CALC.replace("return a + b", "return b")
    assert not (await reach(tmp_path, files, {"calc.py": before}, run, "test_calc.T.test_add")).excuses


INDIRECT = {
    "child": "import subprocess, sys\n\ndef test():\n    subprocess.check_call([sys.executable, '-c', CALL])\n",
    "killed child": (
        "import subprocess, sys\n\ndef test():\n"
        "    subprocess.call([sys.executable, '-c', CALL + '; import os; os.kill(os.getpid(), 9)'])\n"
    ),
    "grandchild": (
        "import subprocess, sys\n\ndef test():\n"
        "    code = 'import subprocess, sys; subprocess.check_call([sys.executable, \"-c\", %r])' % CALL\n"
        "    subprocess.check_call([sys.executable, '-c', code])\n"
    ),
    "fork": (
        "import os\n\ndef test():\n    number = os.fork()\n"
        "    if not number:\n        exec(CALL)\n        os._exit(0)\n"
        "    assert os.waitpid(number, 0)[1] == 0\n"
    ),
    "thread": (
        "import threading\n\ndef test():\n    one = threading.Thread(target=lambda: exec(CALL))\n"
        "    one.start()\n    one.join()\n"
    ),
    "processes": (
        "import multiprocessing\n\ndef test():\n    one = multiprocessing.get_context('spawn').Process(target=exec,"
        " args=(CALL,))\n    one.start()\n    one.join()\n    assert one.exitcode == 0\n"
    ),
    "generator": "def test():\n    list(eval('(calc.sub(n, 1) for n in [2])', {'calc': __import__('calc')}))\n",
    "script": "import subprocess\n\ndef test():\n    subprocess.check_call(['./run.py'])\n",
}


@pytest.mark.parametrize("how", sorted(INDIRECT))
async def test_code_that_runs_in_another_process_or_thread_is_reached(tmp_path: Path, how: str) -> None:
    test = "CALL = 'import calc; calc.sub(2, 1)'\n" + INDIRECT[how]
    script = "#!/usr/bin/env python3\nimport calc\ncalc.sub(2, 1)\n"
    files = {"calc.py": CALC, "test_it.py": test, "run.py": script}
    run = f"chmod +x run.py && {PYTEST}"
    found = await reach(tmp_path, files, {"calc.py": BEFORE_SUB}, run, "test_it.py::test")
    assert found.executed == {("calc.py", 8)}


DOUBTS = {
    "python that hides the environment": (
        "subprocess.check_call([sys.executable, '-W', 'error', '-E', '-c', 'import calc; calc.sub(2, 1)'])",
        "reach.child",
    ),
    "another environment": (
        "subprocess.check_call([sys.executable, '-c', 'import calc; calc.sub(2, 1)'], env={})",
        "reach.child",
    ),
    "a shell": ("os.system('python3 -S -c 0')", "reach.child"),
    "a shell of subprocess": ("subprocess.check_call('true', shell=True)", "reach.child"),
    "another program": ("subprocess.check_call(['grep', '-q', '-', 'calc.py'])", "reach.child"),
    "another program in its place": ("os.fork() or os.execvp('true', ['true']); os.wait()", "reach.child"),
    "another tracer": ("sys.settrace(None); import calc; calc.sub(2, 1)", "reach.tracer"),
    "a copy": (f"open('/tmp/calc.py', 'w').write({CALC!r}); runpy.run_path('/tmp/calc.py')", "reach.copy"),
    "source that is read": ("exec(open('calc.py').read() + '\\nsub(2, 1)', {})", ""),
    "lines that are read": ("assert 'a - b' in pathlib.Path('calc.py').read_text()", ""),
    "lines that inspect shows": ("import calc, inspect; inspect.getsource(calc)", ""),
}


@pytest.mark.parametrize("how", sorted(DOUBTS))
async def test_what_could_run_or_read_the_change_unseen_excuses_nothing(tmp_path: Path, how: str) -> None:
    """REQ-PROOF-007"""
    body, kind = DOUBTS[how]
    test = f"import importlib, os, pathlib, runpy, shutil, subprocess, sys\n\ndef test():\n    {body}\n"
    files = {"calc.py": CALC, "test_it.py": test}
    found = await reach(tmp_path, files, {"calc.py": BEFORE_SUB}, PYTEST, "test_it.py::test")
    if sys.version_info >= (3, 12) and kind == "reach.tracer":
        assert found.executed == {("calc.py", 8)}
    else:
        assert (found.not_used.kind if found.not_used else "") == kind
        assert not found.excuses


AS_PYTEST_COV = """
import sys

import pytest


def pytest_addoption(parser):
    parser.addoption('--cov', dest='cov_source', action='append', default=[])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if early_config.known_args_namespace.cov_source:
        sys.settrace(None)
        sys.exit('coverage is below its limit')
"""


async def test_the_coverage_of_a_project_does_not_end_the_measurement(tmp_path: Path) -> None:
    files = {**PROJECT, "as_cov.py": AS_PYTEST_COV}
    run = f"{PYTEST} -p as_cov --cov=calc"
    assert (await reach(tmp_path, files, {"calc.py": BEFORE_SUB}, run, "test_calc.py::test_add")).excuses


async def test_a_new_file_is_reached_where_its_directory_is_listed(tmp_path: Path) -> None:
    test = "import os\n\ndef test():\n    assert len(os.listdir('plugins')) == 1\n"
    files = {"plugins/new.py": "x = 1\n", "plugins/old.py": "x = 1\n", "test_it.py": test}
    found = await reach(tmp_path, files, {"plugins/new.py": None}, PYTEST, "test_it.py::test")
    assert found.executed == {("plugins/new.py", 1)}


@pytest.mark.parametrize("run", ["true", f"env -u PYTHONPATH {PYTEST}", "python3 -S -c 'import calc'"])
async def test_where_no_process_was_measured_nothing_is_excused(tmp_path: Path, run: str) -> None:
    found = await reach(tmp_path, PROJECT, {"calc.py": BEFORE_SUB}, run)
    assert found.not_used is not None and found.not_used.kind == "reach.no_process"


async def test_an_environments_own_module_of_that_name_is_loaded(tmp_path: Path) -> None:
    files = {**PROJECT, "lib/sitecustomize.py": "import calc\ncalc.loaded = True\n"}
    run = 'PYTHONPATH="$PYTHONPATH:lib" python3 -c "import calc; assert calc.loaded"'
    found = await reach(tmp_path, files, {"calc.py": BEFORE_SUB}, run)
    assert found.excuses


async def test_a_run_that_was_stopped_excuses_nothing(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "calc.py").write_text(CALC)
    code = changed_code([FileTexts("calc.py", BEFORE_SUB, CALC)])
    assert isinstance(code, tuple)
    box = await open_sandbox("auto", ())
    async with measuring(tmp_path / "own", tree, code) as asked:
        slow = ShellCommand(run="python3 -c 'import calc, time; time.sleep(60)'", timeout_s=3)
        ended = await run_step("test", slow, tree, box, grant=asked.granted(SandboxGrant()), mask=str)
        found = await asked.answer(ended)
    assert found.not_used is not None and found.not_used.kind == "reach.cut_short"


SUMS = """'use strict'
// ünï 🚀
exports.add = function add (a, b) {
  return a + b
}
exports.sub = (a, b) => {
  return a - b
}
class Account {
  pay (amount) { return amount }
}
exports.Account = Account
"""
NODE_TEST = """const test = require('node:test')
const assert = require('node:assert')
const { add, sub, Account } = require('../sums')
test('adds', () => assert.equal(add(1, 2), 3))
test('subtracts', () => assert.equal(sub(2, 1), 1))
test('pays', () => assert.equal(new Account().pay(1), 1))
"""
NODE = {"sums.js": SUMS, "test/sums.test.js": NODE_TEST, "package.json": '{"scripts": {"test": "node --test"}}'}
SUB_BEFORE = SUMS.replace("return a - b", "return b - a")


@pytest.mark.parametrize(
    ("test", "before", "excused"),
    [
        ("adds", SUB_BEFORE, True),
        ("subtracts", SUB_BEFORE, False),
        ("adds", SUMS.replace("{ return amount }", "{ return 0 }"), True),
        ("pays", SUMS.replace("{ return amount }", "{ return 0 }"), False),
        ("adds", SUMS.replace("exports.Account = Account", ""), False),
        ("adds", SUMS.replace("(a, b) =>", "(a, b = 1) =>"), False),
    ],
)
async def test_a_test_of_node_reaches_what_it_runs(tmp_path: Path, test: str, before: str, excused: bool) -> None:
    """REQ-PROOF-007"""
    run = "npm test" if excused else "node --test"
    found = await reach(tmp_path, NODE, {"sums.js": before}, run, test)
    assert (found.kind, found.excuses) == ("measured", excused), found.not_used


NODE_INDIRECT = {
    "child": "children.execFileSync(process.execPath, ['-e', CALL])",
    "child without environment": "children.execFileSync(process.execPath, ['-e', CALL], { env: {} })",
    "worker": "await new Promise(done => new Worker(CALL, { eval: true }).on('exit', done))",
    "module": "(await import('../sums.js')).default.sub(2, 1)",
    "exit": "require('../sums').sub(2, 1); process.exit(0)",
}
NODE_READS = {
    "lines that are read": "fs.readFileSync('sums.js')",
    "lines that a module reads": "const own = await import('node:fs/promises'); await own.readFile('./sums.js')",
    "a stream": "for await (const part of fs.createReadStream(new URL('file://' + process.cwd() + '/sums.js'))) {}",
}
NODE_DOUBTS = {
    "killed": (
        "const one = children.spawn(process.execPath, ['-e', CALL + '; console.log(1); setInterval(() => 0, 9)']);"
        " await new Promise(done => one.stdout.once('data', done)); one.kill('SIGKILL');"
        " await new Promise(done => one.on('exit', done))",
        "lost",
    ),
    "shell": ("children.execSync('node -e 0')", "child"),
    "another program": ("children.spawnSync('cat', ['sums.js'])", "child"),
    "another program, later": ("children.spawn('cat', ['sums.js'])", "child"),
    "copy": ("const at = '/tmp/sums.js'; fs.writeFileSync(at, COPY); require(at).sub(2, 1)", "copy"),
    "another copy": ("const at = '/tmp/x.js'; fs.writeFileSync(at, COPY); require(at).sub(2, 1)", "unnamed"),
    "built": ("fs.mkdirSync('dist'); fs.writeFileSync('dist/all.js', COPY); require('../dist/all').sub(2, 1)", "built"),
    "context": ("vm.runInNewContext(COPY, { exports: {} }, '/sums.js')", "copy"),
    "unnamed context": ("vm.runInThisContext('0;' + 1)", "unnamed"),
    "builder": (
        "const place = 'node_modules/esbuild'; fs.mkdirSync(place, { recursive: true });"
        " fs.writeFileSync(place + '/index.js', 'exports.x = 1'); require('esbuild')",
        "builder",
    ),
    "transformed": (
        "require('module')._extensions['.js'] = (one, file) => one._compile(';' + COPY, file);"
        " require('../sums').add(2, 1)",
        "transformed",
    ),
    "coverage of its own": (
        "const env = { ...process.env, NODE_V8_COVERAGE: '/tmp/own' };"
        " children.execFileSync(process.execPath, ['-e', CALL], { env })",
        "lost",
    ),
}


def node_test(body: str) -> dict[str, str]:
    test = """const children = require('child_process')
const fs = require('fs')
const vm = require('vm')
const { Worker } = require('worker_threads')
const COPY = TEXT
const CALL = `require(${JSON.stringify(process.cwd() + '/sums')}).sub(2, 1)`
require('node:test')('it', async () => {
  BODY
})
"""
    return {"sums.js": SUMS, "test/it.test.js": test.replace("BODY", body).replace("TEXT", json.dumps(SUMS))}


@pytest.mark.parametrize("how", sorted(NODE_INDIRECT))
async def test_javascript_that_runs_in_another_process_or_thread_is_reached(tmp_path: Path, how: str) -> None:
    found = await reach(tmp_path, node_test(NODE_INDIRECT[how]), {"sums.js": SUB_BEFORE}, "node --test")
    assert found.executed == {("sums.js", 6)}, found.not_used


@pytest.mark.parametrize("how", sorted(NODE_READS))
async def test_javascript_that_is_read_as_data_is_reached(tmp_path: Path, how: str) -> None:
    found = await reach(tmp_path, node_test(NODE_READS[how]), {"sums.js": SUB_BEFORE}, "node --test")
    assert found.executed == {("sums.js", 1)}, found.not_used


async def test_a_document_is_reached_where_node_reads_it(tmp_path: Path) -> None:
    files = {**node_test("fs.readFileSync('README.md')"), "README.md": "2\n"}
    assert not (await reach(tmp_path, files, {"README.md": "1\n"}, "node --test")).excuses
    files = {**node_test("require('../sums')"), "README.md": "2\n"}
    assert (await reach(tmp_path, files, {"README.md": "1\n"}, "node --test")).excuses


async def test_a_changed_file_behind_a_link_is_not_measured(tmp_path: Path) -> None:
    files = {**PROJECT, "real/other.py": "x = 1\n"}
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/pkg").symlink_to("real")
    found = await reach(tmp_path, {**files, "pkg/other.py": "x = 1\n"}, {"pkg/other.py": "x = 2\n"}, "python3 -c 0")
    assert found.not_used is not None and found.not_used.kind == "reach.other_file"


@pytest.mark.parametrize("how", sorted(NODE_DOUBTS))
async def test_javascript_that_could_run_unseen_excuses_nothing(tmp_path: Path, how: str) -> None:
    body, kind = NODE_DOUBTS[how]
    found = await reach(tmp_path, node_test(body), {"sums.js": SUB_BEFORE}, "node --test")
    assert found.not_used is not None and found.not_used.kind == f"reach.{kind}", found


async def test_without_any_of_these_a_test_of_node_is_excused(tmp_path: Path) -> None:
    body = "require('../sums').add(1, 2); new Function('return 1')()"
    assert (await reach(tmp_path, node_test(body), {"sums.js": SUB_BEFORE}, "node --test")).excuses


async def test_a_script_that_no_test_loads_is_not_reached(tmp_path: Path) -> None:
    files = {**NODE, "other.js": "exports.x = 1\n"}
    assert (await reach(tmp_path, files, {"other.js": "exports.x = 2\n"}, "npm test", "adds")).excuses


async def test_a_change_of_both_languages_needs_both_measured(tmp_path: Path) -> None:
    files = {**NODE, **PROJECT}
    changes = {"sums.js": SUB_BEFORE, "calc.py": BEFORE_SUB}
    found = await reach(tmp_path, files, changes, "npm test", "adds")
    assert found.not_used is not None and found.not_used.kind == "reach.no_process"
    both = "python3 -c 'import calc; calc.add(1, 2)' && node --test --test-name-pattern=adds"
    assert (await reach(tmp_path, files, changes, both)).excuses
    assert not (await reach(tmp_path, files, changes, both.replace("add(", "sub("))).excuses


HOSTILE = {
    "a link for coverage": ("rm -rf v8 && ln -s /etc v8", "sums.js"),
    "no directory for coverage": ("rm -rf v8", "sums.js"),
    "a pipe for a report": ("rm -f python.jsonl; mkfifo python.jsonl", "calc.py"),
    "a link for a report": ("mv python.jsonl x; ln -s x python.jsonl", "calc.py"),
    "a huge report": ("head -c 6000000 /dev/zero | tr '\\0' 'x' >> python.jsonl", "calc.py"),
    "no JSON": ("echo '{' >> python.jsonl", "calc.py"),
    "deep JSON": ("python3 -c 'print(chr(91) * 100000)' >> python.jsonl", "calc.py"),
    "another list": ("echo '[\"ran\", 1, 2, 3]' >> python.jsonl", "calc.py"),
    "a broken report of Node": ("echo x >> node.jsonl", "sums.js"),
    "a broken coverage": ("echo '{\"result\": [{}]}' > v8/coverage-1-1-1.json", "sums.js"),
    "a coverage of nothing": ("echo '{\"result\": 1}' > v8/coverage-1-1-1.json", "sums.js"),
    "another file": ("echo '{\"result\": []}' > v8/x.json", "sums.js"),
    "a pipe among the coverage": ("mkfifo v8/coverage-1-1-1.json", "sums.js"),
    "many coverages": ("for n in $(seq 600); do echo '{\"result\": []}' > v8/coverage-$n-1-1.json; done", "sums.js"),
    "a huge coverage": ("head -c 41000000 /dev/zero > v8/coverage-1-1-1.json", "sums.js"),
    "no coverage": ("rm v8/*", "sums.js"),
}


CLEAN = "python3 -c 'import calc' && node -e 'require(\"./sums\")'"


async def test_the_run_that_hostile_measurements_spoil_excuses_by_itself(tmp_path: Path) -> None:
    changes = {"calc.py": BEFORE_SUB, "sums.js": SUB_BEFORE}
    assert (await reach(tmp_path, {**NODE, **PROJECT}, changes, CLEAN)).excuses


@pytest.mark.parametrize("how", sorted(HOSTILE))
async def test_hostile_measurements_excuse_nothing_and_break_nothing(tmp_path: Path, how: str) -> None:
    """REQ-PROOF-007"""
    spoil, path = HOSTILE[how]
    changes = {path: {"calc.py": BEFORE_SUB, "sums.js": SUB_BEFORE}[path]}
    found = await reach(tmp_path, {**NODE, **PROJECT}, changes, f"{CLEAN}; cd $MENDBOT_REACH && {spoil}")
    assert found.not_used is not None
