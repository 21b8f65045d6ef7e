"""The README shows a newcomer what Mendbot is on one screen: few words, one picture, one recording, and links.
The Korean one is held to the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["README.md", "README.ko.md"])
def text(request: pytest.FixtureRequest) -> str:
    return (ROOT / request.param).read_text(encoding="utf-8")


def test_it_has_at_most_500_words(text: str) -> None:
    assert len(text.split()) <= 500


def test_it_has_one_picture_for_each_scheme_and_one_recording(text: str) -> None:
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert shown == ["docs/pictures/check-run-dark.png", "docs/pictures/check-run.png", "docs/pictures/demo.svg"]
    assert [name for name in shown if not (ROOT / name).is_file()] == []
    assert len(re.findall(r'<img alt="[^"]{20,}"', text)) == text.count("<img") == 2


def test_each_link_leads_to_a_file_of_the_repository(text: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", text)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_what_it_lets_a_reader_type_is_there(text: str) -> None:
    """The targets of make and the commands of `mendbot`."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    targets = set(re.findall(r"^make ([\w.]+)", blocks, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets == {"demo", ".venv"}
    assert [name for name in targets if not re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE)] == []
    commands = set(re.findall(r"^\.venv/bin/mendbot (\w+)", blocks, re.MULTILINE))
    assert commands == {"serve"}
