"""Finds files that run before the tests and replace code under test there: `conftest.py`, a setup file of Jest,
Vitest or Mocha, a module in a directory of tests."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.rules.syntax import OverLimit, grammar_of, nodes, parse
from bot.rules.tampering.languages import ROLES

if TYPE_CHECKING:
    from tree_sitter import Node

_SETUP = re.compile(
    r"(?:^|/)(?:(?:jest|vitest|vite|mocha|tests?|ava|tap|karma|jasmine|bun)[.-]?[\w.-]*[sS]etup[\w.-]*"
    r"|(?:global)?[sS]etup[._-]?[tT]ests?[\w.-]*|globalSetup)\.[cm]?[jt]sx?$|(?:^|/)__mocks__/"
    r"|(?:^|/)(?:tests?|__tests__|specs?)/(?:[\w-]+/)*(?:(?:\w+[.-])?(?:global[.-]?)?[sS]etup\b[\w.-]*|bootstrap|init|register)"
    r"\.(?:[cm]?[jt]sx?|php)$|(?:^|/)(?:spec|rails|test)_helper\.rb$"
)
_LIBRARY_NAMES = """
pytest _pytest mock requests httpx aiohttp urllib3 responses respx vcr boto3 botocore moto numpy pandas scipy matplotlib
django rest_framework flask fastapi starlette pydantic sqlalchemy alembic celery redis pymongo psycopg psycopg2
freezegun hypothesis faker factory selenium playwright click typer rich yaml attr attrs torch tensorflow sklearn jax
openai anthropic stripe structlog sentry_sdk trio anyio docker kubernetes google azure grpc
"""
_LIBRARIES = frozenset(_LIBRARY_NAMES.split())
_TEST_MODULES = frozenset(("tests", "test", "conftest", "testing", "spec", "specs", "helpers", "fixtures", "support"))
_SWITCHES = re.compile(r"\.(?:testing|TESTING|debug|DEBUG)\s*=\s*(?:True|False)\s*$|\.dependency_overrides\b")
"""What web frameworks document for tests."""
_AUTOMATIC = re.compile(r"\bfixture\b[\s\S]*\bautouse\s*=\s*True")
_HOOK = re.compile(r"(?:pytest_\w+|setUpModule|setup_module|setup_package)")
_SETTERS = re.compile(
    r"^(?:\w+\.)?setattr$|^(?:mock\.|mocker\.|unittest\.mock\.)?patch(?:\.object)?$|^(?:Object|Reflect)\.(?:assign|definePropert\w+|set)$"
    r"|^(?:jest|vi|sinon|mock|t\.mock)\.(?:spyOn|method|stub|replace\w*|mock|doMock|unstable_mockModule|setMock|module)$"
)
_LOADER = re.compile(r"\brequire\.cache\b|\bModule\.(?:_\w+|prototype\.require|wrap\w*)$")
_BY_KEY = re.compile(r"\bsys\.modules\b|\b__dict__\b|\brequire\.cache\b|^vars\(")
_MODULE_PATH = re.compile(r"[A-Za-z_][\w.]*")
_ROOT = re.compile(r"[A-Za-z_$][\w$]*")
_LOADED = re.compile(r"(?:require|import_module|__import__|sys\.modules|import)\s*[(\[]\s*['\"]([^'\"]+)['\"]")
_PATH = re.compile(r"['\"]([^'\"\n]+)['\"]")
_MAX_CHARS = 400


@dataclass(frozen=True, slots=True)
class Replacements:
    """What a file replaces before the tests run: `project` of the project's own code, `other` of libraries. `runs`:
    it has code that runs by itself."""

    project: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()
    runs: bool = False


def is_setup_file(path: str) -> bool:
    """Whether runners of tests load the file first, by the names that their documents give such files."""
    return _SETUP.search(path) is not None


def replacements(path: str, text: str) -> Replacements:
    """What a file that supports tests replaces when it is loaded, or in a fixture that every test uses."""
    grammar = grammar_of(path)
    if grammar not in ("python", "javascript", "typescript", "tsx"):
        return Replacements()
    source = text.encode(errors="replace")
    try:
        return _Finder(source, python=grammar == "python").find(parse(grammar, source).root_node)
    except OverLimit:
        return Replacements(runs=True)


@dataclass(slots=True)
class _Function:
    """A function, and what is in it; `automatic`: it runs without being called by name."""

    end: int
    automatic: bool
    calls: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)


class _Finder:
    def __init__(self, source: bytes, *, python: bool) -> None:
        self.source, self.python = source, python
        self.module = _Function(len(source) + 1, automatic=True)
        self.functions: dict[str, _Function] = {}
        self.stack = [self.module]
        self.imported: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.decorators = ""
        self.decorated = 0
        self.has_automatic_fixture = False

    def find(self, root: Node) -> Replacements:
        for node in nodes(root):
            while self.stack[-1].end <= node.start_byte:
                self.stack.pop()
            match ROLES.get(node.type):
                case "function":
                    self._function(node)
                case "mark":
                    self.decorated = node.end_byte
                case "call" if node.start_byte >= self.decorated:
                    self._call(node)
                case "named":
                    self._named(node)
                case _ if node.type == "decorated_definition":
                    self.decorators = self._text(node)
                case _ if node.type.startswith("import_"):
                    self._import(self._text(node))
        found = list(self._run().items())
        ours = {what for what, module in found if self._is_ours(module)}
        runs = bool(self.module.calls - {"require"}) or self.has_automatic_fixture
        return Replacements(frozenset(ours), frozenset(what for what, _ in found) - ours, runs)

    def _text(self, node: Node | None) -> str:
        if node is None:
            return ""
        end = min(node.end_byte, node.start_byte + _MAX_CHARS)
        return self.source[node.start_byte : end].decode(errors="replace")

    def _run(self) -> Mapping[str, str]:
        """What is replaced in code that runs: of the module, of automatic functions, and of what these call."""
        todo = [self.module, *(one for one in self.functions.values() if one.automatic)]
        found: dict[str, str] = {}
        seen: set[str] = set()
        while todo:
            function = todo.pop()
            found |= function.replaced
            new = function.calls - seen
            seen |= new
            todo += [self.functions[name] for name in new if name in self.functions]
        return found

    def _function(self, node: Node) -> None:
        name = self._text(node.child_by_field_name("name")) or self.names.get(node.start_byte, "")
        if not name:
            return  # a callback belongs to what it is passed to
        marks, self.decorators = self.decorators.partition("def ")[0], ""
        fixture = self.python and _AUTOMATIC.search(marks) is not None
        self.has_automatic_fixture |= fixture
        self.stack.append(_Function(node.end_byte, fixture or (self.python and bool(_HOOK.fullmatch(name)))))
        self.functions[name] = self.stack[-1]

    def _call(self, node: Node) -> None:
        function = node.child_by_field_name("function")
        callee = self._text(function)
        self.stack[-1].calls.add(callee.rpartition(".")[2])
        args = node.child_by_field_name("arguments")
        if args is None or not _SETTERS.search(callee):
            return
        first = self._text(args.named_child(0))
        path = _PATH.match(first)
        target = path[1] if path else self._module_of(first)
        if not path or not self.python or _MODULE_PATH.fullmatch(target):
            self._add(f"{callee}({first})", target)

    def _named(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "variable_declarator":
            value = node.child_by_field_name("value")
            name, loaded = self._text(node.child_by_field_name("name")), _LOADED.search(self._text(value))
            if value is not None:
                self.names[value.start_byte] = name
            if loaded:
                self.imported |= dict.fromkeys(re.findall(_ROOT, name), loaded[1])
        what = self._text(left)
        if left is None or left.type == "identifier" or ("subscript" in left.type and not _BY_KEY.search(what)):
            return
        if _LOADER.search(what):
            self._add(what, ".")
        elif not _SWITCHES.search(f"{what} = {self._text(right)}"):
            self._add(what, self._module_of(what))

    def _add(self, what: str, module: str) -> None:
        if module:
            self.stack[-1].replaced[" ".join(what.split())] = module

    def _module_of(self, text: str) -> str:
        """The module that an expression begins with; empty where it is none."""
        loaded = _LOADED.match(text)
        root = _ROOT.match(text)
        return loaded[1] if loaded else self.imported.get(root[0], "") if root else ""

    def _import(self, text: str) -> None:
        if self.python:
            head, _, names = (
                text.removeprefix("from ").partition(" import ") if text.startswith("from ") else ("", "", "")
            )
            for part in (names or text.removeprefix("import ")).strip("() \n").split(","):
                name, _, other = part.strip().partition(" as ")
                module = head or name
                self.imported[(other or name.partition(".")[0]).strip()] = module.strip()
        elif path := _PATH.search(text):
            self.imported |= dict.fromkeys(_ROOT.findall(text[: path.start()]), path[1])

    def _is_ours(self, module: str) -> bool:
        if not self.python:
            return module.startswith((".", "/", "@/", "~", "#", "src/"))
        root = module.partition(".")[0]
        if not root:  # a relative import: of the tests themselves, unless it leaves their directory
            return module.startswith("..") or module == "."
        return root not in sys.stdlib_module_names | _LIBRARIES | _TEST_MODULES
