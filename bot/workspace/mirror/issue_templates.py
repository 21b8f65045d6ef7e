"""Reads the issue templates of a repository from its mirror, wherever GitHub accepts them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from bot.workspace.git.command import git
from bot.workspace.git.diff import texts
from bot.workspace.git.objects import decode

MAX_FILES = 30
MAX_FILE_BYTES = 32_768
_PLACES = (".github", "docs", "ISSUE_TEMPLATE", "ISSUE_TEMPLATE.md", "issue_template", "issue_template.md")
# GitHub docs, "About issue and pull request templates": in the root, `docs` or `.github`, whatever the case
_TEMPLATE = re.compile(r"(?:\.github/|docs/)?issue_template(?:\.md|/[^/]+\.(?:md|yml|yaml))", re.IGNORECASE)


async def read_issue_templates(mirror: Path, commit: str) -> Mapping[str, str]:
    """The text of each issue template at `commit` (an id in full), by its path; large files and links are left out."""
    listed = decode(await git("ls-tree", "-r", "-z", "-l", commit, "--", *_PLACES, git_dir=mirror))
    found = []
    for entry in listed.split("\0"):
        meta, _, path = entry.partition("\t")
        mode, _, _, size = meta.split() if meta else ("", "", "", "")
        if mode.startswith("100") and int(size) <= MAX_FILE_BYTES and _TEMPLATE.fullmatch(path):
            found.append(path)
    (read,) = await texts(mirror, [commit], found[:MAX_FILES])
    return read
