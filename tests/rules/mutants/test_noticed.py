"""Whether real test runs notice the mutants: a strict suite does, one without assertions only where code crashes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.rules.mutants.mutant import Mutant
from tests.rules.mutants.faults import all_mutants


@dataclass(frozen=True)
class Project:
    """A source file, and two suites that execute all of it: one with assertions, one without."""

    path: str
    source: str
    suite: str
    strict: str
    empty: str
    argv: tuple[str, ...]


PYTHON = Project(
    "prices.py",
    '''"""Prices of an order."""

RATES = {"book": 7, "toy": 19}


class Order:
    def __init__(self, country="DE"):
        self.items = []
        self.country = country
        self.open = True

    def add(self, name, price, count=1):
        """Adds an item."""
        if price < 0 or count <= 0:
            raise ValueError(f"no such price or count: {price}, {count}")
        if not self.open:
            return False
        self.items.append((name, price, count))
        return True

    def total(self):
        total = 0
        for name, price, count in self.items:
            rate = RATES[name] if self.country == "DE" else 0
            total += price * count * (100 + rate) // 100
        if total >= 1000 and len(self.items) > 1:
            total = total - 50
        return total

    def close(self):
        self.open = False
        return len(self.items) > 0

    def names(self, skip=None):
        return ", ".join(sorted({name for name, _, _ in self.items if name is not skip}))
''',
    "test_prices.py",
    """import pytest
from prices import Order

def test_an_order():
    order = Order()
    assert order.total() == 0 and order.names() == ""
    assert order.add("book", 100) is True
    assert order.total() == 107
    assert order.add("toy", 200, 2) is True
    assert order.total() == 107 + 476
    assert order.names() == "book, toy"
    assert order.names(skip="toy") == "book"
    assert order.close() is True
    assert order.add("toy", 1) is False
    assert order.total() == 583

def test_limits():
    order = Order("FR")
    for price, count in ((-1, 1), (1, 0), (1, -1)):
        with pytest.raises(ValueError):
            order.add("toy", price, count)
    order.add("toy", 1000)
    assert order.total() == 1000
    order.add("toy", 0, 1)
    assert order.total() == 950
    assert Order().close() is False
    smaller = Order("FR")
    smaller.add("toy", 999)
    smaller.add("book", 0)
    assert smaller.total() == 999
""",
    """from prices import Order

def test_an_order():
    for country in ("DE", "FR"):
        order = Order(country)
        order.add("book", 1000)
        order.add("toy", 2)
        try:
            order.add("toy", -1)
        except ValueError:
            pass
        order.total(), order.close(), order.names(), order.add("toy", 1)
""",
    ("pytest", "-q", "-x", "-p", "no:cacheprovider", "test_prices.py"),
)
NODE = Project(
    "slots.js",
    """'use strict';

class Slots {
  constructor(size = 3) {
    this.size = size;
    this.taken = new Map();
  }

  take(name, hours) {
    if (!name || hours <= 0) throw new RangeError(`no such booking: ${name} ${hours}`);
    if (this.taken.has(name) || this.free() === 0) return false;
    this.taken.set(name, hours);
    return true;
  }

  free() {
    return this.size - this.taken.size;
  }

  price(name, rate = 4) {
    const hours = this.taken.get(name) ?? 0;
    let price = hours * rate;
    if (hours > 8) {
      price -= hours - 8;
    }
    return hours % 2 === 1 && price < 20 ? price + 1 : price;
  }

  labels() {
    return [...this.taken.keys()].map((name) => '#' + name).join(', ');
  }
}

module.exports = { Slots };
""",
    "slots.test.js",
    """const test = require('node:test');
const assert = require('node:assert');
const { Slots } = require('./slots.js');

test('booking', () => {
  const slots = new Slots();
  assert.strictEqual(slots.free(), 3);
  assert.throws(() => slots.take('', 1), RangeError);
  assert.throws(() => slots.take('a', 0), RangeError);
  assert.throws(() => slots.take('a', -1), RangeError);
  assert.strictEqual(slots.take('a', 3), true);
  assert.strictEqual(slots.take('a', 1), false);
  assert.strictEqual(slots.take('b', 5), true);
  assert.strictEqual(slots.take('c', 9), true);
  assert.strictEqual(slots.take('d', 1), false);
  assert.strictEqual(slots.free(), 0);
  assert.strictEqual(slots.labels(), '#a, #b, #c');
});

test('price', () => {
  const slots = new Slots(9);
  slots.take('a', 3); slots.take('b', 5); slots.take('c', 9); slots.take('d', 2); slots.take('e', 8);
  slots.take('f', 4);
  assert.deepStrictEqual(['a', 'b', 'c', 'd', 'e', 'z'].map((name) => slots.price(name)), [13, 20, 35, 8, 32, 0]);
  assert.strictEqual(slots.price('d', 1), 2);
});
""",
    """const test = require('node:test');
const { Slots } = require('./slots.js');

test('all', () => {
  const slots = new Slots();
  try { slots.take('', 1); } catch {}
  slots.take('a', 3); slots.take('b', 9); slots.take('b', 9); slots.free(); slots.labels();
  slots.price('a'); slots.price('b'); slots.price('c');
});
""",
    ("node", "slots.test.js"),
)
FORKS = """
import os, sys, pathlib, pytest
for tree in pathlib.Path(sys.argv[1]).iterdir():
    if (pid := os.fork()) == 0:
        os.chdir(tree)
        output = os.open("output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1), os.dup2(output, 2)
        sys.path.insert(0, str(tree))
        sys.argv = sys.argv[2:]
        os._exit(pytest.console_main())
    (tree / "code").write_text(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
"""
"""Runs pytest in each directory, in a process that has imported pytest already."""


def failures(project: Project, suite: str, faults: tuple[Mutant, ...], place: Path) -> dict[Mutant, str]:
    """The faults with which the suite fails, each with what the run printed."""
    sources = [project.source, *(fault.apply(project.source) for fault in faults)]
    for index, source in enumerate(sources):
        tree = place / str(index)
        tree.mkdir(parents=True)
        (tree / project.path).write_text(source)
        (tree / project.suite).write_text(suite)
    outputs = run_pytest(project.argv, place) if project is PYTHON else run_each(project.argv, place)
    assert outputs[0] == ""
    return {fault: text for index, fault in enumerate(faults, 1) if (text := outputs[index])}


def run_pytest(argv: Sequence[str], place: Path) -> dict[int, str]:
    """What each run that failed printed, by the number of its directory; empty where it passed."""
    env = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", FORKS, place, *argv], cwd=place, env=env, timeout=300, check=True)
    ended = {int(tree.name): ((tree / "code").read_text(), (tree / "output").read_text()) for tree in place.iterdir()}
    return {number: text if code != "0" else "" for number, (code, text) in ended.items()}


def run_each(argv: Sequence[str], place: Path) -> dict[int, str]:
    """The same for a command that starts anew in each directory."""

    def output(tree: Path) -> str:
        env = {"PATH": os.environ["PATH"]}
        run = subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, timeout=100, check=False)
        return run.stdout + run.stderr if run.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        trees = list(place.iterdir())
        return {int(tree.name): text for tree, text in zip(trees, pool.map(output, trees), strict=True)}


@pytest.mark.parametrize("project", [PYTHON, NODE], ids=["pytest", "node"])
def test_a_strict_suite_notices_faults_and_an_empty_one_only_crashes(project: Project, tmp_path: Path) -> None:
    """REQ-PROOF-001"""
    if project is NODE and shutil.which("node") is None:
        pytest.skip("node is not installed")
    faults = all_mutants(project.path, project.source)
    assert len(faults) >= 35
    noticed = failures(project, project.strict, faults, tmp_path / "strict")
    missed = [f"{fault.line}: {fault.before} -> {fault.after}" for fault in faults if fault not in noticed]
    assert len(noticed) >= 0.8 * len(faults), missed
    crashes = failures(project, project.empty, faults, tmp_path / "empty")
    assert len(crashes) <= 0.2 * len(faults), [f"{fault.line}: {fault.before}" for fault in crashes]
    for text in crashes.values():
        assert re.search(r"\b(?!Assertion)[A-Z]\w+Error\b", text)
