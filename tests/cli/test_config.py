"""`mendbot config`, and what is published of the configuration: its JSON Schema and its page."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.config import config
from bot.config import VERB_NAMES, Policy, parse_policy, policy_schema
from bot.errors import UserError
from bot.repo_config.json_schema import describe_schema
from bot.reports.locale.reasons import english

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "mendbot.schema.json"
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def written(where: Path, text: str) -> Path:
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(text, encoding="utf-8")
    return where


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository; the working directory is one of its own."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    return tmp_path


def test_a_good_file_is_one_line_that_says_what_it_sets(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(repo / ".github/mendbot.yml", "max_attempts: 5\nchecks: {test: {command: make test}}\nlanguage: null\n")
    assert config(["check"]) == 0
    assert capsys.readouterr().out == (
        '../../.github/mendbot.yml: good; beyond the defaults: checks.test.command: "make test", max_attempts: 5\n'
    )


def test_a_file_that_says_what_holds_anyway_sets_nothing(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert config(["check", str(written(repo / "f.yml", "max_attempts: 3\n"))]) == 0
    assert capsys.readouterr().out == f"{repo}/f.yml: good; the defaults are in force\n"


def test_problems_are_lines_that_editors_can_jump_to(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(Path("f.yml"), "max_attempts: 3\nchecks:\n  tets: {}\nlanguage: fr\n")
    assert config(["check", "f.yml"]) == 1
    told = capsys.readouterr()
    assert told.out == (
        "f.yml:3:3: checks.tets: unknown key; did you mean `test`?\nf.yml:4:11: language: must be en or ko, got 'fr'\n"
    )
    assert told.err == ""


def test_what_is_wrong_with_the_whole_file_has_no_key(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("f.yml").write_bytes(b"a: 1\nb: \xff\n")
    assert config(["check", "f.yml"]) == 1
    assert capsys.readouterr().out == "f.yml:2:1: is not UTF-8 text: save it in that encoding\n"


def test_json_is_one_document_good_or_bad(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = written(Path("good.yml"), "trigger_label: mend\n"), written(Path("bad.yml"), "\nmax_attempts: x\n")
    assert config(["check", str(good), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["valid"], told["problems"]) == ("good.yml", True, [])
    assert Policy.model_validate(told["policy"]) == Policy(trigger_label="mend")
    assert config(["check", str(bad), "--json"]) == 1
    message = "must be a whole number from 1 to 100, got 'x'"
    assert json.loads(capsys.readouterr().out) == {
        "file": "bad.yml",
        "valid": False,
        "problems": [{"key": "max_attempts", "message": message, "line": 2, "column": 15}],
        "policy": None,
    }


def test_a_file_of_any_size_is_judged_by_its_first_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    assert config(["check", "/dev/zero"]) == 1
    assert capsys.readouterr().out.startswith("/dev/zero:1:1: is larger than 64 KiB")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere.yml", "no such file; name one, or make it"),
        (".", "cannot be read (Is a directory)"),
        ("a\0b", "cannot be read (embedded null byte)"),
        ("~nobody-of-this-name/x", "cannot be read"),
        ("x" * 5000, "cannot be read (File name too long)"),
    ],
)
def test_a_file_that_cannot_be_read_is_bad_input(repo: Path, name: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        config(["check", name])
    assert why in str(error.value)


def test_without_a_file_at_its_usual_place_the_place_is_told(repo: Path) -> None:
    with pytest.raises(UserError, match=r"^\.\./\.\./\.github/mendbot\.yml: no such file"):
        config(["check"])


@pytest.mark.parametrize("name", [".github/mendbot.yaml", "mendbot.yml", ".mendbot.yml"])
def test_a_file_that_is_never_read_is_told_from_none(repo: Path, name: str) -> None:
    written(repo / name, "max_attempts: 5\n")
    with pytest.raises(UserError) as error:
        config(["check"])
    assert str(error.value) == f"../../{name}: only .github/mendbot.yml is read; move the file there"
    written(repo / ".github/mendbot.yml", "")
    assert config(["check"]) == 0


def test_outside_of_a_repository_the_working_directory_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / ".github/mendbot.yml", "")
    assert config(["check"]) == 0
    assert capsys.readouterr().out == ".github/mendbot.yml: good; the defaults are in force\n"


def test_nothing_of_a_file_reaches_the_terminal_as_a_command(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = '"\\e[31m\\u202e\\n::error::x": 1\nlanguage: "\\e]0;x\\a"\ntrigger_label: "mend\\e[2J"\n'
    assert config(["check", str(written(Path("evil.yml"), evil))]) == 1
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2
    assert out.replace("\n", "").isprintable()
    assert config(["check", str(written(Path("evil.yml"), evil.splitlines()[2]))]) == 0
    assert capsys.readouterr().out.rstrip("\n").isprintable()


# ---- what is published


def test_the_committed_schema_is_the_one_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """K-1."""
    assert config(["schema"]) == 0
    assert SCHEMA.read_text(encoding="utf-8") == capsys.readouterr().out, (
        "renew it: mendbot config schema > docs/mendbot.schema.json"
    )


def test_the_schema_says_what_it_is_and_names_no_address_of_its_own() -> None:
    schema = policy_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "Mendbot: .github/mendbot.yml"
    assert "$id" not in schema


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for inner in schema.values():
            yield from objects(inner)


def test_every_section_is_closed_and_every_key_has_one_line_of_help() -> None:
    found = list(objects(policy_schema()))
    assert len(found) == 5
    for section in found:
        assert section["additionalProperties"] is False
        for key, about in section["properties"].items():
            assert re.fullmatch(r"[A-Z][^\n|]+\.", about.get("description", "")), key


def test_every_section_that_a_key_refers_to_is_there() -> None:
    schema = policy_schema()
    names = re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))
    assert set(names) == set(schema["$defs"])


def rows(section: dict[str, Any], above: str = "") -> Iterator[str]:
    """The page's table, made from the schema: one row for each key, the checks' alike in one."""
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for key, about in section["properties"].items():
        inner = definitions.get(about.get("$ref", "").rpartition("/")[2])
        if inner is None:
            default = about["default"]
            shown = "" if default in (None, []) else f"`{default if isinstance(default, str) else json.dumps(default)}`"
            yield f"| `{above}{key}` | {english(describe_schema(about))} | {shown or '–'} | {about['description']} |"
        elif above != "checks.":
            yield from rows(inner, f"{above}{key}.")
        elif key == "test":
            yield from rows(inner, "checks.CHECK.")


def test_the_page_shows_the_commands_as_they_answer(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = re.search(r"```console\n\$ mendbot config check\n(.*?)```", PAGE, re.DOTALL)
    broken = re.search(r"```yml\n(.*?)```", PAGE, re.DOTALL)
    assert said is not None and broken is not None
    written(repo / ".github/mendbot.yml", broken[1])
    assert config(["check"]) == 1
    assert capsys.readouterr().out.replace("../../", "") == said[1]


def test_the_page_lists_every_key_with_its_default_and_its_help() -> None:
    """K-1."""
    wanted = [
        "| Key | Value | Default | What it says |",
        "|---|---|---|---|",
        *rows(json.loads(SCHEMA.read_text(encoding="utf-8"))),
    ]
    section = PAGE.split("\n## Keys\n", 1)[1].split("\n## ", 1)[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    assert table == wanted, "docs/configuration.md wants this table:\n" + "\n".join(wanted)


def test_the_pages_examples_are_good_and_its_verbs_are_all() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) > 1
    assert [found for found in map(parse_policy, examples) if not isinstance(found, Policy)] == []
    recipes = PAGE.split("\n## How do I", 1)[1].split("\n## ", 1)[0]
    answers = re.findall(r"^\| .+ \| `([^`]+)`[^|]*\|$", recipes, re.MULTILINE)
    assert len(answers) == 10
    assert [found for found in map(parse_policy, answers) if not isinstance(found, Policy)] == []
    assert Policy() not in map(parse_policy, answers)
    verbs = PAGE.split("for one of the verbs: ", 1)[1].split(".", 1)[0]
    assert tuple(re.findall(r"`([a-z-]+)`", verbs)) == VERB_NAMES
