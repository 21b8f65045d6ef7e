"""The stories that `make demo` tells: a repository, the issues that people label, what the scripted agent says."""

from __future__ import annotations

import difflib
import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from demo.driver import Stage
from demo.published_projects import fetch_sdists

SAMPLES = Path(__file__).parents[1] / "samples"
POCKET = "octo/pocket"
TOOLS = "octo/tools"
HUMANIZE = "octo/humanize"


@dataclass(frozen=True, slots=True)
class Filed:
    """An issue that somebody files and labels."""

    title: str
    body: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """One change that the scripted agent will propose: a unified diff of one file."""

    path: str
    patch: str


@dataclass(frozen=True, slots=True)
class IssueAnswers:
    """What the scripted agent answers for one issue: the test that is wanted first, if it writes one, and the fix."""

    fix: Answer
    test: Answer | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """`answers[n]` is what the agent says at attempt n + 1; `expected` holds the issues of each pull request.

    With `act`, people do more than file and label issues: it plays the story and keeps its promises on the stage."""

    name: str
    repo: str
    files: Mapping[str, bytes]
    answers: tuple[tuple[Answer, ...], ...]
    said: str
    issues: tuple[Filed, ...] = ()
    expected: tuple[tuple[int, ...], ...] = ()
    act: Callable[[Stage], None] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """What else the bot's environment has."""
    by_issue: Mapping[int, IssueAnswers] = field(default_factory=dict)
    """What the agent answers for these issues, in place of `answers`."""
    drafts: tuple[int, ...] = ()
    """The issues whose pull request is a draft, as nothing shows that its change solves them."""


def diff(path: str, before: str, after: str) -> Answer:
    """The unified diff of one file, as an agent would give it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}" if before else "/dev/null",
        f"b/{path}",
    )
    return Answer(path, "".join(lines))


def issues_scenario() -> Scenario:
    """The three issues of `tools_scenario`, and two of a fault that no check shows: for one the agent first writes a
    test that fails, so its fix is proven; for the other it writes none."""
    found, more = tools_scenario(), sample("proof")
    greeting, notes = more["greeting/greeting.py"].decode(), more["notes/notes.py"].decode()
    test = (
        "from __future__ import annotations\n\nfrom greeting import render\n\n\n"
        'def test_an_account_without_a_name_is_greeted() -> None:\n    assert render({}) == "Hello, stranger!"\n'
    )
    return replace(
        found,
        files={**found.files, **more},
        issues=(
            *found.issues,
            Filed(
                "render() crashes with KeyError",
                "`render({})` in `greeting/greeting.py` raises `KeyError: 'name'`; it should greet a stranger.",
                ("component:greeting",),
            ),
            Filed(
                "The newest notes are in the wrong order",
                "`newest` in `notes/notes.py` shows notes of the same minute in the wrong order.",
                ("component:notes",),
            ),
        ),
        by_issue={
            4: IssueAnswers(
                diff(
                    "greeting/greeting.py",
                    greeting,
                    greeting.replace('account["name"]', 'account.get("name", "stranger")'),
                ),
                diff("greeting/test_stranger.py", "", test),
            ),
            5: IssueAnswers(
                diff("notes/notes.py", notes, notes.replace("sorted(notes, reverse=True)", "sorted(notes)[::-1]"))
            ),
        },
        expected=(*found.expected, (4,)),
        drafts=(5,),
        said=f"{found.said}; #4 and #5 are of faults that no check shows",
    )


def tools_scenario() -> Scenario:
    """Three issues of a sample, each of a fault that its checks show: lint findings for the fixers, a failing test for
    the agent, whose first try is wrong."""
    files = sample("tools")
    module = "duration/duration.py"
    code = files[module].decode()
    wrong = code.replace("_FORM.fullmatch(text)", "_FORM.fullmatch(text.strip())")
    right = code.replace("_FORM.fullmatch(text)", '_FORM.fullmatch(text.replace(" ", ""))')
    return Scenario(
        name="issues",
        repo=TOOLS,
        files=files,
        issues=(
            Filed(
                "Unused imports in the table module",
                "`table/table.py` imports `os` and `sys` and uses neither.",
                ("component:table",),
            ),
            Filed(
                "The table module is not formatted like the rest",
                "Quotes and spacing in `table/table.py` differ from every other file. The formatter should do.",
                ("component:table",),
            ),
            Filed(
                "parse_duration refuses a space",
                "`parse_duration('1h 30m')` raises `ValueError`; people write it that way. See `duration/duration.py`.",
                ("component:duration",),
            ),
        ),
        answers=((diff(module, code, wrong),), (diff(module, wrong, right),)),
        expected=((1, 2), (3,)),
        said="issues #1 and #2 go to the project's own fixers; #3 goes to a scripted stand-in for a coding agent",
    )


def published_scenario() -> Scenario:
    """A published project with the next release's tests; the agent offers a wrong diff, then the real one."""
    old, new = (_unpack(archive) for archive in fetch_sdists("humanize", ("4.15.0", "4.16.0")))
    module, tests = "src/humanize/filesize.py", "tests/test_filesize.py"
    files = {**old, tests: new[tests], ".github/mendbot.yml": _HUMANIZE_POLICY}
    before, after = old[module].decode(), new[module].decode()
    wrong = before.replace("min(log(abs_bytes, base), len(suffix))", "min(round(log(abs_bytes, base)), len(suffix))")
    return Scenario(
        name="published",
        repo=HUMANIZE,
        files=files,
        issues=(
            Filed(
                "naturalsize says 1000.0 kB instead of 1.0 MB",
                "`humanize.naturalsize(999999)` gives `1000.0 kB`: the number is rounded up to the next unit but the "
                "unit stays. Six cases of `tests/test_filesize.py` fail; the code is in `src/humanize/filesize.py`.",
            ),
        ),
        answers=((diff(module, before, wrong),), (diff(module, wrong, after),)),
        expected=((1,),),
        said="humanize 4.15.0 with 4.16.0's tests; a scripted stand-in for a coding agent offers a wrong diff first",
    )


_HUMANIZE_POLICY = b"""\
setup: >-
  python3 -m venv .venv && SETUPTOOLS_SCM_PRETEND_VERSION=4.15.0
  .venv/bin/pip install -qq --editable '.[tests]'
checks:
  lint: { command: ruff check --no-fix . }
  typecheck: { command: mypy src }
  test: { command: .venv/bin/python -m pytest -q -o addopts= }
"""


def sample(name: str) -> dict[str, bytes]:
    """A sample's files, without what tools leave there when someone works on it."""
    root = SAMPLES / name
    left_behind = (SAMPLES / "pocket" / ".gitignore").read_text(encoding="utf-8").replace("/", "").split()
    paths = (path.relative_to(root) for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path): (root / path).read_bytes() for path in paths if not set(left_behind) & set(path.parts)}


def _unpack(archive: bytes) -> dict[str, bytes]:
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None and path.name != "PKG-INFO" and path.parts[:2] != (".github", "workflows"):
                files[str(path)] = content.read()
    return files
