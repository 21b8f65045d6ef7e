"""Issue templates are read from wherever GitHub accepts them, and nothing else is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.workspace.mirror.issue_templates import MAX_FILE_BYTES, MAX_FILES, read_issue_templates
from bot.workspace.mirror.mirror import fetch
from tests.workspace.git_scene import Scene, plain


def committed(scene: Scene, files: dict[str, str]) -> str:
    for path, text in files.items():
        file = Path(scene.work, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    plain("add", "-A", cwd=scene.work)
    plain("commit", "-q", "-m", "templates", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    asyncio.run(fetch(scene.mirror, scene.remote))
    return plain("rev-parse", "HEAD", cwd=scene.work)


def test_templates_are_found_in_each_place_that_github_reads(scene: Scene) -> None:
    """REQ-WF-007."""
    there = {
        ".github/ISSUE_TEMPLATE/bug report.md": "가",
        ".github/ISSUE_TEMPLATE/form.yml": "b",
        ".github/ISSUE_TEMPLATE/form.yaml": "c",
        ".github/issue_template.md": "d",
        "docs/ISSUE_TEMPLATE.md": "e",
        "issue_template.md": "f",
    }
    other = {
        ".github/PULL_REQUEST_TEMPLATE.md": "x",
        ".github/ISSUE_TEMPLATE/deep/er.md": "x",
        ".github/ISSUE_TEMPLATE/logo.png": "x",
        "src/ISSUE_TEMPLATE.md": "x",
        ".github/ISSUE_TEMPLATE/large.md": "x" * (MAX_FILE_BYTES + 1),
    }
    commit = committed(scene, there | other)
    assert asyncio.run(read_issue_templates(scene.mirror, commit)) == there


def test_a_repository_without_templates_has_none_and_links_are_not_followed(scene: Scene) -> None:
    commit = plain("rev-parse", "HEAD", cwd=scene.work)
    assert asyncio.run(read_issue_templates(scene.mirror, commit)) == {}
    Path(scene.work, "ISSUE_TEMPLATE.md").symlink_to("/etc/passwd")
    assert asyncio.run(read_issue_templates(scene.mirror, committed(scene, {}))) == {}


def test_a_limited_number_is_read(scene: Scene) -> None:
    names = (f".github/ISSUE_TEMPLATE/{number:02}.md" for number in range(MAX_FILES + 5))
    commit = committed(scene, dict.fromkeys(names, "x"))
    assert len(asyncio.run(read_issue_templates(scene.mirror, commit))) == MAX_FILES
