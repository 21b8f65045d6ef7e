"""The arguments by which each test runner runs only some tests, as literal tables.

Names come from untrusted output. A pattern holds only letters, digits, blanks and the signs of the pattern itself; each
other character of a name is a `.` in it, so that no shell or package manager on the way can read it otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.rules.test_runners.names import Titles, titles

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """Arguments that select, and the arguments that the command keeps. `first`: they stand before all others."""

    words: Words
    kept: Words
    first: bool = False


Select = Callable[[Words, Sequence[str]], Added | None]


def _pattern(tests: Sequence[str], start: str) -> str | None:
    """A regular expression that matches the whole names of these tests, `start` being what may stand before them."""
    found = [_title_pattern(titles(test)) for test in tests]
    return None if None in found else f"{start}({'|'.join(filter(None, found))})$"


def _title_pattern(name: Titles) -> str | None:
    # titles are joined by a blank in a full name, or one title holds the sign that separates them
    whole = " (. )?".join(_plain(title) for title in name.titles)
    return f"{whole}{'( .[0-9]+.)?' if name.number else ''}" if whole.strip(" .+") else None


def _plain(text: str) -> str:
    return "".join(map(_sign, text)).replace(" ", " +")


def _sign(character: str) -> str:
    if ord(character) > 0xFFFF:
        return ".."  # two units of UTF-16, which JavaScript matches one by one
    return character if character.isalnum() or character in "_ -" else "."


def _node_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    names = [_node_title(titles(test)) for test in tests]
    if None in names:
        return None
    return Added((f"--test-name-pattern=^({'|'.join(filter(None, names))})$",), arguments, first=bool(arguments))


def _node_title(name: Titles) -> str | None:
    """The test's own title, before which others may stand: older versions of Node compare with the title alone."""
    *above, own = name.titles
    whole = _title_pattern(Titles("", (own,), name.number))
    return whole and (f"({' (. )?'.join(map(_plain, above))} (. )?)?{whole}" if above else whole)


def _node_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    return None if _positional(arguments) else Added(tuple(paths), arguments)


def _jest_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    pattern = _pattern(tests, "(^| )")
    if pattern is None or "--" in arguments:
        return None
    files = {titles(test).file for test in tests}
    below = () if "" in files or _positional(arguments) else tuple(map(_jest_path, sorted(files)))
    verbose = () if "--verbose" in arguments else ("--verbose",)
    # an option after files, as `-t` takes exactly one value and `--verbose` none
    return Added((*below, *verbose, "-t", pattern), arguments)


def _jest_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    if _positional(arguments):
        return None
    return Added((*map(_jest_path, paths), "--verbose"), arguments)


def _jest_path(path: str) -> str:
    """The pattern of a path, which stands in Jest's arguments as a regular expression."""
    return f"/{''.join(map(_sign, path.removeprefix('./')))}$"


def _vitest_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    pattern = _pattern(tests, "(^| )")
    return (
        None if pattern is None or "--" in arguments else Added((*_vitest_report(arguments), "-t", pattern), arguments)
    )


def _vitest_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    own = arguments[1:] if arguments[:1] == ("run",) else arguments
    return None if _positional(own) else Added((*paths, *_vitest_report(arguments)), arguments)


def _vitest_report(arguments: Words) -> Words:
    return () if any(word.startswith("--reporter") for word in arguments) else ("--reporter=verbose",)


def _mocha_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    pattern = _pattern(tests, "(^| )")
    return None if pattern is None or "--" in arguments else Added(("-g", pattern), arguments)


def _mocha_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    return None if _positional(arguments) else Added(tuple(paths), arguments)


_UNIT_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+$")


def _unittest_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    names = [titles(test).titles[-1] for test in tests]
    if not all(map(_UNIT_NAME.match, names)):
        return None
    return _unittest([f"*{name}" for name in names], arguments)


def _unittest_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    stems = [path.rpartition("/")[2].removesuffix(".py") for path in paths]
    if not all(path.endswith(".py") for path in paths) or not all(map(str.isidentifier, stems)):
        return None
    return _unittest([pattern for stem in stems for pattern in (f"{stem}.*", f"*.{stem}.*")], arguments)


def _unittest(patterns: Sequence[str], arguments: Words) -> Added:
    verbose = () if {"-v", "--verbose"} & {*arguments} else ("-v",)
    kept = tuple(word for word in arguments if word not in ("-q", "--quiet", "-f", "--failfast"))
    return Added((*verbose, *(word for one in patterns for word in ("-k", one))), kept)


_GO_TEST = re.compile(r"(?:(?P<package>[\w./~-]+)\.)?(?P<name>(?:Test|Example|Fuzz)\w*)(?:/.*)?$")


def _go_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    found = [_GO_TEST.match(test) for test in tests]
    names = sorted({match["name"] for match in found if match is not None})
    if None in found:
        return None
    packages = {match["package"] or "" for match in found if match is not None}
    where = ("./...",) if "" in packages else tuple(sorted(packages))
    return _go(arguments, ("-run", f"^({'|'.join(names)})$"), where)


def _go_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    if not all(path.endswith("_test.go") for path in paths) or arguments.count("./...") != 1:
        return None
    return _go(arguments, (), tuple(sorted({f"./{path.rpartition('/')[0]}" for path in paths})))


def _go(arguments: Words, options: Words, packages: Words) -> Added | None:
    """A result that Go has stored is none of this run, hence `-count=1`; without `-v` no test that passed is named."""
    if "-args" in arguments or "--args" in arguments:
        return None
    kept = tuple(word for one in arguments for word in (packages if one == "./..." else (one,)))
    verbose = () if "-v" in arguments else ("-v",)
    return Added((*verbose, "-count=1", *options), kept, first=True)


_CARGO_TEST = re.compile(r"(?:.* › )?(?P<name>\w+(?:::\w+)*)$")


def _cargo_tests(arguments: Words, tests: Sequence[str]) -> Added | None:
    found = [_CARGO_TEST.match(titles(test).titles[-1]) for test in tests]
    if None in found or _positional(arguments[: arguments.index("--")] if "--" in arguments else arguments):
        return None
    names = sorted({match["name"] for match in found if match is not None})
    return Added((*(() if "--" in arguments else ("--",)), "--exact", *names), arguments)


def _cargo_files(arguments: Words, paths: Sequence[str]) -> Added | None:
    found = [re.fullmatch(r"(?:.*/)?tests/(\w[\w-]*)\.rs", path) for path in paths]
    if None in found or "--" in arguments or _positional(arguments):
        return None
    return Added(tuple(word for match in found if match is not None for word in ("--test", match[1])), arguments)


_VALUED = frozenset(
    (
        *("-c", "--config", "--reporter", "--reporters", "-R", "-r", "--require", "--import", "--loader", "--project"),
        *("--env", "--environment", "--timeout", "--testTimeout", "--maxWorkers", "-w", "--root", "--rootDir", "--ui"),
        *("-u", "-O", "--reporter-option", "--reporter-options", "--extension", "--package", "-p", "--features"),
        *("--manifest-path", "--target", "--profile", "-j", "--jobs", "--coverageReporters", "--pool", "--dir"),
    )
)
"""Options of the runners above whose value is the next word."""


def _positional(arguments: Words) -> bool:
    """Whether an argument may be a file, a folder or a filter."""
    return any(
        not word.startswith("-") and (at == 0 or arguments[at - 1] not in _VALUED) for at, word in enumerate(arguments)
    )


BY_NAME: dict[str, Select] = {
    "unittest": _unittest_tests,
    "node": _node_tests,
    "jest": _jest_tests,
    "vitest": _vitest_tests,
    "mocha": _mocha_tests,
    "go": _go_tests,
    "cargo": _cargo_tests,
}
BY_FILE: dict[str, Select] = {
    "unittest": _unittest_files,
    "node": _node_files,
    "jest": _jest_files,
    "vitest": _vitest_files,
    "mocha": _mocha_files,
    "go": _go_files,
    "cargo": _cargo_files,
}

SELECTS = {
    "unittest": frozenset({"-k"}),
    "node": frozenset({"--test-name-pattern"}),
    "jest": frozenset({"-t", "--testNamePattern", "--runTestsByPath", "-f", "--onlyFailures"}),
    "vitest": frozenset({"-t", "--testNamePattern"}),
    "mocha": frozenset({"-g", "--grep", "-f", "--fgrep"}),
    "go": frozenset({"-run", "--run"}),
    "cargo": frozenset({"--exact"}),
}
"""Options by which a command selects tests already."""
