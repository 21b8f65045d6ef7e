"""What the client reads and does about pull requests, against the stand-in: real git, real HTTP. In the end all traffic
is held against GitHub's description."""

from __future__ import annotations

import asyncio
import copy
import itertools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeVar

import pytest

from bot.errors import Stale, Transient, UserError
from bot.github.client import GitHub, RepositoryClient
from bot.github.clock import Clock
from bot.http import open_client
from bot.model import Annotation, CheckOutput, Repo
from bot.model.pulls import CheckAction, PullRequest
from demo.standin import StandIn, World
from tests.e2e.conftest import assert_traffic_is_githubs

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hub:
    """One repository of the stand-in's and our client of it; the client's pauses take no time."""

    world: World
    repo: str
    client: RepositoryClient
    runner: asyncio.Runner

    @property
    def home(self) -> str:
        return f"/repos/{self.repo}"

    def ask(self, work: Callable[[RepositoryClient], Coroutine[Any, Any, T]]) -> T:
        return self.runner.run(work(self.client))

    def lines(self) -> list[str]:
        """What was asked of the repository, in order."""
        asked = [
            one for one in self.world.requests if one.kind == "rest" and f"{one.path}/".startswith(f"{self.home}/")
        ]
        return [f"{one.method} {one.path}" for one in asked]

    def open(self, branch: str = "topic", head: str = "", **files: str | None) -> int:
        self.world.push_files(self.repo, branch, files or {"a.py": "x = 2\n"}, "Change", "ann")
        return self.world.open_pull(self.repo, head or branch, "A change", "Please.", "ann")

    def head(self, number: int) -> str:
        return next(pull.head_sha for pull in self.world.pulls(self.repo) if pull.number == number)

    def twist(self, path: str, **changes: Any) -> None:
        """The next answer there is the last one with these changes."""
        last = next(one for one in reversed(self.world.requests) if one.path == path)
        body = copy.deepcopy(last.response) | changes
        self.world.faults.add("GET", path, status=200, body=body)


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    root = tmp_path_factory.mktemp("github")
    with StandIn(root / "hub", webhook_url=None, webhook_secret="w" * 32) as running:
        yield running
        assert_traffic_is_githubs(running)


@pytest.fixture(scope="module")
def ours(standin: StandIn) -> Iterator[tuple[GitHub, asyncio.Runner]]:
    """The client of all tests here and the loop that it is bound to."""
    with asyncio.Runner() as runner:
        client = open_client(standin.api_url)
        yield (
            GitHub(
                app_id=str(standin.app_id),
                key_pem=standin.private_key_pem,
                api_url=standin.api_url,
                client=client,
                write_spacing_s=0,
                clock=Clock(sleep=lambda _seconds: asyncio.sleep(0)),
            ),
            runner,
        )
        runner.run(client.aclose())


_numbers = itertools.count(1)


@pytest.fixture
def hub(standin: StandIn, ours: tuple[GitHub, asyncio.Runner]) -> Iterator[Hub]:
    """A repository of the test's own."""
    github, runner = ours
    world = standin.world
    repo = Repo(owner="octo", name=f"shop{next(_numbers)}", installation_id=0)
    world.create_repo(repo.full_name, {"a.py": "x = 1\n", "b.py": "y = 1\n" * 20})
    world.set_permission(repo.full_name, "ann", "write")
    repo = repo.model_copy(update={"installation_id": world.installation_id(repo.full_name)})
    yield Hub(world, repo.full_name, github.repository(repo), runner)
    world.faults.clear()


# --- pull requests


def test_a_pull_request_is_read_as_it_is_now(hub: Hub) -> None:
    number = hub.open()
    hub.world.add_label(hub.repo, number, "urgent", "ann")
    pull = hub.ask(lambda client: client.pull(number))
    assert pull == PullRequest(
        number=number, title="A change", body=hub.world.issue(hub.repo, number).body, author="ann",
        state="open", head_sha=hub.head(number), head_ref="topic",
        head_repo=hub.repo, base_ref="main", base_sha=hub.world.branches(hub.repo)["main"], labels=("urgent",),
        merge_commit_sha=pull.merge_commit_sha, updated_at=pull.updated_at,
    )  # fmt: skip
    assert pull.updated_at is not None
    assert abs(datetime.now(UTC) - pull.updated_at) < timedelta(minutes=5)
    hub.world.convert_to_draft(hub.repo, number, "ann")
    moved = hub.world.push_files(hub.repo, "topic", {"a.py": "x = 3\n"}, "More", "ann")
    later = hub.ask(lambda client: client.pull(number))
    assert (later.draft, later.head_sha) == (True, moved)


def test_a_merged_one_tells_its_merge_and_a_closed_one_is_not_merged(hub: Hub) -> None:
    merged, closed = hub.open(), hub.open("other", c="1")
    commit = hub.world.merge_pull(hub.repo, merged, "ann")
    hub.world.close_issue(hub.repo, closed, "ann")
    pull = hub.ask(lambda client: client.pull(merged))
    assert (pull.state, pull.merged, pull.merge_commit_sha) == ("closed", True, commit)
    pull = hub.ask(lambda client: client.pull(closed))
    assert (pull.state, pull.merged) == ("closed", False)


def test_the_repository_of_a_fork_is_named(hub: Hub) -> None:
    fork = hub.world.fork(hub.repo, "eve")
    hub.world.push_files(fork, "main", {"a.py": "x = 9\n"}, "Mine", "eve")
    number = hub.world.open_pull(hub.repo, "eve:main", "Take it", "", "eve")
    pull = hub.ask(lambda client: client.pull(number))
    assert (pull.head_repo, pull.head_ref, pull.author) == (fork, "main", "eve")


def test_a_head_that_is_no_commit_id_is_no_answer(hub: Hub) -> None:
    number = hub.open()
    hub.ask(lambda client: client.pull(number))
    path = f"{hub.home}/pulls/{number}"
    head = hub.world.requests[-1].response["head"]
    hub.twist(path, head={**head, "sha": "--upload-pack=x"})
    with pytest.raises(Transient, match=r"head\.sha"):
        hub.ask(lambda client: client.pull(number))


@pytest.mark.parametrize(("missing", "found"), [(1, True), (2, True), (3, False)])
def test_a_pull_request_that_cannot_be_read_yet_is_asked_for_again(hub: Hub, missing: int, found: bool) -> None:
    number = hub.open()
    hub.world.faults.add("GET", f"{hub.home}/pulls/{number}", status=404, times=missing)
    if found:
        assert hub.ask(lambda client: client.pull(number)).number == number
    else:
        with pytest.raises(Stale):
            hub.ask(lambda client: client.pull(number))
    assert len(hub.lines()) == (missing + 1 if found else 3)


def test_changed_paths_are_all_told_and_a_renamed_one_by_both_names(hub: Hub) -> None:
    many = {f"src/{n}.txt": f"{n}\n" for n in range(120)}
    number = hub.open(**many, **{"new.py": "y = 1\n" * 20, "b.py": None})  # type: ignore[arg-type]
    paths = hub.ask(lambda client: client.pull_files(number))
    assert set(paths) == {*many, "new.py", "b.py"}
    assert len(paths) == 122
    renamed = [f for one in hub.world.requests for f in one.response or () if one.path.endswith("/files")]
    assert {"previous_filename": "b.py"}.items() <= next(f for f in renamed if f["filename"] == "new.py").items()
    assert len(hub.lines()) == 2


# --- the pull requests of a commit


def test_the_open_pull_requests_of_a_head_are_found_and_no_others(hub: Hub) -> None:
    first = hub.open()
    older = hub.head(first)
    head = hub.world.push_files(hub.repo, "topic", {"a.py": "x = 3\n"}, "More", "ann")
    hub.world.push_files(hub.repo, "release", {"c.py": "1\n"}, "Release", "ann")
    second = hub.world.open_pull(hub.repo, "topic", "Also there", "", "ann", base="release")
    assert hub.ask(lambda client: client.pulls_of(head)) == (first, second)
    assert hub.ask(lambda client: client.pulls_of(older)) == ()
    hub.world.merge_pull(hub.repo, first, "ann")
    assert hub.ask(lambda client: client.pulls_of(head)) == (second,)
    assert hub.ask(lambda client: client.pulls_of(hub.world.branches(hub.repo)["main"])) == ()


@pytest.mark.parametrize(
    ("status", "body"), [(200, []), (404, None), (422, {"message": "No commit found for SHA: deadbeef"})]
)
def test_the_pull_request_of_a_forks_commit_is_found_where_github_links_it_with_none(
    hub: Hub, status: int, body: object
) -> None:
    fork = hub.world.fork(hub.repo, "eve")
    head = hub.world.push_files(fork, "main", {"a.py": "x = 9\n"}, "Mine", "eve")
    hub.open()
    number = hub.world.open_pull(hub.repo, "eve:main", "Take it", "", "eve")
    hub.world.faults.add("GET", f"{hub.home}/commits/{head}/pulls", status=status, body=body)
    assert hub.ask(lambda client: client.pulls_of(head)) == (number,)


def test_a_commit_that_nobody_knows_has_no_pull_request(hub: Hub) -> None:
    hub.open()
    assert hub.ask(lambda client: client.pulls_of("d" * 40)) == ()


# --- who wrote it


def test_the_author_of_a_commit_is_an_account_or_none(hub: Hub) -> None:
    sha = hub.world.push_files(hub.repo, "topic", {"a.py": "x = 2\n"}, "Change", "ann")
    assert hub.ask(lambda client: client.commit_author_of(sha)) == "ann"
    for nobody in (None, {}):
        hub.twist(f"{hub.home}/commits/{sha}", author=nobody)
        assert hub.ask(lambda client: client.commit_author_of(sha)) is None


def test_a_commit_that_is_gone_has_no_author_to_ask_for(hub: Hub) -> None:
    with pytest.raises(Stale, match="dddd"):
        hub.ask(lambda client: client.commit_author_of("d" * 40))


# --- reactions


def _comments(hub: Hub) -> dict[str, tuple[int, Callable[[], Any]]]:
    """A comment of each kind: its id, and what is on it."""
    number = hub.open()
    world = hub.world
    issue = world.comment(hub.repo, number, "/mendbot fix", "ann")
    review = world.review_comment(hub.repo, number, "/mendbot fix", "ann", path="a.py", line=1)
    return {
        "issue_comment": (issue, lambda: world.comments(hub.repo, number)[0].reactions),
        "review_comment": (review, lambda: world.review_comments(hub.repo, number)[0].reactions),
    }


@pytest.mark.parametrize("kind", ["issue_comment", "review_comment"])
def test_a_reaction_is_there_once_however_often_it_is_asked_for(hub: Hub, kind: Any) -> None:
    number, reactions = _comments(hub)[kind]
    for content in ("eyes", "eyes", "rocket", "eyes"):
        hub.ask(lambda client, said=content: client.react(kind, number, said))  # type: ignore[misc]
    assert reactions() == (("eyes", "mendbot[bot]"), ("rocket", "mendbot[bot]"))


@pytest.mark.parametrize("kind", ["issue_comment", "review_comment"])
@pytest.mark.parametrize("after_effect", [True, False])
def test_a_reaction_survives_broken_answers(hub: Hub, kind: Any, after_effect: bool) -> None:
    number, reactions = _comments(hub)[kind]
    hub.world.faults.add("POST", ".*/reactions", status=502, times=2, after_effect=after_effect)
    hub.ask(lambda client: client.react(kind, number, "confused"))
    assert reactions() == (("confused", "mendbot[bot]"),)


@pytest.mark.parametrize("kind", ["issue_comment", "review_comment"])
def test_a_comment_that_is_gone_is_stale(hub: Hub, kind: Any) -> None:
    with pytest.raises(Stale):
        hub.ask(lambda client: client.react(kind, 999_999, "eyes"))


# --- refusals

CALLS: dict[str, tuple[str, Callable[[RepositoryClient], Coroutine[Any, Any, object]]]] = {
    "pull": (r"GET .*/pulls/1", lambda client: client.pull(1)),
    "pull_files": (r"GET .*/pulls/1/files", lambda client: client.pull_files(1)),
    "pulls_of": (r"GET .*/commits/\w+/pulls", lambda client: client.pulls_of("d" * 40)),
    "commit_author_of": (r"GET .*/commits/\w+", lambda client: client.commit_author_of("d" * 40)),
    "react": (r"POST .*/reactions", lambda client: client.react("issue_comment", 1, "eyes")),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("status", "error"), [(403, UserError), (404, Stale), (410, Stale), (422, UserError), (502, Transient)]
)
def test_a_refusal_is_one_of_our_errors(hub: Hub, name: str, status: int, error: type[Exception]) -> None:
    line, work = CALLS[name]
    method, _, path = line.partition(" ")
    hub.world.faults.add(method, path, status=status, times=9, body={"message": "no"})
    if (name, status) == ("pulls_of", 404):
        hub.world.faults.add("GET", f"{hub.home}/pulls", status=404)
    if (name, status) == ("commit_author_of", 422):
        error = Stale
    with pytest.raises(error):
        hub.ask(work)


# --- comments on a pull request's thread


def test_a_pull_requests_thread_has_one_comment_for_each_key_and_a_strangers_is_never_taken(hub: Hub) -> None:
    number = hub.open()
    keys = ("issue", "fix", "checks", "reply", "status", "help", "explain", "history", "group")
    for key in keys:
        hub.world.comment(hub.repo, number, f"<!-- mendbot:{key} -->\nforged", "eve")

    async def say(client: RepositoryClient, text: str) -> list[int]:
        return [await client.upsert_comment(number, key, f"{text} {key}") for key in keys]

    first = hub.ask(lambda client: say(client, "first"))
    assert hub.ask(lambda client: say(client, "then")) == first
    comments = hub.world.comments(hub.repo, number)
    assert [one.body for one in comments if one.author == "eve"] == [f"<!-- mendbot:{k} -->\nforged" for k in keys]
    ours = {one.id: one.body for one in comments if one.author == "mendbot[bot]"}
    assert ours == {made: f"<!-- mendbot:{k} -->\nthen {k}" for made, k in zip(first, keys, strict=True)}


# --- check runs with buttons and times

FIX = CheckAction(label="Fix", description="Let Mendbot mend what is new", identifier="fix")
AGAIN = CheckAction(label="Re-run failed", description="Run the failed checks again", identifier="rerun")
NOON = datetime(2027, 1, 2, 12, 0, 0, tzinfo=UTC)


def tell(hub: Hub, sha: str, status: str = "completed", **more: Any) -> int:
    output = CheckOutput(
        title="1 failed", summary="S", text=more.pop("text", ""), annotations=more.pop("annotations", ())
    )
    conclusion = "failure" if status == "completed" else None
    return hub.ask(
        lambda client: client.upsert_check_run(
            name="mendbot / test", sha=sha, external_id="pull-1", status=status, conclusion=conclusion,
            output=output, **more,
        )
    )  # fmt: skip


def note(line: int) -> Annotation:
    return Annotation(path="a.py", start_line=line, end_line=line, level="failure", message=f"m{line}")


def test_buttons_come_with_the_result_and_go_with_the_next_state(hub: Hub) -> None:
    sha = hub.head(hub.open())
    made = tell(hub, sha, "queued", actions=())
    assert tell(hub, sha, actions=(AGAIN, FIX)) == made
    (run,) = hub.world.check_runs(hub.repo, sha)
    assert run.actions == (AGAIN.model_dump(), FIX.model_dump())
    hub.world.press_button(made, "fix", "ann")
    assert tell(hub, sha, actions=(AGAIN,)) == made
    assert hub.world.check_runs(hub.repo, sha)[0].actions == (AGAIN.model_dump(),)
    assert tell(hub, sha, actions=()) == made
    assert hub.world.check_runs(hub.repo, sha)[0].actions == ()


def test_a_run_that_never_has_buttons_is_not_written_again(hub: Hub) -> None:
    sha = hub.head(hub.open())
    tell(hub, sha)
    tell(hub, sha)
    (written,) = [one for one in hub.world.requests if one.path == f"{hub.home}/check-runs"]
    assert [line for line in hub.lines() if not line.startswith("GET")] == [f"POST {written.path}"]
    assert written.body["actions"] == []


def test_a_completed_run_is_opened_again_and_says_nothing_old(hub: Hub) -> None:
    sha = hub.head(hub.open())
    made = tell(hub, sha, text="long ago", actions=(FIX,))
    for status in ("queued", "in_progress"):
        assert tell(hub, sha, status, actions=()) == made
        (run,) = hub.world.check_runs(hub.repo, sha)
        assert (run.status, run.conclusion, run.text, run.actions) == (status, None, "", ())
    assert tell(hub, sha) == made
    assert hub.world.check_runs(hub.repo, sha)[0].conclusion == "failure"


def test_a_run_with_annotations_is_not_opened_again_for_they_would_stay(hub: Hub) -> None:
    sha = hub.head(hub.open())
    old = tell(hub, sha, annotations=(note(1),))
    made = tell(hub, sha, "queued")
    assert made != old
    assert tell(hub, sha, "in_progress") == made
    assert tell(hub, sha, annotations=(note(2), note(3))) == made
    runs = hub.world.check_runs(hub.repo, sha)
    assert [[a["message"] for a in run.annotations] for run in runs] == [["m1"], ["m2", "m3"]]


def test_a_run_made_anew_behind_a_broken_answer_is_not_taken_for_the_old_one(hub: Hub) -> None:
    sha = hub.head(hub.open())
    old = tell(hub, sha, annotations=(note(1),))
    hub.world.faults.add("POST", f"{hub.home}/check-runs", status=502)
    with pytest.raises(Transient):
        tell(hub, sha, "queued")
    hub.world.faults.add("POST", f"{hub.home}/check-runs", status=502, after_effect=True)
    made = tell(hub, sha, "queued")
    assert made != old
    assert [run.id for run in hub.world.check_runs(hub.repo, sha)] == [old, made]


def test_a_run_that_github_keeps_completed_gets_a_successor(hub: Hub) -> None:
    sha = hub.head(hub.open())
    old = tell(hub, sha)
    kept = next(one for one in reversed(hub.world.requests) if one.path == f"{hub.home}/check-runs").response
    hub.world.faults.add("PATCH", f"{hub.home}/check-runs/{old}", status=200, body=kept)
    made = tell(hub, sha, "in_progress")
    assert made != old
    assert tell(hub, sha) == made


def test_the_times_of_a_run_are_told(hub: Hub) -> None:
    sha = hub.head(hub.open())
    seoul = NOON.astimezone(timezone(timedelta(hours=9)))
    tell(hub, sha, "in_progress", started_at=seoul)
    tell(hub, sha, started_at=seoul, completed_at=NOON + timedelta(seconds=41, microseconds=5))
    (run,) = hub.world.check_runs(hub.repo, sha)
    assert (run.started_at, run.completed_at) == ("2027-01-02T12:00:00Z", "2027-01-02T12:00:41Z")


@pytest.mark.parametrize(
    ("status", "more"),
    [
        ("completed", {"actions": (FIX,) * 4}),
        ("completed", {"actions": (FIX.model_copy(update={"label": "l" * 21}),)}),
        ("completed", {"actions": (FIX.model_copy(update={"description": "d" * 41}),)}),
        ("completed", {"actions": (FIX.model_copy(update={"identifier": "i" * 21}),)}),
        ("completed", {"actions": (FIX.model_copy(update={"label": ""}),)}),
        ("completed", {"started_at": NOON.replace(tzinfo=None)}),
        ("in_progress", {"completed_at": NOON}),
    ],
)
def test_what_github_would_refuse_is_our_mistake_and_is_not_sent(hub: Hub, status: str, more: Any) -> None:
    with pytest.raises(ValueError, match="check run"):
        tell(hub, "d" * 40, status, **more)
    assert not hub.lines()


def test_buttons_of_just_the_right_size_are_taken(hub: Hub) -> None:
    sha = hub.head(hub.open())
    fits = tuple(CheckAction(label="단" * 20, description="d" * 40, identifier=f"{n}" * 20) for n in range(3))
    tell(hub, sha, actions=fits)
    assert len(hub.world.check_runs(hub.repo, sha)[0].actions) == 3
