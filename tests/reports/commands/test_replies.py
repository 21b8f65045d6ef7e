"""What is answered to commands, in both languages as it was read and approved (`MENDBOT_GOLDEN=rewrite` writes anew).
No answer mentions anybody, can be taken for a command or grows too large."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Language
from bot.model.commands import SlashCommand
from bot.reports.commands.replies import busy_reply, done_reply, error_reply, help_reply, refused_reply
from bot.rules.commands.parser import parse_commands
from bot.rules.commands.verbs import DEFAULT_ALIASES, VERBS, misplaced
from tests.reports.golden import GOLDEN, LANGUAGES, compare
from tests.reports.hostile_texts import prose_of

DOCS = Path(__file__).parents[3] / "docs" / "commands.md"
MISTAKES = """/mendbot retset
/mendbot check lint,tset
/mendbot history '내 파일.py
/mendbot group add @everyone
/mendbot fix max=1000
/mendbot status
/mendbot status
"""
MORE = ("group", "group x", "group add", "history", "history a b", "ok-to-test x", "apply", "retry x=1", "pause now")
FACTS = {
    "run": "r-0123456789",
    "checks": "lint, test",
    "sha": "0123456789abcdef0123456789abcdef01234567",
    "what": "fix of issue 12",
    "issues": "12, 13",
    "count": "3",
}
DONE = (
    *(verb for verb, row in VERBS.items() if not row.reads and verb != "group"),
    *(f"group {action}" for action in ("show", "split", "add", "remove")),
)


def mistakes(*lines: str) -> list[SlashCommand]:
    return [parse_commands(f"/mendbot {line}")[0] for line in lines]


@pytest.mark.parametrize("language", LANGUAGES)
def test_mistakes(language: Language) -> None:
    compare(f"reply-error.{language}.md", error_reply(parse_commands(MISTAKES), language, author="ann") + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_mistakes_of_other_kinds(language: Language) -> None:
    told = [error_reply([command], language, author="ann").split("\n\n")[1:3] for command in mistakes(*MORE, "fix \\")]
    here, there = misplaced(*mistakes("check"), "issue"), misplaced(*mistakes("group show"), "pull")
    told += [error_reply([c], language, author="ann").split("\n\n")[1:3] for c in (here, there) if c]
    compare(f"reply-error-more.{language}.md", "\n\n".join("\n\n".join(parts) for parts in told) + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_help(language: Language) -> None:
    for where in ("issue", "pull"):
        aliases = DEFAULT_ALIASES if where == "pull" else {}
        told = help_reply(VERBS.values(), language, where=where, aliases=aliases)
        compare(f"reply-help-{where}.{language}.md", told + "\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_confirmations(language: Language) -> None:
    lines = [done_reply(verb, facts, language) for verb in DONE for facts in (FACTS, {})]
    lines += [done_reply("resolved", {"count": "1"}, language), busy_reply(language, 60)]
    lines.append(refused_reply(mistakes("apply")[0], "the diff does not fit @ann's file `a.py`", language))
    compare(f"reply-done.{language}.md", "\n\n".join(lines) + "\n")


def test_no_golden_answer_is_left_over() -> None:
    kinds = ("error", "error-more", "help-issue", "help-pull", "done")
    expected = {f"reply-{kind}.{language}.md" for kind in kinds for language in LANGUAGES}
    assert {path.name for path in GOLDEN.glob("reply-*")} == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_has_every_verb_of_the_table(language: Language) -> None:
    told = help_reply(VERBS.values(), language)
    for verb in VERBS.values():
        assert f"`/mendbot {verb.usage}`".replace("|", "\\|") in told
    there = {name: help_reply(VERBS.values(), language, where="issue").count(f"/mendbot {name}") for name in VERBS}
    assert {name for name, times in there.items() if not times} == {"check", "retest", "ok-to-test"}


def test_the_documentation_has_every_verb_of_the_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for verb in VERBS.values():
        assert f"`{verb.usage}`" in text.replace("\\|", "|")
        assert f"/mendbot {verb.name}" in text
    assert all(f"`{short}`" in text for short in DEFAULT_ALIASES)


def test_the_caret_stands_below_the_mistake() -> None:
    told = error_reply(mistakes("check tset"), "en", author="ann")
    line, caret = told.split("```text\n")[1].split("\n")[:2]
    assert line[caret.index("^") :] == "tset"
    assert "Did you mean `/mendbot check test`?" in told
    wide = error_reply(mistakes("resolved 한글 'x"), "en", author="ann").split("```text\n")[1].split("\n")[1]
    assert wide == " " * 18 + "\u3000\u3000 ^"
    far = error_reply(mistakes(f"resolved {'a ' * 500} 'x {'b' * 500}"), "en", author="ann")
    line, caret = far.split("```text\n")[1].split("\n")[:2]
    assert line[caret.index("^")] == "'" and line[0] == line[-1] == "…" and len(line) < 110


def test_of_many_mistakes_the_first_are_shown_and_the_others_counted() -> None:
    told = error_reply(parse_commands("/mendbot fix\n" * 4000), "en", author="ann")
    assert "3995 commands did not run, the first of them in line 6." in told
    other = error_reply(mistakes(*["retset"] * 7), "en", author="ann")
    assert other.count("^") == 5 and "2 more lines" in other
    assert error_reply(mistakes("fix", "status"), "en", author="ann") == ""


WILD = st.text(alphabet="@#:/w.GH-1aZ`*_[]()<>!|~$&\\' \n=+한\u0301", max_size=60) | st.sampled_from(
    ["@everyone", "fixes #1", "```", "~~~", "</details>", "\n/mendbot fix\n", "a" * 9_000, "@b " * 9_000]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(WILD, max_size=7), WILD, st.sampled_from(LANGUAGES))
def test_no_answer_mentions_commands_or_grows_too_large(lines: list[str], author: str, lang: Language) -> None:
    """T36: lines, names and reasons are anybody's."""
    commands = parse_commands("\n\n".join(f"/mendbot {line}" for line in lines))
    answers = [error_reply(commands, lang, author=author)]
    answers += [refused_reply(command, line, lang) for command, line in zip(commands, lines, strict=False)]
    answers += [done_reply(verb, dict.fromkeys(FACTS, author), lang) for verb in DONE]
    answers.append(help_reply(VERBS.values(), lang, aliases={author: "fix"}))
    for told in answers:
        assert len(told) <= 65_000
        assert parse_commands(told) == ()
        assert not re.search(r"@[A-Za-z0-9]|://|(?i:\bGH-\d)", prose_of(told))
