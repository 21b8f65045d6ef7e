"""git over HTTP: real git clones and pushes with a token, and is refused as GitHub would."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.standin import StandIn, World
from tests.demo.conftest import REPO, Api, git


@pytest.fixture
def clone(standin: StandIn, world: World, tmp_path: Path) -> Path:
    target = tmp_path / "clone"
    done = git(tmp_path, "clone", f"{standin.url}/{REPO}.git", str(target), token=world.new_token(REPO))
    assert done.returncode == 0, done.stderr
    return target


def commit(clone: Path, branch: str, path: str, text: str = "new\n") -> str:
    assert git(clone, "switch", "-C", branch).returncode == 0
    (clone / path).parent.mkdir(parents=True, exist_ok=True)
    (clone / path).write_text(text)
    git(clone, "add", "--all")
    assert git(clone, "commit", "-m", f"Change {path}").returncode == 0
    return git(clone, "rev-parse", "HEAD").stdout.strip()


def push(clone: Path, branch: str, token: str | None) -> tuple[int, str]:
    done = git(clone, "push", "origin", f"HEAD:refs/heads/{branch}", token=token)
    return done.returncode, done.stderr


def test_a_token_fetches_and_pushes(clone: Path, world: World) -> None:
    assert (clone / "src" / "app.py").read_text() == "x = 1\n"
    sha = commit(clone, "fix/issue-1", "src/app.py", "x = 2\n")
    assert push(clone, "fix/issue-1", world.new_token(REPO))[0] == 0
    assert world.branches(REPO)["fix/issue-1"] == sha
    assert world.read_file(REPO, sha, "src/app.py") == b"x = 2\n"
    assert world.read_file(REPO, sha, "nothing") is None


def test_a_big_push_and_its_fetch_arrive_whole(clone: Path, standin: StandIn, world: World, tmp_path: Path) -> None:
    big = "".join(f"{number * 7919 % 100_003}\n" for number in range(400_000))
    sha = commit(clone, "big", "big.txt", big)
    assert push(clone, "big", world.new_token(REPO))[0] == 0
    copy = tmp_path / "copy"
    token = world.new_token(REPO)
    done = git(tmp_path, "clone", "--branch", "big", f"{standin.url}/{REPO}", str(copy), token=token)
    assert done.returncode == 0, done.stderr
    assert (copy / "big.txt").read_text() == big
    assert git(copy, "rev-parse", "HEAD").stdout.strip() == sha


def test_without_a_good_token_git_gets_nothing(standin: StandIn, world: World, tmp_path: Path) -> None:
    for token in (None, "ghs_never"):
        done = git(tmp_path, "ls-remote", f"{standin.url}/{REPO}.git", token=token)
        assert done.returncode != 0
    expired = world.new_token(REPO)
    world.expire_tokens()
    assert git(tmp_path, "ls-remote", f"{standin.url}/{REPO}.git", token=expired).returncode != 0
    world.create_repo("octo/secret", {"a": "b"})
    other = git(tmp_path, "ls-remote", f"{standin.url}/octo/secret.git", token=world.new_token(REPO))
    assert "not found" in other.stderr


def test_reading_does_not_allow_writing(clone: Path, standin: StandIn, world: World) -> None:
    commit(clone, "fix/issue-1", "a")
    code, said = push(clone, "fix/issue-1", world.new_token(REPO, {"contents": "read"}))
    assert code != 0
    assert "403" in said
    blind = git(clone, "ls-remote", f"{standin.url}/{REPO}.git", token=world.new_token(REPO, {"issues": "write"}))
    assert blind.returncode != 0
    assert "fix/issue-1" not in world.branches(REPO)


def test_workflow_files_need_their_permission(clone: Path, world: World) -> None:
    commit(clone, "fix/ci", ".github/workflows/ci.yml")
    code, said = push(clone, "fix/ci", world.new_token(REPO))
    assert code != 0
    assert "without `workflows` permission" in said
    assert "fix/ci" not in world.branches(REPO)
    world.grant(REPO, workflows="write")
    assert push(clone, "fix/ci", world.new_token(REPO))[0] == 0


def test_a_branch_may_start_where_workflows_are(clone: Path, world: World) -> None:
    world.push_commit(REPO, "main", {".github/workflows/ci.yml": "on: push\n"}, "ann")
    assert git(clone, "pull", "origin", "main", token=world.new_token(REPO)).returncode == 0
    commit(clone, "fix/issue-1", "a")
    assert push(clone, "fix/issue-1", world.new_token(REPO))[0] == 0


def test_protected_branches_and_rejected_pushes(clone: Path, world: World) -> None:
    world.protect(REPO, "release/*")
    commit(clone, "work", "a")
    code, said = push(clone, "release/1", world.new_token(REPO))
    assert code != 0
    assert "GH006" in said
    world.reject_next_push(REPO, "the disk is full; $(touch pwned)")
    code, said = push(clone, "fix/issue-1", world.new_token(REPO))
    assert code != 0
    assert "the disk is full; $(touch pwned)" in said
    assert push(clone, "fix/issue-1", world.new_token(REPO))[0] == 0


def test_the_token_is_nowhere_in_the_log(clone: Path, world: World) -> None:
    token = world.new_token(REPO)
    git(clone, "fetch", token=token)
    assert token not in repr(world.requests)
    kinds = {(request.method, request.path) for request in world.requests if request.kind == "git"}
    assert ("POST", f"/{REPO}.git/git-upload-pack") in kinds


def test_git_meets_faults_too(clone: Path, standin: StandIn, world: World) -> None:
    world.faults.add("GET", f"/{REPO}.git/info/refs", status=503)
    assert git(clone, "fetch", token=world.new_token(REPO)).returncode != 0
    assert git(clone, "fetch", token=world.new_token(REPO)).returncode == 0
    sha = commit(clone, "lost", "a")
    world.faults.add("POST", f"/{REPO}.git/git-receive-pack", status=502, after_effect=True)
    assert push(clone, "lost", world.new_token(REPO))[0] != 0
    assert world.branches(REPO)["lost"] == sha


def test_people_merge_and_issues_close(world: World, api: Api) -> None:
    world.push_commit(REPO, "fix/issue-1", {"src/app.py": "x = 2\n"}, "ann")
    number = world.open_pull(REPO, "fix/issue-1", "Mend", "Fixes #1", "ann")
    sha = world.merge_pull(REPO, number, "ann")
    assert world.branches(REPO)["main"] == sha
    assert world.read_file(REPO, "main", "src/app.py") == b"x = 2\n"
    assert world.issue(REPO, 1).state == "closed"
    assert world.pulls(REPO)[0].merged
    assert api.ok("GET", f"/repos/{REPO}/pulls/{number}")["merged_by"]["login"] == "ann"


def test_conflicts_are_not_mergeable(world: World) -> None:
    world.push_commit(REPO, "side", {"src/app.py": "x = 2\n"}, "ann")
    number = world.open_pull(REPO, "side", "Mend", "", "ann")
    assert world.pulls(REPO)[0].mergeable
    world.push_commit(REPO, "main", {"src/app.py": "x = 3\n"}, "ann")
    assert world.pulls(REPO)[0].mergeable is False
    with pytest.raises(Exception, match="not mergeable"):
        world.merge_pull(REPO, number, "ann")


def test_a_fork_brings_its_head_along(world: World, api: Api) -> None:
    fork = world.fork(REPO, "stranger")
    sha = world.push_commit(fork, "patch", {"src/app.py": "x = 9\n"}, "stranger")
    number = world.open_pull(REPO, "stranger:patch", "From outside", "", "stranger")
    pull = api.ok("GET", f"/repos/{REPO}/pulls/{number}")
    assert (pull["head"]["label"], pull["head"]["repo"]["fork"]) == ("stranger:patch", True)
    assert git(world.git_dir(REPO), "rev-parse", f"refs/pull/{number}/head").stdout.strip() == sha
    newer = world.push_commit(fork, "patch", {"src/app.py": "x = 10\n"}, "stranger")
    assert git(world.git_dir(REPO), "rev-parse", f"refs/pull/{number}/head").stdout.strip() == newer


def test_a_directory_keeps_modes_and_links(world: World, tmp_path: Path) -> None:
    source = tmp_path / "sample"
    (source / "bin").mkdir(parents=True)
    (source / "bin" / "run").write_text("#!/bin/sh\n")
    (source / "bin" / "run").chmod(0o755)
    (source / 'odd "name"\\.txt').write_bytes(b"\0\n")
    (source / "link").symlink_to("bin/run")
    world.create_repo("octo/sample", source)
    listing = git(world.git_dir("octo/sample"), "ls-tree", "-r", "-z", "main").stdout
    assert [entry.split("\t")[1] for entry in listing.split("\0") if entry] == ["bin/run", "link", 'odd "name"\\.txt']
    assert [entry[:6] for entry in listing.split("\0") if entry] == ["100755", "120000", "100644"]
