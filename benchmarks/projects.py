"""*Real projects*: bugs of local clones whose fix is known, given to the real bot without any configuration.

`python -m benchmarks projects DIR[@COMMIT]…` (`@planted` for a planted bug); a file `DIR.mendbot.yml` beside a clone is
the configuration that is tried where it does not get there without one. Each bug gets four agents: one that changes
nothing, one that deletes the tests, one whose right diff is damaged, and one that is wrong first and then right."""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.project_case import Case, cases, git
from benchmarks.project_parts import ACTOR, PARTS, Outcome, play, write_parts
from benchmarks.servers import bot
from bot.store.database.database import Database
from bot.store.runs.runs import Runs
from demo.standin.server import StandIn

AGENT = Path(__file__).with_name("project_agent.py")
_MAX_CASES = 6
"""Commits of one clone that are tried until one's tests fail before its fix."""


@dataclass(frozen=True, slots=True)
class Project:
    """What came of one project: an outcome for each part, in the order of PARTS."""

    case: Case
    outcomes: tuple[Outcome, ...]
    configured: bool = False

    @property
    def green(self) -> bool:
        return self.outcomes[-1].fixed

    @property
    def false_claims(self) -> int:
        return sum(outcome.false_claim for outcome in self.outcomes)


def main(arguments: Sequence[str]) -> int:
    """Run the projects and print the table, or one JSON document; 0 where no claim was false."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks projects", description="fix known bugs of local clones")
    parser.add_argument("clones", nargs="+", metavar="DIR[@COMMIT]", help="a clone, and the commit that fixed a bug")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave homes, logs and repositories there")
    options = parser.parse_args(arguments)
    found = []
    for named in options.clones:
        sys.stderr.write(f"project {named} …\n")
        for project in _tried(named, options.keep):
            found.append(project)
            print(json.dumps(_as_json(project)) if options.json else _line(project), flush=True)
    if not options.json:
        print(_summary(found))
    return 0 if all(project.false_claims == 0 for project in found) else 1


def _tried(named: str, keep: Path | None) -> Iterator[Project]:
    """The project without configuration and, where that isn't green, with the one beside it."""
    place, _, commit = named.partition("@")
    clone, policy = Path(place).resolve(), Path(f"{Path(place).resolve()}.mendbot.yml")
    for case in islice(cases(clone, commit), _MAX_CASES):
        project = _run(case, "", keep)
        if project.outcomes[0].ended == "green base":
            sys.stderr.write(f"  {case.subject[:60]}: its tests pass without the fix\n")
            continue
        yield project
        if not project.green and policy.exists():
            yield _run(case, policy.read_text(encoding="utf-8"), keep)
        return
    sys.stderr.write(f"  {clone}: no bug was found that its tests show\n")


@contextmanager
def _place(keep: Path | None, name: str) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        # without signs, as a home whose path has some keeps no dependencies
        yield Path(tempfile.mkdtemp(prefix=re.sub(r"[^\w-]", "-", f"{name}-"), dir=keep))
        return
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        yield Path(where)


def _run(case: Case, policy: str, keep: Path | None) -> Project:
    """Play all parts, one after another, before one bot with one home; a base that is green ends it at the first."""
    repo = f"octo/{case.name.rpartition('+')[2]}"
    with _place(keep, case.name) as root:
        write_parts(case, root / "parts")
        with StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)) as github:
            github.world.create_user(ACTOR, "Ada")
            github.world.create_repo(repo, {".github/mendbot.yml": policy} if policy else {"README.md": "empty\n"})
            github.world.set_permission(repo, ACTOR, "write")
            base = _load(case, github.world.git_dir(repo), policy)
            env = {
                "MENDBOT_AGENTS": "fixers,command",
                "MENDBOT_AGENT_COMMAND": json.dumps(["python3", str(AGENT), str(root / "parts")]),
                "MENDBOT_AGENT_BINDS": f"{AGENT}:{root / 'parts'}",
                "MENDBOT_QUIET_SECONDS": "0.2",
                "MENDBOT_WRITE_SPACING_SECONDS": "0.05",
            }
            with bot(github, root / "home", **env) as server:
                github.world.set_webhook_url(f"http://127.0.0.1:{server.port}/api/github/webhooks")
                database = Database(f"sqlite:///{root / 'home' / 'mendbot.db'}")
                try:
                    outcomes = list(_played(github, repo, case, base, Runs(database)))
                finally:
                    database.close()
    return Project(case, tuple(outcomes), configured=bool(policy))


def _played(github: StandIn, repo: str, case: Case, base: str, runs: Runs) -> Iterator[Outcome]:
    for part in PARTS:
        outcome = play(github.world, repo, case, base, part, runs)
        sys.stderr.write(f"  {part}: {outcome.ended}, {outcome.seconds:.0f} s\n")
        yield outcome
        if outcome.ended == "green base":
            return


def _load(case: Case, git_dir: Path, policy: str) -> str:
    """Bring the base, its history and its tags into the stand-in's repository; the commit that is its main branch."""
    git(git_dir, "fetch", "-q", str(case.clone), "--tags")
    pack = git(case.clone, "pack-objects", "--revs", "--stdout", "-q", stdin=f"{case.base}\n".encode())
    git(git_dir, "index-pack", "--stdin", stdin=pack)
    base = case.base
    if policy:
        blob = git(git_dir, "hash-object", "-w", "--stdin", stdin=policy.encode()).decode().strip()
        index = git_dir / "benchmark-index"
        git(git_dir, "read-tree", base, index=index)
        git(git_dir, "update-index", "--add", "--cacheinfo", f"100644,{blob},.github/mendbot.yml", index=index)
        tree = git(git_dir, "write-tree", index=index).decode().strip()
        base = git(git_dir, "commit-tree", tree, "-p", base, "-m", "Configure Mendbot").decode().strip()
        index.unlink()
    git(git_dir, "update-ref", "refs/heads/main", base)
    return base


def _line(project: Project) -> str:
    nothing, deleted, damaged, right = (*project.outcomes, *[None] * 4)[:4]
    how = "configured" if project.configured else "planted" if project.case.planted else "none"
    cells = [project.case.name, how, *(one.shown if one else "–" for one in (right, damaged, nothing, deleted))]
    cells += (
        [f"{nothing.setup_s:.0f} s", f"{right.setup_s:.0f} s", f"{right.seconds:.0f} s"] if nothing and right else []
    )
    return f"| {' | '.join(cells)} |"


def _summary(found: Sequence[Project]) -> str:
    alone = [project for project in found if not project.configured]
    green = {project.case.name for project in found if project.green}
    claims = sum(project.false_claims for project in found)
    return (
        f"\n{len(alone)} projects; green without configuration {sum(one.green for one in alone)}, with the one beside "
        f"them {len(green)}; false claims {claims}"
    )


def _as_json(project: Project) -> dict[str, object]:
    outcomes = {outcome.part: outcome.as_json() for outcome in project.outcomes}
    case = {"name": project.case.name, "bug": project.case.subject, "planted": project.case.planted}
    return {**case, "configured": project.configured, "green": project.green, "outcomes": outcomes}
