"""Small tests that fail, for the benchmark of fingerprints. Each runner runs them twice, in other directories, on other
lines and with other values, so that the same test fails in two runs with messages that its runner really prints."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bot.rules.failures.errors import printed_errors
from bot.rules.failures.log import read_log

_PYTHON = """
import datetime, json, os, pathlib, random, re, subprocess, tempfile, threading, unittest, uuid
R = random.Random(int(os.environ["VALUES"]))
def word(): return "".join(R.choices("abcdefghij", k=R.randint(3, 9)))
def number(): return R.randint(10, 10_000)
class Cart:
    def __init__(self): self.items = [number() for _ in range(3)]
class TestCart(unittest.TestCase):
    def test_total(self): self.assertEqual(sum(Cart().items), number() + 90_000)
    def test_key(self): {"a": 1}[word()]
    def test_missing_file(self): open(os.path.join(tempfile.mkdtemp(), word() + ".txt"))
    def test_json(self): json.loads("{" + word())
    def test_number(self): int(word())
    def test_object(self): self.assertIs(Cart(), None)
    def test_list(self): self.assertEqual([number(), number()], [1, 2, 3])
    def test_is_in(self): self.assertIn(word(), ["x", "y"])
    def test_less(self): self.assertLess(number() + 10_000, number())
    def test_regex(self): self.assertRegex(word(), r"^\\d+$")
    def test_dict(self): self.assertEqual({"id": str(uuid.UUID(int=R.getrandbits(128)))}, {"id": None})
    def test_attribute(self): getattr(Cart(), "get_" + word())
    def test_day(self): self.assertEqual(datetime.date.fromordinal(700_000 + number()).isoformat(), "2000-01-01")
    def test_command(self): subprocess.run(["sh", "-c", f"exit {R.randint(3, 99)}"], check=True)
    def test_unpack(self): a, b = list(range(R.randint(3, 8)))
    def test_index(self): Cart().items[number()]
    def test_decode(self): bytes([R.randint(0x80, 0xbf)]).decode()
    def test_raises(self):
        with self.assertRaises(KeyError): number()
    def test_thread(self): self.assertEqual(threading.get_ident(), number())
    def test_message(self): raise RuntimeError(f"order {number()} of {word()} has {R.randint(2, 9)} open items")
"""
_NODE = """
const test = require("node:test"), assert = require("node:assert");
let seed = Number(process.env.VALUES);
const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
const number = () => 10 + (next() % 10000);
const word = () => Array.from({length: 3 + (next() % 6)}, () => "abcdefghij"[next() % 10]).join("");
test("total", () => assert.strictEqual(number(), 3));
test("deep", () => assert.deepStrictEqual({id: number()}, {id: 1}));
test("truth", () => assert.ok(number() < 0));
test("missing file", () => require("fs").readFileSync("/tmp/" + word() + "/" + word()));
test("json", () => JSON.parse("{" + word()));
test("missing function", () => ({})["get" + word()]());
test("own message", () => { throw new Error(`order ${number()} of ${word()} is open`); });
test("matches", () => assert.match(word(), /^[0-9]+$/));
test("not equal", () => { const n = number(); assert.notStrictEqual(n, n); });
test("range", () => number().toFixed(500 + number()));
test("throws", () => assert.throws(() => number()));
test("rejects", async () => { throw new TypeError("no " + word() + " in the cart of " + number()); });
"""
_NAMES = ("ada/checkout/shop", "builds/4711/0/shop")


def failing_test_errors(folder: Path) -> Iterator[tuple[str, list[tuple[str, str]], list[tuple[str, str]]]]:
    """For each runner, the errors of the first and of the second run: the name of the test, and the error."""
    python = (sys.executable, "-m")
    runners = {
        "pytest": ("test_cart.py", _PYTHON, (*python, "pytest", "-q", "-p", "no:cacheprovider", "test_cart.py")),
        "unittest": ("test_cart.py", _PYTHON, (*python, "unittest", "test_cart")),
        "node:test": ("cart.test.js", _NODE, ("node", "--test", "cart.test.js")),
    }
    for runner, (name, source, argv) in runners.items():
        runs = []
        for run, place in enumerate(_NAMES):
            tree = folder / runner.replace(":", "-") / place
            tree.mkdir(parents=True)
            (tree / name).write_text("\n" * random.Random(run).randint(1, 40) + source, encoding="utf-8")
            env = {**os.environ, "VALUES": str(17 + 1_000 * run)}
            env.pop("NODE_TEST_CONTEXT", None)
            done = subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, check=False)
            runs.append(
                [(one.test, error) for error, one in printed_errors(read_log(done.stdout + done.stderr)).items()]
            )
        yield runner, *([(test, error) for test, error in run if test] for run in runs)
