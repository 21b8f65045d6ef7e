"""TOML of a hostile project is read in reasonable time or refused, and everybody else's as Python's reader does."""

from __future__ import annotations

import time
import tomllib

import pytest

from bot.rules.toml_reader import read_toml
from tests.machine import CPU_S

MANY = 30_000


@pytest.mark.parametrize(
    "text",
    [
        "a." * MANY + "b = 1",
        "[" + "a." * MANY + "b]",
        "a . " * MANY + "b = 1",
        '"a".' * MANY + "b = 1",
        "'a'." * MANY + "b = 1",
        "x = {" + "a." * MANY + "b = 1}",
        'x = {y = """ " """, ' + "a." * MANY + 'b = 1, z = "z"}',
        '# """\n' + "a." * MANY + 'b = 1\n# """',
        "# '''\n" + "a." * MANY + "b = 1\n# '''",
    ],
    ids=[
        "key",
        "table",
        "spaces",
        "quoted",
        "literal",
        "inline",
        "after a string",
        "after a comment",
        "literal comment",
    ],
)
def test_a_key_of_endless_parts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="more than 100 parts"):
        read_toml(text)


@pytest.mark.parametrize(
    "text", ['"""' + '\\"""' * 200_000, "'" * 999_999, "a" * 1_000_000, ("a." * 90 + "\n") * 5_000]
)
def test_text_that_is_no_toml_costs_little(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError):
        read_toml(text)
    assert time.process_time() - begun < CPU_S


def test_ordinary_toml_is_read_as_ever() -> None:
    text = (
        'title = "' + "a." * 500 + '"\n# ' + "a." * 500 + "\nlist = [\"1.2.3\", 'x.y']\n"
        '[tool.pytest.ini_options]\naddopts = """\n-q "x" \\\n"""\nwhen = 1979-05-27T07:32:00.5Z\n"quo.ted".b = 1.5\n'
    )
    assert read_toml(text) == tomllib.loads(text)
