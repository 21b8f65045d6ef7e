"""What the documents let a reader type or paste is there: commands, options, targets of make, keys, JSON, requests."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cyclopts import CycloptsError
from rich.console import Console

from bot.cli import app
from bot.config import Policy, Settings, parse_policy
from bot.model import Phase, Session, SessionRequest
from bot.rules.runs.session_request import parse_request

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/ko").glob("*.md")),
]
FENCE = re.compile(r"^ *(`{3,})(\w*)\n(.*?)^ *\1$", re.MULTILINE | re.DOTALL)
HOOK = {"MENDBOT_ENABLED"}


def blocks(path: Path, *languages: str) -> Iterator[str]:
    for _, language, body in FENCE.findall(path.read_text(encoding="utf-8")):
        if language in languages:
            yield textwrap.dedent(body)


def typed(path: Path) -> Iterator[str]:
    """Each line of a shell that a page shows: of a block with prompts those behind one, without their comments."""
    for body in blocks(path, "sh", "console"):
        lines = body.replace("\\\n", " ").splitlines()
        prompts = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        yield from prompts or lines


def mendbot_arguments(line: str) -> list[str] | None:
    """The arguments of `mendbot` in a line, behind variables, another program's `--`, and before any redirection."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    names = [index for index, word in enumerate(words) if word in ("mendbot", ".venv/bin/mendbot")]
    if not names or any(word in ("claude", "docker", "pip") for word in words[: names[0]]):
        return None
    rest = words[names[0] + 1 :]
    end = next((index for index, word in enumerate(rest) if word in ("<", ">", "|", "&&")), len(rest))
    return rest[:end]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_of_mendbot_takes_its_arguments(path: Path) -> None:
    wrong = []
    for line in typed(path):
        arguments = mendbot_arguments(line)
        if not arguments:
            continue
        try:
            # a console of its own: the application would keep one, with the width of this process, for all tests
            app.parse_args(arguments, exit_on_error=False, print_error=False, console=Console())
        except CycloptsError as error:
            wrong.append(f"{line}: {error}")
    assert wrong == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_within_a_sentence_is_there(path: Path) -> None:
    """A placeholder may follow, so only the command and its options are looked for, in the reference of both."""
    reference = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"^## mendbot ([\w-]+)$", reference, re.MULTILINE))
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    named = re.findall(r"`mendbot ([a-z][\w-]*)([^`]*)`", prose)
    assert [name for name, _ in named if name not in commands] == []
    options = {option for _, rest in named for option in re.findall(r"--[a-z-]+", rest)}
    assert [option for option in options if not re.search(rf"{option}\b", reference)] == []


def test_commands_are_looked_at() -> None:
    found = [line for path in PAGES for line in typed(path) if mendbot_arguments(line)]
    assert len(found) > 60
    with pytest.raises(CycloptsError):
        app.parse_args(["check", "--no-such-option"], exit_on_error=False, print_error=False)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_target_of_make_is_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w.]+):", makefile, re.MULTILINE))
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z.]+)[` ]", text)) | {
        words[1] for line in typed(path) if (words := line.split())[:1] == ["make"] and len(words) > 1
    }
    assert named - targets - {"test` and"} == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_variable_of_mendbot_is_a_setting(path: Path) -> None:
    known = {str(field.validation_alias) for field in Settings.model_fields.values()} | HOOK
    named = {name for line in typed(path) for name in re.findall(r"\b(MENDBOT_[A-Z_]+)(?==)", line)}
    tests = {"MENDBOT_GOLDEN", "MENDBOT_TEST_ALL", "MENDBOT_TEST_AGENTS"}
    assert named - known - tests == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_configuration_is_valid(path: Path) -> None:
    """YAML whose keys are some of `.github/mendbot.yml` is read as that file; other YAML has to be YAML."""
    for body in blocks(path, "yaml"):
        read = yaml.safe_load(body)
        if isinstance(read, dict) and set(read) & set(Policy.model_fields):
            policy = parse_policy(body)
            assert isinstance(policy, Policy), (body, policy)


def test_the_broken_configuration_is_broken() -> None:
    """It is marked `yml`, so that the test above leaves it out."""
    (broken,) = blocks(ROOT / "docs/configuration.md", "yml")
    assert not isinstance(parse_policy(broken), Policy)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_json_and_toml_can_be_read(path: Path) -> None:
    for body in blocks(path, "json"):
        json.loads(body)
    for body in blocks(path, "toml"):
        tomllib.loads(body)


def test_the_request_for_a_session_is_one() -> None:
    bodies = re.findall(r"-d '(\{.+?\})'", (ROOT / "docs/http.md").read_text(encoding="utf-8"))
    assert bodies
    assert [body for body in bodies if not isinstance(parse_request(json.loads(body)), SessionRequest)] == []


def test_the_session_that_is_shown_is_one() -> None:
    (shown,) = blocks(ROOT / "docs/http.md", "json")
    session = Session.model_validate(json.loads(shown))
    assert json.loads(shown).keys() <= session.model_dump(by_alias=True, mode="json").keys()
    assert session.status.final and session.phases.keys() <= {phase.value for phase in Phase}


def test_python_examples_compile() -> None:
    found = [(path.name, body) for path in PAGES for body in blocks(path, "python")]
    assert found
    for name, body in found:
        compile(body, name, "exec")
