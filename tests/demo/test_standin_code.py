"""Check runs, pull requests, commits, refs and files: REST over real git, with GitHub's limits."""

from __future__ import annotations

import base64
from typing import Any

from demo.standin import World
from tests.demo.conftest import REPO, Api

HOME = f"/repos/{REPO}"


def head(world: World) -> str:
    return world.branches(REPO)["main"]


def open_pull(api: Api, world: World, branch: str = "fix/issue-1") -> int:
    world.push_commit(REPO, branch, {"src/app.py": "x = 2\n", "new.txt": "n\n"}, "ann", "Mend it")
    body = {"title": "Mend", "head": branch, "base": "main", "body": "Closes #1"}
    return int(api.ok("POST", f"{HOME}/pulls", body)["number"])


def test_check_runs_live_through_their_states(api: Api, world: World) -> None:
    sha = head(world)
    made = api.ok("POST", f"{HOME}/check-runs", {"name": "mendbot / test", "head_sha": sha, "external_id": "r1"})
    assert (made["status"], made["conclusion"]) == ("queued", None)
    place = f"{HOME}/check-runs/{made['id']}"
    assert api.ok("PATCH", place, {"status": "in_progress"})["status"] == "in_progress"
    note = {"path": "src/app.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "bad"}
    output = {"title": "1 failed", "summary": "s", "annotations": [note] * 50}
    done = api.ok("PATCH", place, {"conclusion": "failure", "output": output})
    assert (done["status"], done["conclusion"]) == ("completed", "failure")
    again = api.ok("PATCH", place, {"output": {"title": "t", "summary": "s", "annotations": [note] * 3}})
    assert again["output"]["annotations_count"] == 53
    assert len(api.ok("GET", f"{place}/annotations?per_page=100")) == 53
    newer = api.ok("POST", f"{HOME}/check-runs", {"name": "mendbot / test", "head_sha": sha})
    listed = api.ok("GET", f"{HOME}/commits/{sha}/check-runs?check_name=mendbot%20/%20test&filter=latest")
    assert [run["id"] for run in listed["check_runs"]] == [newer["id"]]
    assert api.ok("GET", f"{HOME}/commits/main/check-runs?filter=all")["total_count"] == 2
    assert api.ok("GET", f"{HOME}/commits/{sha}/check-suites")["check_suites"][0]["status"] == "in_progress"


def _note(**more: object) -> dict[str, Any]:
    plain = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    return {"title": "t", "summary": "s", "annotations": [{**plain, **more}]}


WRONG_CHECK_RUNS = (
    {"status": "completed"},
    {"conclusion": "great"},
    {"head_sha": "0" * 40},
    {"head_sha": "main"},
    {"output": {"summary": "no title"}},
    {"output": {"title": "t", "summary": "😀" * 16_384}},
    {"output": {"title": "t", "summary": "s", "text": "x" * 65_536}},
    {"output": {"title": "t", "summary": "s", "annotations": _note()["annotations"] * 51}},
    {"output": _note(annotation_level="error")},
    {"output": _note(start_line=0)},
    {"output": _note(start_line=2)},
    {"output": _note(end_line=3, start_column=1)},
    {"output": _note(path="/etc/passwd")},
    {"output": _note(message="")},
    {"output": _note(title="x" * 256)},
    {"actions": [{"label": "x" * 21, "description": "d", "identifier": "i"}]},
    {"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4},
)


def test_check_runs_over_githubs_limits_are_refused(api: Api, world: World) -> None:
    for wrong in WRONG_CHECK_RUNS:
        body = {"name": "n", "head_sha": head(world), **wrong}
        answer = api("POST", f"{HOME}/check-runs", body, judge_request=False)
        assert answer.status_code == 422, f"{wrong} -> {answer.text}"
    assert world.check_runs(REPO) == ()


def test_the_largest_output_is_taken(api: Api, world: World) -> None:
    output = {"title": "t", "summary": "😀" * 16_383 + "xyz", "text": "x" * 65_535}
    assert api("POST", f"{HOME}/check-runs", {"name": "n", "head_sha": head(world), "output": output}).is_success


def test_a_pull_request_needs_a_branch_with_something_new(api: Api, world: World) -> None:
    body = {"title": "t", "head": "fix/none", "base": "main"}
    assert api("POST", f"{HOME}/pulls", body).json()["errors"][0]["field"] == "head"
    number = open_pull(api, world)
    assert world.pulls(REPO)[0].closes == (1,)
    twice = api("POST", f"{HOME}/pulls", {**body, "head": "fix/issue-1"})
    assert twice.status_code == 422
    assert twice.json()["errors"][0]["message"] == "A pull request already exists for octo:fix/issue-1."
    same = api("POST", f"{HOME}/pulls", {**body, "head": "main"})
    assert "No commits between" in same.json()["errors"][0]["message"]
    assert number == 2


def test_pull_requests_are_read_and_listed(api: Api, world: World) -> None:
    number = open_pull(api, world)
    pull = api.ok("GET", f"{HOME}/pulls/{number}")
    assert (pull["mergeable"], pull["commits"], pull["changed_files"], pull["additions"]) == (True, 1, 2, 2)
    assert api.ok("GET", f"{HOME}/pulls?head=octo:fix/issue-1&state=all")[0]["number"] == number
    assert api.ok("GET", f"{HOME}/pulls?head=octo:elsewhere") == []
    files = {one["filename"]: one for one in api.ok("GET", f"{HOME}/pulls/{number}/files")}
    assert files["new.txt"]["status"] == "added"
    assert "+x = 2" in files["src/app.py"]["patch"]
    assert len(api.ok("GET", f"{HOME}/pulls/{number}/commits")) == 1
    assert "pull_request" in api.ok("GET", f"{HOME}/issues/{number}")
    assert api("GET", f"{HOME}/pulls/1").status_code == 404
    changed = api.ok("PATCH", f"{HOME}/pulls/{number}", {"body": "Fixes #1, resolves: #7", "state": "closed"})
    assert changed["state"] == "closed"
    assert world.pulls(REPO)[0].closes == (1, 7)


def test_commits_refs_and_files_come_from_git(api: Api, world: World) -> None:
    sha = world.push_commit(REPO, "main", {"src/app.py": None, "bin": b"\x00\xff"}, "ann", "Second\n\nWhy")
    commit = api.ok("GET", f"{HOME}/commits/main")
    assert (commit["sha"], commit["commit"]["message"], commit["author"]["login"]) == (sha, "Second\n\nWhy", "ann")
    assert {one["filename"]: one["status"] for one in commit["files"]} == {"src/app.py": "removed", "bin": "added"}
    assert len(api.ok("GET", f"{HOME}/commits?sha=main")) == 2
    assert api.ok("GET", f"{HOME}/git/ref/heads/main")["object"]["sha"] == sha
    assert api("GET", f"{HOME}/git/ref/heads/none").status_code == 404
    file = api.ok("GET", f"{HOME}/contents/bin?ref=main")
    assert base64.b64decode(file["content"]) == b"\x00\xff"
    world.push_commit(REPO, "main", {"docs/a.md": "a", "docs/deep/b.md": "b"}, "ann")
    assert [(entry["type"], entry["path"]) for entry in api.ok("GET", f"{HOME}/contents/docs")] == [
        ("file", "docs/a.md"),
        ("dir", "docs/deep"),
    ]
    assert api("GET", f"{HOME}/contents/.github/mendbot.yml").status_code == 404
    assert api("GET", f"{HOME}/commits/{'a' * 40}").status_code == 422
