"""What is a command and what only looks like one, the words behind a verb, and what is said of a mistake (REQ-CMD-001,
REQ-CMD-002, T12)."""

from __future__ import annotations

import time

import pytest

from bot.config import Policy
from bot.model.commands import SlashCommand
from bot.reports.commands.replies import mistake_text
from bot.reports.locale.catalog import messages
from bot.rules.commands import parse_commands
from bot.rules.commands.parser import MAX_COMMANDS
from bot.rules.commands.verbs import DEFAULT_ALIASES, VERBS, aliases_of, misplaced, only_reads
from tests.machine import CPU_S

FIX = "/mendbot fix"

COMMANDS = [
    FIX,
    f"   {FIX}",
    "/MendBot FIX",
    f"Thanks!\n{FIX}\nand then some",
    f"Thanks!\r\n\r\n{FIX}\r\n",
    "/mendbot\u00a0fix",
    "\ufeff/mendbot\u200b fix\u200b",
    "/mendbot\tfix\t",
    f"> quoted\n\n{FIX}",
    f"```\ncode\n```\n{FIX}",
    f"- one\n- two\n{FIX}",
    f"<details>\n<summary>log</summary>\n\nx\n\n</details>\n\n{FIX}",
    f"<!-- a note -->\n\n{FIX}",
    f"an open ` tick, an open [ bracket, an open < sign\n{FIX}",
    f"{FIX}\n--\nAnn",
    f"a line\\\n{FIX}",
    f"[a link](https://example.org) and `code`\n{FIX}",
    f"\u00a0\n{FIX}",
]
"""Bodies with one command each."""

WORDS = [
    f"please {FIX}",
    f"`{FIX}`",
    f"> {FIX}",
    f"> quoted\n{FIX}",
    f"> - deep\n{FIX}",
    f"```\n{FIX}\n```",
    f"~~~sh\n{FIX}\n~~~",
    f"```\nnever closed\n\n{FIX}",
    f"    {FIX}",
    f"\t{FIX}",
    f"- {FIX}",
    f"- item\n\n  {FIX}",
    f"1. {FIX}",
    f"# {FIX}",
    f"<!--\n{FIX}\n-->",
    f"<!-- never closed\n\n{FIX}",
    f"text <!-- hidden\n{FIX}\n-->",
    f"<pre>\n\n{FIX}\n\n</pre>",
    f"<div>\n{FIX}\n</div>",
    f"<details><summary>log</summary>\n\n{FIX}\n\n</details>",
    f"<blockquote>\n\n{FIX}\n\n</blockquote>",
    f"text <code>\n{FIX}\n</code>",
    f"text <a title='\n{FIX}'>",
    f"text <s>\n{FIX}\n</s>",
    f"`a span\n{FIX}\nover lines`",
    f"``a ` in\n{FIX}``",
    f"[a text\n{FIX}](https://example.org)",
    f"[a label\n{FIX}][ref]\n\n[ref]: https://example.org",
    f"![a picture\n{FIX}](https://example.org/x.png)",
    f"[x](https://example.org\n'{FIX}\n{FIX}')",
    f"[ref]: https://example.org\n'a title\n{FIX}'",
    f"| a | b |\n|---|---|\n{FIX}",
    "/mendbots fix",
    "/mendbot-fix",
    "/mend\u200bbot fix",
    "//mendbot fix",
    "mendbot fix",
    "@mendbot fix",
    "/fix",
    "https://example.org/mendbot fix",
    "\\/mendbot fix",
    "",
]
"""Bodies that ask for nothing."""


def one(line: str, below: str = "") -> SlashCommand:
    (command,) = parse_commands(line + below)
    return command


@pytest.mark.parametrize("body", COMMANDS)
def test_a_line_that_begins_with_it_is_a_command(body: str) -> None:
    """REQ-CMD-001, T12."""
    (command,) = parse_commands(body)
    assert (command.verb, command.args, command.error) == ("fix", (), None)
    assert "fix" in body.replace("\r\n", "\n").split("\n")[command.line - 1].lower()


@pytest.mark.parametrize("body", WORDS)
def test_what_is_shown_quoted_or_meant_otherwise_is_none(body: str) -> None:
    """REQ-CMD-001, T12."""
    assert parse_commands(body) == ()


def test_a_fold_or_quote_that_is_closed_hides_no_more() -> None:
    body = f"<details>\n\n{FIX}\n\n</details>\n\n<!-- <details> -->\n\na <code>x\n\n/mendbot retry"
    assert [command.verb for command in parse_commands(body)] == ["retry"]


def test_the_sixth_command_and_all_after_it_are_left_out() -> None:
    """REQ-CMD-001."""
    commands = parse_commands(f"{FIX}\n" * 8)
    assert [command.error is None for command in commands] == [True] * MAX_COMMANDS + [False] * 3
    assert {command.problem for command in commands[MAX_COMMANDS:]} == {"too_many"}
    assert [command.line for command in commands] == list(range(1, 9))


def test_an_edit_gives_the_lines_that_are_new() -> None:
    before = "/mendbot fix\n\n/mendbot retry\n"
    assert parse_commands(before, before) == ()
    assert parse_commands("/mendbot  FIX\n", before) == ()
    assert parse_commands("gone", before) == ()
    added = parse_commands(f"{before}/mendbot fix max=2\n/mendbot fix", before)
    assert [(command.text, command.line) for command in added] == [("/mendbot fix max=2", 4), ("/mendbot fix", 5)]
    assert [command.verb for command in parse_commands("/mendbot fix", "`/mendbot fix`")] == ["fix"]
    assert parse_commands("/fix", "/mendbot fix", aliases=DEFAULT_ALIASES) == ()


def test_an_edit_of_the_diff_alone_asks_for_the_new_one() -> None:
    """REQ-CMD-001."""
    bare, first, second = ("/mendbot apply\n", *(f"/mendbot apply\n\n```diff\n+{text}\n```\n" for text in "ab"))
    assert [one.block for one in parse_commands(first, bare)] == ["+a\n"]
    assert [one.block for one in parse_commands(second, first)] == ["+b\n"]
    assert parse_commands(first, f"{second}\n{first}") == ()
    assert parse_commands(bare, first) == ()  # what was taken away asks for nothing


def test_words_are_parted_as_a_shell_does() -> None:
    """REQ-CMD-001."""
    command = one(r"""/mendbot resolved "a \"b\" c" it\'s 'x  y' *as* typed k=v""")
    assert command.args == ('a "b" c', "it's", "x  y", "*as*", "typed", "k=v")
    assert one("/mendbot history 'my file.py'").args == ("my file.py",)
    assert one("/mendbot fix max=3").options == {"max": "3"}
    assert one("/mendbot fix max='3'") == one("/mendbot fix max='3'")
    assert isinstance(hash(one("/mendbot fix max=3")), int)


@pytest.mark.parametrize(
    ("line", "args", "issues"),
    [
        ("group add #12,#13", ("add", "#12,#13"), (12, 13)),
        ("group add #12, 13 #12", ("add", "#12,", "13", "#12"), (12, 13)),
        ("group remove", ("remove",), ()),
        ("group Show", ("show",), ()),
        ("retest All", ("all",), ()),
        ("check lint,test LINT", ("lint", "test"), ()),
        ("ok-to-test ABCDEF0", ("abcdef0",), ()),
        ("ok-to-test", (), ()),
        ("help fix", ("fix",), ()),
    ],
)
def test_arguments_are_read(line: str, args: tuple[str, ...], issues: tuple[int, ...]) -> None:
    command = one(f"/mendbot {line}")
    assert (command.error, command.args, command.issues) == (None, args, issues)


def test_alone_it_asks_for_help() -> None:
    assert (one("/mendbot").verb, one("/mendbot").error) == ("help", None)


@pytest.mark.parametrize(
    ("line", "problem", "column", "suggestion"),
    [
        ("retset", "unknown_verb", 9, "retest"),
        ("Retset please", "unknown_verb", 9, "retest"),
        ("빌드", "unknown_verb", 9, None),
        ("history 'a b", "unclosed", 17, None),
        ('"fix', "unclosed", 9, None),
        ("resolved it wasn't", "unclosed", 25, None),
        ("history a\\", "escape", 18, None),
        ("status now", "unexpected", 16, None),
        ("check tset", "unknown_check", 15, "test"),
        ("retest lint,tpyecheck", "unknown_check", 21, "typecheck"),
        ("check all", "unknown_check", 15, None),
        ("fix mx=3", "unknown_option", 13, "max"),
        ("retry max=3", "unknown_option", 15, None),
        ("fix max=many", "bad_value", 13, None),
        ("fix max=0", "bad_value", 13, None),
        ("fix max=101", "bad_value", 13, None),
        ("group", "missing_word", 14, None),
        ("group slpit", "unknown_word", 15, "split"),
        ("group show #1", "unexpected", 20, None),
        ("group add", "missing_issues", 18, None),
        ("group add #1 #x", "bad_issue", 22, None),
        ("group add 0", "bad_issue", 19, None),
        ("history", "missing_file", 16, None),
        ("history ''", "missing_file", 19, None),
        ("history a.py b.py", "second_file", 22, None),
        ("ok-to-test abc12", "bad_commit", 20, None),
        ("ok-to-test " + "a" * 41, "bad_commit", 20, None),
        ("ok-to-test abcdef0 x", "unexpected", 28, None),
        ("apply", "missing_diff", 14, None),
    ],
)
def test_a_mistake_is_pointed_at(line: str, problem: str, column: int, suggestion: str | None) -> None:
    """REQ-CMD-002."""
    command = one(f"/mendbot {line}")
    assert (command.problem, command.column, command.suggestion) == (problem, column, suggestion)
    assert command.error and "{" not in command.error
    assert suggestion is None or f"`{suggestion}`" in command.error


def test_a_misspelt_verb_is_told_as_typed_and_a_broken_line_keeps_its_verb() -> None:
    assert one("/mendbot Retset").verb == "Retset"
    assert one("/mendbot HISTORY 'a b").verb == "history"


@pytest.mark.parametrize(
    ("below", "block"),
    [
        ("\n```diff\n-a\n+b\n```", "-a\n+b\n"),
        ("\n\nHere it is:\n~~~ patch x\n+b\n~~~", "+b\n"),
        ("\n```\r\n+b\r\n\r\n \tc\r\n```", "+b\n\n \tc\n"),
        ("\n  ```diff\n  +b\n   c\n  ```", "+b\n c\n"),
        ("\n```diff\n+b\u00a0\u2028", "+b\u00a0\u2028\n"),
        ("\n```python\nx\n```\n```diff\n+b\n```", None),
        ("\n```diff\n\n```", None),
        ("\n> ```diff\n> +b\n> ```", None),
        ("\n/mendbot status\n```diff\n+b\n```", None),
    ],
)
def test_the_diff_to_apply_is_the_code_block_below(below: str, block: str | None) -> None:
    command = parse_commands(f"/mendbot apply{below}")[0]
    assert (command.block, command.problem) == (block, "" if block else "missing_diff")


def test_every_problem_of_the_table_can_be_met() -> None:
    """Those of a place come from `misplaced`."""
    lines = ["retset", "fix '", "fix \\", "fix x", "check x", "fix x=1", "fix max=0", "group", "group x", "group add"]
    lines += ["group add x", "history", "history a b", "ok-to-test x", "apply"]
    met = {one(f"/mendbot {line}").problem for line in lines} | {parse_commands(f"{FIX}\n" * 6)[5].problem}
    kinds = {key.removeprefix("reply.problem.") for key in messages("en") if key.startswith("reply.problem.")}
    assert met - {""} | {"only_issue", "only_pull"} == kinds


def test_short_forms_count_only_where_they_are_allowed() -> None:
    """REQ-CMD-001."""
    assert parse_commands("/retest lint") == ()
    (command,) = parse_commands("/ReTest lint", aliases=aliases_of(True))
    assert (command.verb, command.args) == ("retest", ("lint",))
    assert aliases_of(Policy().aliases) == {}
    assert aliases_of(["fix", "/status", "no-such"]) == {"/fix": "fix", "/status": "status"}
    assert parse_commands("/fix", aliases={"fix": "fix"})[0].verb == "fix"
    named = aliases_of({"ok": "ok-to-test", "/Again": "Retry", "/x": "no-such", "/mendbot": "fix", "/a b": "fix"})
    assert named == {"/ok": "ok-to-test", "/again": "retry"}
    assert parse_commands("/again max=3", aliases=named)[0].column == 7


def test_a_command_at_the_wrong_place_is_told_so() -> None:
    check, group, status = one("/mendbot check"), one("/mendbot group show"), one("/mendbot status")
    told = misplaced(check, "issue")
    assert told is not None and (told.problem, told.column) == ("only_pull", 9)
    assert mistake_text(told, "en") == "`check` works on pull requests only."
    other = misplaced(group, "pull")
    assert other is not None and other.problem == "only_issue"
    assert misplaced(check, "pull") is misplaced(group, "issue") is misplaced(status, "issue") is None
    assert misplaced(one("/mendbot nonsense"), "issue") is None


def test_the_table_has_the_verbs_of_the_specification() -> None:
    """REQ-CMD-002."""
    named = "fix check retest retry cancel status group apply explain history resolved ok-to-test pause resume help"
    assert list(VERBS) == named.split()
    assert {name for name, verb in VERBS.items() if verb.author_may} == {"fix", "retest", "cancel"}
    assert {name for name, verb in VERBS.items() if verb.where == {"pull"}} == {"check", "retest", "ok-to-test"}
    assert all(verb.usage.split()[0] == name == verb.name for name, verb in VERBS.items())
    assert only_reads(one("/mendbot group show")) and only_reads(one("/mendbot explain"))
    assert not only_reads(one("/mendbot group split")) and not only_reads(one("/mendbot nonsense"))


SIGNS = (">", "> ", "> a\nb\n", "`", "`a``b", "[", "[a](", "[a][b", "![", "<!--", "<a b='", "[a]: b 'x\n", "- a\n", "|")


def test_a_comment_without_a_text_has_no_commands() -> None:
    assert parse_commands(None) == parse_commands("") == ()


@pytest.mark.parametrize("unit", SIGNS)
def test_the_largest_comment_of_nothing_but_signs_is_soon_read(unit: str) -> None:
    """A reading in quadratic time takes minutes, this one less than a second on an idle machine."""
    body = (unit * 65_536)[:65_500]
    started = time.process_time()
    parse_commands(f"{body}\n{FIX}", previous=f"{FIX}\n")
    assert time.process_time() - started < CPU_S
