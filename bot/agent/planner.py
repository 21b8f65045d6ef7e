"""Makes the Plan, Architecture and Design artifacts without a model.

They come from the issue's text, the list of the repository's files, and the files' contents, which the caller reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from bot.reports.locale.catalog import t
from bot.rules.tampering.test_source import is_test

MAX_FILES = 20
MAX_GOALS = 10
MAX_SYMBOLS = 30
MAX_TEXT = 100_000
_MAX_PARTS = 30

_CHECKBOX = re.compile(r"^[ \t]*[-*+] \[([ xX])\] +(.+)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]) +(.+)$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n\s*\n|\n(?=\s*[-*+#])")
_WANTING = re.compile(
    r"\b(should|must|needs? to|has to|have to|expected?|fix|make|ensure|return|raise|want)\b|해야|수정|고쳐",
    re.IGNORECASE,
)
_PATH_LIKE = re.compile(r"[\w@.+\-/\\\[\]()]+")
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_CODE_SPAN = re.compile(r"`([^`\n]{1,200})`")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_][\w.]{2,})\(")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_DEFINITION = re.compile(
    r"^[ \t]*(?:export\s+|default\s+|pub\s+|async\s+|static\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|interface|type|const|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)",
    re.MULTILINE,
)


def named_files(text: str, files: Sequence[str]) -> tuple[str, ...]:
    """The repository's files that a text names, in order of first mention, at most 20.

    A file is named by its full path, by the end of its path (stack traces have a machine's own directories), by a
    unique base name, or by its dotted module name. `files` are paths relative to the root. An ambiguous name is
    ignored."""
    index = _by_suffix(files)
    found: dict[str, int] = {}
    text = text[:MAX_TEXT]
    for mention in _PATH_LIKE.finditer(text):
        # brackets may belong to the name (Next.js routes) or to the sentence, and so may a final dot
        path = _longest_suffix(mention[0], index) or _longest_suffix(mention[0].strip("()[]").rstrip("."), index)
        if path:
            found.setdefault(path, mention.start())
    for mention in _DOTTED.finditer(text):
        if path := _module(mention[0], index):
            found.setdefault(path, mention.start())
    return tuple(sorted(found, key=lambda path: found[path]))[:MAX_FILES]


def covering_tests(path: str, files: Sequence[str]) -> tuple[str, ...]:
    """The tests of a file by their names: `test_a.py`, `a_test.go`, `a.test.ts`; the nearest directory first."""
    stem = _subject(path)
    tests = [other for other in files if other != path and is_test(other) and _subject(other) == stem]
    here = PurePosixPath(path).parts
    return tuple(sorted(tests, key=lambda other: (-_shared(here, PurePosixPath(other).parts), other)))


def symbols(text: str) -> tuple[str, ...]:
    """Names of code that a text mentions, in order: those in backticks, and those that are called."""
    text = text[:MAX_TEXT]
    names: dict[str, int] = {}
    for span in _CODE_SPAN.finditer(text):
        if (name := _NAME.match(span[1])) and name[0] == span[1].split("(")[0].strip():
            names.setdefault(name[0], span.start())
    for call in _CALL.finditer(text):
        names.setdefault(call[1], call.start())
    return tuple(sorted(names, key=lambda name: names[name]))[:MAX_SYMBOLS]


def definitions(content: str) -> tuple[str, ...]:
    """The names that a source file defines, in order, found line by line (any common language)."""
    return tuple(dict.fromkeys(match[1] for match in _DEFINITION.finditer(content)))


def plan(title: str, body: str, files: Sequence[str], focus: Sequence[str] = ()) -> dict[str, Any]:
    """The Plan artifact: `title`, `goals`, `doneCriteria` (texts), `files` (paths named or given) and `symbols`."""
    prose = _COMMENT.sub("", _FENCE.sub("\n", body[:MAX_TEXT]))
    boxes = [box[2].strip() for box in _CHECKBOX.finditer(prose)]
    wanting = [sentence for sentence in _sentences(prose) if _WANTING.search(sentence)]
    goals = _distinct([title, *(wanting or _sentences(prose)[:1])])
    text = f"{title}\n{body}"
    return {
        "title": title,
        "goals": goals,
        "doneCriteria": _distinct(boxes) or [*goals[:1], t("en", "plan.all_pass")],
        "files": list(dict.fromkeys((*focus, *named_files(text, files))))[:MAX_FILES],
        "symbols": list(symbols(text)),
    }


def architecture(made_plan: Mapping[str, Any], files: Sequence[str], contents: Mapping[str, str]) -> dict[str, Any]:
    """The Architecture artifact: `components` (each `path`, `defines`, `tests`, `importedBy`), and `languages`.

    `contents` holds the texts that the caller has read; other files are listed without details."""
    paths = [path for path in made_plan["files"] if path in set(files)]
    components = [
        {
            "path": path,
            "defines": list(definitions(contents.get(path, "")))[:MAX_SYMBOLS],
            "tests": list(covering_tests(path, files))[:5],
            "importedBy": _importers(path, contents)[:10],
        }
        for path in paths
    ]
    suffixes = [PurePosixPath(path).suffix for path in (paths or files)]
    languages = sorted({suffix for suffix in suffixes if suffix}, key=lambda s: (-suffixes.count(s), s))
    return {"components": components, "languages": languages[:5]}


def design(made_plan: Mapping[str, Any], made_architecture: Mapping[str, Any]) -> dict[str, Any]:
    """The Design artifact: `steps` (texts), `changes` (each `path`, `symbols` of the task found there) and `tests`."""
    changes = []
    tests: dict[str, None] = {}
    wanted = {name.rpartition(".")[2] for name in made_plan["symbols"]} | set(made_plan["symbols"])
    for component in made_architecture["components"]:
        tests.update(dict.fromkeys(component["tests"]))
        if is_test(component["path"]):
            tests[component["path"]] = None
        else:
            changes.append({"path": component["path"], "symbols": [n for n in component["defines"] if n in wanted]})
    steps = [t("en", "plan.change", what=_described(change)) for change in changes] or [t("en", "plan.find_place")]
    steps.append(t("en", "plan.adjust_tests", tests=", ".join(tests)) if tests else t("en", "plan.add_test"))
    return {"steps": [*steps, t("en", "plan.run_checks")], "changes": changes, "tests": list(tests)}


def _described(change: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in change["symbols"])
    return t("en", "plan.symbols_in", symbols=names, path=change["path"]) if names else str(change["path"])


def _distinct(items: Iterable[str]) -> list[str]:
    return [item for item in dict.fromkeys(item.strip() for item in items) if item][:MAX_GOALS]


def _sentences(prose: str) -> list[str]:
    pieces = [" ".join(piece.split()) for piece in _SENTENCE_END.split(_BULLET.sub(r"\n\n\1\n\n", prose))]
    return [piece for piece in pieces if len(piece) > 3 and not piece.startswith("#")]


def _by_suffix(files: Sequence[str]) -> dict[str, str | None]:
    """Every end of every path, mapped to the path; None if several files share it. A full path maps to itself."""
    index: dict[str, str | None] = {}
    for path in files:
        parts = path.split("/")
        for cut in range(1, len(parts)):
            end = "/".join(parts[cut:])
            index[end] = None if end in index else path
    index.update({path: path for path in files})
    return index


def _longest_suffix(mention: str, index: Mapping[str, str | None]) -> str | None:
    parts = [part for part in mention.replace("\\", "/").split("/") if part not in ("", ".", "..")][-_MAX_PARTS:]
    for cut in range(len(parts)):
        end = "/".join(parts[cut:])
        if end in index:
            return index[end]
    return None


def _module(dotted: str, index: Mapping[str, str | None]) -> str | None:
    parts = dotted.split(".")[:_MAX_PARTS]
    while len(parts) > 1:
        for end in ("/".join(parts) + ".py", "/".join(parts) + "/__init__.py"):
            if index.get(end):
                return index[end]
        parts.pop()
    return None


def _subject(path: str) -> str:
    stem = PurePosixPath(path).stem
    return re.sub(r"^test_|[._](test|spec)s?$|(?<=[a-z0-9])Tests?$", "", stem).lower() or stem


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _importers(path: str, contents: Mapping[str, str]) -> list[str]:
    """The files in `contents` that import this one: exact for Python, else by the end of a quoted path."""
    stem = PurePosixPath(path).stem
    if path.endswith(".py"):
        name = PurePosixPath(path).parent.name if stem == "__init__" else stem
        return [other for other, text in contents.items() if other != path and name in _python_imports(other, text)]
    quoted = re.compile(rf"""['"][./\w@-]*\b{re.escape(stem)}(?:\.\w+)?['"]""")
    return [other for other, text in contents.items() if other != path and quoted.search(text)]


def _python_imports(path: str, text: str) -> frozenset[str]:
    if not path.endswith(".py"):
        return frozenset()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()  # broken code is often what the task is about
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
            names.update(alias.name for alias in node.names)
    return frozenset(names)
