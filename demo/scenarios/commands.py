"""The story of `make demo SCENARIO=commands`: what people ask for in comments, how fast the bot shows that it has heard
them, and that it keeps silent towards a stranger."""

from __future__ import annotations

import re
from collections.abc import Mapping

from demo.driver import Stage
from demo.scenarios.issues import Filed, Scenario, diff, sample, tools_scenario

MAINTAINER, STRANGER = "ada", "sam"
_DURATION, _IMPORTS, _FORMAT = 1, 2, 3
"""The issues by their numbers."""
_MODULE, _TESTS = "duration/duration.py", "duration/test_duration.py"
_MENDS = {_DURATION: _MODULE, _IMPORTS: "table/table.py", _FORMAT: "rules/rules.py"}
"""The module that each is about; what another one is about is none of its pull request's business."""
_HOW = "every space has to go, not only those at the ends"


def commands_scenario() -> Scenario:
    """The sample and its three issues, the third of a module of its own, as two that fix one module would bring the
    same change twice; the agent's only try is wrong, so that somebody has to lend a hand."""
    found = tools_scenario()
    imports, _, duration = found.issues
    formatting = Filed(
        "The module of rules is not formatted like the rest",
        "Quotes and spacing in `rules/rules.py` differ from every other file. The formatter should do.",
        imports.labels,
    )
    policy = ".github/mendbot.yml"
    return Scenario(
        name="commands",
        repo=found.repo,
        files={
            **found.files,
            **sample("commands"),
            policy: found.files[policy].replace(b"max_attempts: 3", b"max_attempts: 1"),
        },
        issues=(duration, imports, formatting),
        answers=found.answers[:1],
        said="the agent's only answer is wrong; a maintainer lends a hand, all of it in comments",
        act=act,
        variables={"MENDBOT_QUIET_SECONDS": "4"},
    )


def act(stage: Stage) -> None:
    stage.story.step(f"{MAINTAINER} files the issues of {stage.repo}, and labels none of them")
    for filed in commands_scenario().issues:
        number = stage.world.create_issue(stage.repo, filed.title, filed.body, author=MAINTAINER, labels=filed.labels)
        stage.story.say(f"  #{number} {filed.title}")
        stage.follow(number)
    _asked(stage)
    _a_stranger(stage)
    _a_hand_lent(stage)
    _a_slip(stage)
    _groups(stage)
    _in_the_end(stage)


def _done(stage: Stage, number: int, body: str, purpose: str, *words: str) -> int:
    """The maintainer asks; the bot shows that it has heard and has done it, and answers with these words."""
    comment = stage.comment(number, body, MAINTAINER)
    command = body.splitlines()[0]
    stage.until(f"👀 at `{command}` on #{number}", lambda: "eyes" in stage.reactions(number, comment))
    stage.until(
        f"🚀 at `{command}` on #{number}",
        lambda: "rocket" in stage.reactions(number, comment),
        unless=lambda: "confused" in stage.reactions(number, comment),
    )
    if purpose:
        stage.until(f"an answer to `{command}` on #{number}", lambda: stage.says(number, purpose, *words))
    return comment


def _asked(stage: Stage) -> None:
    stage.story.step("What can be asked? How does it stand?")
    _done(stage, _DURATION, "/mendbot help", "help", "| `/mendbot fix", "| `/mendbot history FILE`")
    _done(stage, _DURATION, "/mendbot status", "status", "Nothing has run here yet")


def _a_stranger(stage: Stage) -> None:
    stage.story.step(f"{STRANGER}, a stranger, asks for a fix: nobody answers")
    before = len(stage.world.comments(stage.repo, _DURATION))
    comment = stage.comment(_DURATION, "/mendbot fix", STRANGER)
    stage.until(
        "silence towards a stranger, and why in the list of deliveries",
        lambda: _because(stage, f"{STRANGER} has no write access to "),
        unless=lambda: bool(stage.reactions(_DURATION, comment)),
    )
    stage.story.say("  silence; /api/deliveries says why")
    answered = (
        bool(stage.reactions(_DURATION, comment)) or len(stage.world.comments(stage.repo, _DURATION)) > before + 1
    )
    stage.promise("silence towards a stranger", not answered)


def _because(stage: Stage, words: str) -> bool:
    """Whether the bot says such a thing of a delivery."""
    return any(words in row["because"] for row in stage.bot.ask("/api/deliveries"))


def _a_hand_lent(stage: Stage) -> None:
    """One attempt fails, its failure is explained, how to fix it is remembered, and a diff in a comment does so."""
    world, repo = stage.world, stage.repo
    stage.story.step("A fix; the one attempt that this repository allows fails")
    _done(stage, _DURATION, "/mendbot fix", "")
    stage.until(
        f"the label auto-fix-failed on #{_DURATION}",
        lambda: "auto-fix-failed" in world.issue(repo, _DURATION).labels,
        unless=lambda: bool(world.pulls(repo)),
    )
    _done(stage, _DURATION, "/mendbot explain", "explain", "make -C duration test")
    _done(stage, _DURATION, f"/mendbot resolved {_HOW}", "reply", "Recorded how")
    _done(stage, _DURATION, f"/mendbot history {_TESTS}", "history", _HOW)
    stage.story.step(f"{MAINTAINER} knows better, and gives the change as a diff")
    _done(stage, _DURATION, f"/mendbot apply\n\n```diff\n{_right()}```", "")
    stage.until(
        f"a pull request that closes #{_DURATION}",
        lambda: any(_DURATION in pull.closes for pull in world.pulls(repo)),
        unless=lambda: stage.says(_DURATION, "reply", "/mendbot apply` did not run"),
    )
    stage.until(
        f"the label auto-fix-done on #{_DURATION}", lambda: "auto-fix-done" in world.issue(repo, _DURATION).labels
    )


def _right() -> str:
    """The change that the agent did not find."""
    code = commands_scenario().files[_MODULE].decode()
    return diff(_MODULE, code, code.replace("_FORM.fullmatch(text)", '_FORM.fullmatch(text.replace(" ", ""))')).patch


def _a_slip(stage: Stage) -> None:
    stage.story.step("A slip of the pen does nothing; the answer shows where it is")
    slip = stage.comment(_DURATION, "Let us see:\n\n/mendbot stauts", MAINTAINER)
    stage.until("😕 at the misspelt command", lambda: "confused" in stage.reactions(_DURATION, slip))
    stage.until(
        "the misspelt line with a caret and what was meant",
        lambda: stage.says(_DURATION, "reply", "/mendbot stauts\n         ^", "/mendbot status"),
    )


def _groups(stage: Stage) -> None:
    world, repo = stage.world, stage.repo
    stage.story.step(f"{MAINTAINER} labels #{_IMPORTS} and #{_FORMAT}, asks who is together, and wants them apart")
    for number in (_IMPORTS, _FORMAT):
        world.add_label(repo, number, "auto-fix", MAINTAINER)
    _done(stage, _IMPORTS, "/mendbot group show", "group", f"#{_IMPORTS}", f"#{_FORMAT}")
    _done(stage, _FORMAT, "/mendbot pause", "reply", "Paused")
    _done(stage, _IMPORTS, "/mendbot group split", "reply", "a group of its own")
    stage.until(
        f"a pull request that closes #{_IMPORTS} alone",
        lambda: any(pull.closes == (_IMPORTS,) for pull in world.pulls(repo)),
    )
    stage.promise(f"#{_FORMAT} left alone while it is paused", not _mended(stage, _FORMAT))
    _done(stage, _FORMAT, "/mendbot status", "status", f"Paused by `{MAINTAINER}`")
    _done(stage, _FORMAT, "/mendbot resume", "reply", "The pause is over")
    stage.until(f"a pull request that closes #{_FORMAT} alone", lambda: _mended(stage, _FORMAT))
    for number in (_IMPORTS, _FORMAT):
        stage.until(
            f"the label auto-fix-done on #{number}",
            lambda number=number: "auto-fix-done" in world.issue(repo, number).labels,  # type: ignore[misc]
        )


def _mended(stage: Stage, number: int) -> bool:
    return any(pull.closes == (number,) for pull in stage.world.pulls(stage.repo))


def _changed(stage: Stage, sha: str, path: str, files: Mapping[str, bytes]) -> bool:
    return stage.world.read_file(stage.repo, sha, path) != files[path]


def _in_the_end(stage: Stage) -> None:
    pulls = stage.world.pulls(stage.repo)
    mine = [pull.closes for pull in pulls]
    stage.promise(f"one pull request for each issue, not {mine}", sorted(mine) == [(1,), (2,), (3,)])
    files = commands_scenario().files
    for pull in pulls:
        changed = {path for path in _MENDS.values() if _changed(stage, pull.head_sha, path, files)}
        stage.promise(
            f"the files of #{pull.closes[0]} alone changed in #{pull.number}, not {changed}",
            changed == {_MENDS[pull.closes[0]]},
        )
    for number in sorted(stage.threads):
        comments = stage.world.comments(stage.repo, number)
        # a comment is marked with its purpose and with the question that it answers
        marks = [
            tuple(re.findall(r"<!-- mendbot:.*? -->", one.body)) for one in comments if one.author == "mendbot[bot]"
        ]
        stage.promise(f"no answer given twice on #{number}", len(set(marks)) == len(marks))
