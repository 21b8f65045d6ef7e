"""Whether real test runs notice the mutants: a strict suite does, one without assertions only where code crashes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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
    (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "test_prices.py"),
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
    ("node", "--test", "slots.test.js"),
)


def failures(project: Project, suite: str, faults: tuple[Mutant, ...], place: Path) -> dict[Mutant, str]:
    """The faults with which the suite fails, each with what the run printed."""

    def output(index: int, source: str) -> str:
        tree = place / str(index)
        tree.mkdir(parents=True)
        (tree / project.path).write_text(source)
        (tree / project.suite).write_text(suite)
        env = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(project.argv, cwd=tree, env=env, capture_output=True, text=True, timeout=100, check=False)
        shutil.rmtree(tree)
        return run.stdout + run.stderr if run.returncode else ""

    assert output(0, project.source) == ""
    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda at: output(at + 1, faults[at].apply(project.source)), range(len(faults)))
        return {fault: text for fault, text in zip(faults, outputs, strict=True) if text}


@pytest.mark.parametrize("project", [PYTHON, NODE], ids=["pytest", "node"])
def test_a_strict_suite_notices_faults_and_an_empty_one_only_crashes(project: Project, tmp_path: Path) -> None:
    """REQ-PROOF-001"""
    if shutil.which(project.argv[0]) is None:
        pytest.skip(f"{project.argv[0]} is not installed")
    faults = all_mutants(project.path, project.source)
    assert len(faults) >= 35
    noticed = failures(project, project.strict, faults, tmp_path / "strict")
    missed = [f"{fault.line}: {fault.before} -> {fault.after}" for fault in faults if fault not in noticed]
    assert len(noticed) >= 0.8 * len(faults), missed
    crashes = failures(project, project.empty, faults, tmp_path / "empty")
    assert len(crashes) <= 0.2 * len(faults), [f"{fault.line}: {fault.before}" for fault in crashes]
    for text in crashes.values():
        assert re.search(r"\b(?!Assertion)[A-Z]\w+Error\b", text)
