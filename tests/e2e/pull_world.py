"""Pull requests in the small repository of these tests, and ways to wait for what the bot makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from demo.standin.server import StandIn
from demo.standin.views import CheckRunView
from tests.e2e.conftest import CHECK, POLICY, REPO

GOOD = {"answer.txt": "42\n", "check.py": CHECK, ".github/mendbot.yml": POLICY, "README.md": "# tiny\n"}
BAD = "41\n"


def mend_main(github: StandIn) -> str:
    """The default branch passes its checks: what fails on a pull request is then new."""
    return github.world.push_files(REPO, "main", {"answer.txt": "42\n"}, "Right", "ada")


def branch(github: StandIn, name: str, files: Mapping[str, str | bytes | None], by: str = "ada") -> str:
    return github.world.push_files(REPO, name, files, f"Change for {name}", by)


def open_pull(
    github: StandIn,
    files: Mapping[str, str | bytes | None],
    *,
    name: str = "feature",
    by: str = "ada",
    draft: bool = False,
) -> tuple[int, str]:
    """A pull request of the same repository; its number and head."""
    sha = branch(github, name, files, by)
    return github.world.open_pull(REPO, name, f"Change {name}", "Please.", by, draft=draft), sha


def checks(github: StandIn, sha: str) -> dict[str, CheckRunView]:
    """The newest check run of each name at a commit."""
    return {run.name.removeprefix("mendbot / "): run for run in github.world.check_runs(REPO, sha)}


def wait_for_checks(
    github: StandIn, sha: str, timeout_s: float = 60.0, **wanted: str | None
) -> dict[str, CheckRunView]:
    """Until each of these check runs has that conclusion."""

    def there() -> bool:
        found = checks(github, sha)
        return all(name in found and found[name].conclusion == conclusion for name, conclusion in wanted.items())

    def told() -> str:
        return str({name: (run.status, run.conclusion) for name, run in checks(github, sha).items()})

    wait(github, there, f"{wanted} at {sha[:10]}", timeout_s, told)
    return checks(github, sha)


def wait(
    github: StandIn, condition: Callable[[], bool], what: str, timeout_s: float = 60.0, told: Callable[[], str] = str
) -> None:
    try:
        github.world.wait_for(condition, timeout_s, what)
    except TimeoutError as error:
        raise AssertionError(f"{error}; there is {told()}") from error


def comment_of(github: StandIn, number: int, key: str) -> str | None:
    """The bot's last comment of that purpose."""
    found = [one.body for one in github.world.comments(REPO, number) if f"<!-- mendbot:{key} -->" in one.body]
    return found[-1] if found else None


def wait_for_comment(github: StandIn, number: int, key: str, text: str = "", timeout_s: float = 60.0) -> str:
    wait(
        github,
        lambda: text in (comment_of(github, number, key) or "\0"),
        f"a comment {key!r} with {text!r} on #{number}",
        timeout_s,
        lambda: str([one.body for one in github.world.comments(REPO, number)]),
    )
    return comment_of(github, number, key) or ""


def wait_for_reaction(github: StandIn, number: int, comment_id: int, content: str, timeout_s: float = 60.0) -> None:
    wait(
        github,
        lambda: content in reactions(github, number, comment_id),
        f"{content} at comment {comment_id}",
        timeout_s,
        lambda: f"{reactions(github, number, comment_id)}, {[one.body for one in github.world.comments(REPO, number)]}",
    )


def reactions(github: StandIn, number: int, comment_id: int) -> set[str]:
    found = next(one for one in github.world.comments(REPO, number) if one.id == comment_id)
    return {content for content, _ in found.reactions}
