"""Decides whether a run of tests executed what a change altered: evidence about whose failure it is.

A failure is excused only where everything that the change alters was measured and nothing of it ran. Each doubt makes
the evidence unusable, never the failure excused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from bot.model.reasons import Reason
from bot.rules.patches.document_files import is_document
from bot.rules.reach.code_blocks import Block, changed_blocks, language_of
from bot.rules.reach.reports import Reports, Script
from bot.rules.reasons import make_reason
from bot.rules.tampering.weakened_tests import FileTexts

MAX_FILES = 200
"""The limit of changed files; a larger change is not measured."""

_MAX_SHOWN = 200
_MAX_TEXT = 100
_SCRATCH = re.compile(r"/(?:tmp|var/tmp|dev/shm|home/bot)/")
"""Where only programs write that run in the sandbox."""
_AT_SETUP = frozenset({"setup.py"})
"""Files that run before the checks do, when the project is installed."""


@dataclass(frozen=True, slots=True)
class Reach:
    """`executed` are the lines at which changed code begins that ran, with their files. Where the run shows nothing,
    `not_used` is why."""

    executed: frozenset[tuple[str, int]] = frozenset()
    not_used: Reason | None = None
    ran: bool | None = None
    """Whether changed code is known to have run, and was not only read as data; None where neither is known."""

    @property
    def kind(self) -> Literal["measured", "not_used"]:
        return "measured" if self.not_used is None else "not_used"

    @property
    def excuses(self) -> bool:
        """Whether the failure is not due to the change: nothing that the change alters has run."""
        return self.not_used is None and not self.executed


@dataclass(frozen=True, slots=True)
class ChangedCode:
    """A changed file as far as it can be measured. `language` is "" for a document, which has no blocks.

    `lengths` are those of its text after and before the change, in units of UTF-16, the first one alone where `added`:
    there was no such file before."""

    path: str
    language: str
    added: bool
    lengths: tuple[int, ...]
    blocks: tuple[Block, ...] = ()


def changed_code(files: Sequence[FileTexts]) -> tuple[ChangedCode, ...] | Reason:
    """What a run has to show of each file of a change; the reason where no run can show it.

    A change that alters no code at all gives no file. Parses each text: not for the event loop."""
    if len(files) > MAX_FILES:
        return make_reason("reach.too_many", limit=MAX_FILES)
    found = []
    for file in files:
        code = _changed(file)
        if isinstance(code, Reason):
            return code
        if code is not None:
            found.append(code)
    return tuple(found)


def _changed(file: FileTexts) -> ChangedCode | Reason | None:
    if file.before == file.after:
        return make_reason("reach.other_file", path=file.path)  # a mode, or what is no text
    if is_document(file.path):
        return ChangedCode(file.path, "", file.before is None, ())
    language = language_of(file.path)
    if not language or file.path.endswith(".pyi") or PurePosixPath(file.path).name in _AT_SETUP:
        return make_reason("reach.other_file", path=file.path)
    if file.after is None:
        return make_reason("reach.deleted", path=file.path)
    blocks = changed_blocks(file.path, file.before, file.after)
    if blocks is None:
        return make_reason("reach.unparsed", path=file.path)
    texts = [text for text in (file.after, file.before) if text is not None]
    lengths = tuple(len(text.encode("utf-16-le", "replace")) // 2 for text in texts)
    return ChangedCode(file.path, language, file.before is None, lengths, blocks) if blocks else None


def reach_of(
    code: Sequence[ChangedCode], python: Reports, node: Reports, scripts: Sequence[Script], tree: str
) -> Reach:
    """What the processes of a run show together. `scripts` are those that Node ran; `tree` is an absolute path.

    Of no use where a language shows nothing and no changed code is known to have run."""
    if code and not python.processes and not node.processes:
        return Reach(not_used=make_reason("reach.no_process", language="Python / Node.js"))
    parts = (_python_reach(code, python), _node_reach(code, node, scripts, tree))
    executed = {place for part in parts for place in part.executed}
    unknown = next((part.not_used for part in parts if part.not_used is not None), None)
    data = {(file.path, 1) for file in code if file.path in python.opened | node.opened}
    ran = True if executed else None if unknown is not None and not data else False
    executed |= data
    executed |= {(file.path, 1) for file in code if file.added and _directory(file.path) in python.listed}
    if executed:
        return Reach(frozenset(sorted(executed)[:_MAX_SHOWN]), ran=ran)
    return Reach(not_used=unknown, ran=ran)


def _python_reach(code: Sequence[ChangedCode], reports: Reports) -> Reach:
    """The changed blocks of Python that ran."""
    doubt = _first_doubt(reports.doubts)
    own = [file for file in code if file.language == "python"]
    if doubt is not None:
        return Reach(not_used=doubt)
    if own and not reports.processes:
        return Reach(not_used=make_reason("reach.no_process", language="Python"))
    executed: set[tuple[str, int]] = set()
    ran: dict[tuple[str, str], list[int]] = {}
    for path, line, name in reports.ran:
        ran.setdefault((path, name), []).append(line)
    for file in own:
        for block in file.blocks:
            lines = ran.get((file.path, "<module>" if block.is_file else block.name), ())
            if any(block.is_file or block.first_line <= line <= block.line for line in lines):
                executed.add((file.path, block.line))
    return Reach(frozenset(executed))


def _node_reach(code: Sequence[ChangedCode], reports: Reports, scripts: Sequence[Script], tree: str) -> Reach:
    """The changed blocks of JavaScript and TypeScript that ran."""
    own = [file for file in code if file.language == "javascript"]
    doubt = _first_doubt(reports.doubts)
    if doubt is not None:
        return Reach(not_used=doubt)
    if not own:
        return Reach()
    if not reports.processes or not scripts:
        return Reach(not_used=make_reason("reach.no_process", language="Node.js"))
    by_path: dict[str, list[Script]] = {}
    for script in scripts:
        by_path.setdefault(script.path, []).append(script)
        doubt = _unlike_sources(script, tree, own)
        if doubt is not None:
            return Reach(not_used=doubt)
    executed: set[tuple[str, int]] = set()
    for file in own:
        runs = by_path.get(f"{tree}/{file.path}", [])
        if any(not script.functions or script.functions[0][:2] != (0, file.lengths[0]) for script in runs):
            return Reach(not_used=make_reason("reach.transformed", path=file.path))
        if not runs and _TYPED.search(file.path):
            return Reach(not_used=make_reason("reach.transformed", path=file.path))
        executed |= {(file.path, block.line) for block in file.blocks if any(_ran(block, script) for script in runs)}
    return Reach(frozenset(executed))


def _ran(block: Block, script: Script) -> bool:
    """Whether the innermost function that holds the block's beginning has run; V8 leaves out functions within one that
    has not."""
    around = [each for each in script.functions if each[0] <= block.offset < each[1]]
    if block.is_file or not around:
        return True  # the file itself was loaded, or the ranges are none of this file
    return min(around, key=lambda each: each[1] - each[0])[2] > 0


_TYPED = re.compile(r"\.(?:[cm]?ts|tsx|jsx)$")
_PACKAGE = re.compile(r"/node_modules/(?P<name>(?:@[^/]+/)?[^/]+)/")
_BUILDERS = re.compile(
    r"(?:@babel/core|@swc/core|@esbuild-kit/.*|@parcel/.*|@rspack/.*|@rollup/.*|@vitest/.*|@vue/compiler-.*|babel-.*"
    r"|c8|coffeescript|esbuild|esbuild-register|eslint|istanbul-lib-instrument|jest.*|jiti|jsdom|mini-css.*|nyc|parcel"
    r"|prettier|proxyquire|rewire|rollup|standard|sucrase|svelte|terser|ts-jest|ts-node|tsx|typescript|uglify-js|vite"
    r"|vite-node|vitest|webpack|xo)$"
)
"""Packages that run code in another form than that of its file, or read it as data."""

_BUILT = re.compile(r"(?:^|/)(?:dist|build|out|\.next|\.nuxt|\.svelte-kit|\.cache|coverage|generated|tmp)/")


def _unlike_sources(script: Script, tree: str, own: Sequence[ChangedCode]) -> Reason | None:
    """Why the run may execute changed code under another name or in another form; None for a plain script."""
    if not script.path:
        # a script that is made in the program has no file, and one that jest runs has its path alone
        plain = script.url.startswith(("[eval", "[worker eval", "wasm:")) or not script.url
        return None if plain else make_reason("reach.unnamed", what=script.url[:_MAX_TEXT])
    shown = script.path[-_MAX_TEXT:]
    package = _PACKAGE.search(script.path)
    if package is not None and _BUILDERS.match(package["name"]):
        return make_reason("reach.builder", what=package["name"][:_MAX_TEXT])
    if any(_is_copy(script, tree, file) for file in own):
        return make_reason("reach.copy", what=shown)
    relative = script.path.removeprefix(f"{tree}/")
    if relative == script.path:
        return make_reason("reach.unnamed", what=shown) if _SCRATCH.match(script.path) else None
    if package is None and _BUILT.search(relative) and not any(file.path == relative for file in own):
        return make_reason("reach.built", what=shown)
    return None


def _is_copy(script: Script, tree: str, file: ChangedCode) -> bool:
    """Whether a script is another file of the same name and the same length."""
    if script.path == f"{tree}/{file.path}" or PurePosixPath(script.path).name != PurePosixPath(file.path).name:
        return False
    return bool(script.functions) and script.functions[0][1] in file.lengths


def _directory(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _first_doubt(doubts: Sequence[tuple[str, str]]) -> Reason | None:
    for kind, what in doubts:
        match kind:
            case "copy":
                return make_reason("reach.copy", what=what)
            case "compiled":
                return make_reason("reach.compiled", what=what)
            case "child" | "environment":
                return make_reason("reach.child", what=what)
            case "tracer":
                return make_reason("reach.tracer", what=what)
            case "version":
                return make_reason("reach.version", what=what)
            case _:
                return make_reason("reach.malformed")
    return None
