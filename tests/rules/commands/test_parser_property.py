"""Whatever is written, reading it for commands raises nothing, and what is shown, quoted or hidden never runs."""

from __future__ import annotations

import re
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.commands import parse_commands
from bot.rules.commands.parser import MAX_COMMANDS
from bot.rules.commands.tokens import split_words
from bot.rules.commands.verbs import DEFAULT_ALIASES, VERBS

PIECES = st.sampled_from(
    [
        "/mendbot fix",
        "/mendbot retest lint",
        "/mendbot group add #1,2",
        "/mendbot apply",
        "/mendbot 'x",
        "/fix",
        "> ",
        "- ",
        "    ",
        "```",
        "~~~",
        "`",
        "<!--",
        "-->",
        "<details>",
        "</details>",
        "<pre>",
        "[",
        "](x)",
        "| a |",
        "|---|",
        "\\",
        "=\"'",
        "\r",
        "\n",
        "\r\n",
        "\n\n",
        "\x00",
        "\ud800",
        "\u00a0",
        "\u200b",
        "\x1c",
        "\x0b",
        "\u2028",
    ]
)
BODIES = st.lists(PIECES | st.text(max_size=5), max_size=20).map("".join) | st.text(max_size=200)
PLAIN = st.lists(st.sampled_from(["Thanks.", "a b", "x_y", "그래요"]), max_size=4).map("\n\n".join)
LINES = st.sampled_from([f"/mendbot {name}" for name in VERBS] + ["/mendbot", "/mendbot fix max=2", "/mendbot hepl"])
SHOWN = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
COMMENTS = st.lists(LINES, max_size=3 * MAX_COMMANDS).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(BODIES, st.none() | BODIES)
def test_nothing_is_raised_and_every_command_is_a_line_of_the_text(body: str, previous: str | None) -> None:
    commands = parse_commands(body, previous, aliases=DEFAULT_ALIASES)
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for command in commands:
        assert lines[command.line - 1].strip("\u200b\u00a0 ").lower().startswith(("/mendbot", "/fix"))
        assert not re.search("[\x00-\x1f\x7f-\x9f\u00a0\u200b\u2028\ud800]", command.text)
        assert command.error is not None or command.verb in VERBS
        assert (command.error is None) == (command.problem == "") == (command.column is None)
        assert command.column is None or 0 <= command.column <= len(command.text)
    assert len([command for command in commands if command.error is None]) <= MAX_COMMANDS
    assert [command.line for command in commands] == sorted({command.line for command in commands})


@settings(max_examples=200, deadline=None)
@given(BODIES)
def test_an_edit_that_changes_nothing_runs_nothing(body: str) -> None:
    assert parse_commands(body, body) == ()


@settings(max_examples=100, deadline=None)
@given(COMMENTS, LINES, st.data())
def test_an_edit_that_adds_a_line_gives_exactly_that_line(before: str, line: str, data: st.DataObject) -> None:
    """REQ-CMD-001."""
    lines = before.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    after = "\n".join([*lines[:at], line, *lines[at:]])
    (added,) = parse_commands(after, before)
    assert added.text.split() == line.split() or {added.text, line} == {"/mendbot", "/mendbot help"}


@settings(max_examples=150, deadline=None)
@given(PLAIN, SHOWN, PLAIN, st.sampled_from(["> ", "    ", "`", "* ", "# "]))
def test_lines_that_are_marked_as_something_else_never_run(above: str, shown: str, below: str, mark: str) -> None:
    """REQ-CMD-001."""
    marked = "\n".join(mark + line for line in shown.split("\n"))
    assert parse_commands(f"{above}\n\n{marked}\n\n{below}") == ()


@settings(max_examples=150, deadline=None)
@given(
    PLAIN,
    SHOWN,
    PLAIN,
    st.sampled_from(
        [
            ("```\n", "\n```"),
            ("~~~~ text\n", "\n~~~~"),
            ("<!--\n", "\n-->"),
            ("x <!-- ", "\n-->"),
            ("`", "`"),
            ("[x\n", "](https://example.org)"),
            ("<pre>\n", "\n</pre>"),
            ("<details>\n\n", "\n\n</details>"),
            ("<blockquote>\n\n", "\n\n</blockquote>"),
        ]
    ),
)
def test_lines_within_something_else_never_run(above: str, shown: str, below: str, pair: tuple[str, str]) -> None:
    assert parse_commands(f"{above}\n\n{pair[0]}{shown}{pair[1]}\n\n{below}\n\n/mendbot status")[-1].verb == "status"
    assert parse_commands(f"{above}\n\n{pair[0]}{shown}{pair[1]}\n\n{below}") == ()


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet="ab='\"\\ #,*한", max_size=30))
def test_words_are_what_a_shell_would_make_of_them(text: str) -> None:
    words, wrong = split_words(text)
    try:
        expected = shlex.split(text)
    except ValueError:
        assert wrong is not None
        return
    assert wrong is None and [word.value for word in words] == expected
    assert all(text[word.at :].startswith(word.raw) for word in words)
