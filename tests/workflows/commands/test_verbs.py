"""Every verb does its work, on issues and on pull requests (REQ-CMD-002), and says so: 👀, then 🚀 or 😕."""

from __future__ import annotations

from tests.workflows.commands.command_scenario import DIFF, ERROR, AtDesk, CommandScenario, Writer, conclusions, on
from tests.workflows.conftest import NAME

DONE, NOT_DONE = ["eyes", "rocket"], ["eyes", "confused"]


def block(diff: str, info: str = "diff") -> str:
    return f"/mendbot apply\n\n```{info}\n{diff}```\n"


def test_fix_makes_a_pull_request_of_an_issue(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.at.hands.append(Writer())
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot fix")
        await thread.all()
        assert thread.reactions(number, comment) == DONE
        (pull,) = thread.world.pulls(NAME)
        assert thread.file(pull.head_sha) == "42\n"
        assert "auto-fix" in thread.world.issue(NAME, number).labels

    on(at_desk, work)


def test_fix_says_how_many_attempts_there_may_be(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        hand = Writer("40\n")
        thread.at.hands.append(hand)
        number = thread.at.issue(label="")
        await thread.say(number, "/mendbot fix max=1")
        await thread.all()
        assert [task.max_attempts for task in hand.told] == [1]

    on(at_desk, work)


def test_fix_mends_what_is_new_on_a_pull_request(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        thread.at.hands.append(Writer())
        number, sha = thread.pull()
        await thread.all()
        assert conclusions(thread, sha) == {"test": "failure"}
        comment = await thread.say(number, "/mendbot fix")
        await thread.all()
        assert thread.reactions(number, comment) == DONE
        assert thread.file("feature") == "42\n"

    on(at_desk, work)


def test_fix_and_retest_on_a_pull_request_without_a_failure_say_that(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull(answer="42\n")
        await thread.all()
        comment = await thread.say(number, "/mendbot fix")
        assert thread.reactions(number, comment) == NOT_DONE
        assert "the checks of the head commit show no new failure" in thread.told(number, "reply")
        assert thread.at.jobs == []
        comment = await thread.say(number, "/mendbot retest")
        assert thread.reactions(number, comment) == NOT_DONE
        assert "/mendbot retest all" in thread.told(number, "reply")

    on(at_desk, work)


def test_check_runs_the_named_checks_again(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, sha = thread.pull(answer="42\n")
        await thread.all()
        comment = await thread.say(number, "/mendbot check test lint")
        assert thread.reactions(number, comment) == DONE
        (row,) = await thread.checks(number)
        assert (row.spec.only, row.spec.head_sha) == (("test", "lint"), sha)
        await thread.all()
        assert conclusions(thread, sha) == {"test": "success"}

    on(at_desk, work)


def test_retest_runs_what_failed_or_all(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        for text, only in (("retest", ("test",)), ("retest all", ()), ("retest typecheck", ("typecheck",))):
            comment = await thread.say(number, f"/mendbot {text}")
            assert thread.reactions(number, comment) == DONE
            assert [row.spec.only for row in await thread.checks(number)] == [only]
            await thread.all()

    on(at_desk, work)


def test_retry_works_on_an_issue_once_more(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.at.hands.append(Writer("40\n"))
        number = thread.at.issue(label="")
        never = await thread.say(number, "/mendbot retry")
        assert thread.reactions(number, never) == NOT_DONE
        await thread.say(number, "/mendbot fix max=1")
        await thread.all()
        assert thread.world.pulls(NAME) == ()
        thread.at.hands[:] = [Writer()]
        again = await thread.say(number, "/mendbot retry")
        await thread.all()
        assert thread.reactions(number, again) == DONE
        assert [thread.file(pull.head_sha) for pull in thread.world.pulls(NAME)] == ["42\n"]

    on(at_desk, work)


def test_cancel_stops_what_waits_and_what_runs(at_desk: AtDesk) -> None:
    """G-5, REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        nothing = thread.at.issue(label="")
        comment = await thread.say(nothing, "/mendbot cancel")
        assert thread.reactions(nothing, comment) == NOT_DONE
        waiting = thread.at.issue()
        await thread.hear()
        assert thread.reactions(waiting, await thread.say(waiting, "/mendbot cancel")) == DONE
        assert await thread.at.waiting() == ()
        running = thread.at.issue()
        await thread.hear()
        await thread.gather()
        assert thread.reactions(running, await thread.say(running, "/mendbot cancel")) == DONE
        await thread.all()
        assert "`ada` commented `/mendbot cancel`." in thread.told(running, "issue")
        assert await thread.runs() == []

    on(at_desk, work)


def test_cancel_stops_the_checks_of_a_pull_request(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, sha = thread.pull()
        await thread.hear()
        assert len(await thread.checks(number)) == 1
        comment = await thread.say(number, "/mendbot cancel")
        assert thread.reactions(number, comment) == DONE
        await thread.all()
        assert conclusions(thread, sha) == {"test": "cancelled"}

    on(at_desk, work)


def test_status_and_explain_tell_of_the_last_run(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        for verb, words in (("status", "test"), ("explain", ERROR)):
            comment = await thread.say(number, f"/mendbot {verb}")
            assert thread.reactions(number, comment) == DONE
            assert words in thread.told(number, verb)
        issue = thread.at.issue()
        await thread.hear()
        await thread.say(issue, "/mendbot status")
        assert "wait" in thread.told(issue, "status")

    on(at_desk, work)


def test_apply_tries_the_diff_on_a_branch_of_the_issues_own(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, block(DIFF.format(41, 42)))
        await thread.all()
        assert thread.reactions(number, comment) == DONE
        (pull,) = thread.world.pulls(NAME)
        assert thread.file(f"fix/issue-{number}") == thread.file(pull.head_sha) == "42\n"

    on(at_desk, work)


def test_apply_pushes_to_the_branch_of_a_pull_request(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        comment = await thread.say(number, block(DIFF.format(41, 42), "patch"))
        await thread.all()
        assert thread.reactions(number, comment) == DONE
        assert thread.file("feature") == "42\n"

    on(at_desk, work)


def test_apply_offers_the_diff_on_a_forks_pull_request(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.judge()
        thread.world.create_user("mallory")
        number, sha = thread.fork("mallory")
        await thread.hear()
        refused = await thread.say(number, block(DIFF.format(41, 42)))
        assert thread.reactions(number, refused) == NOT_DONE
        assert "must approve the code first" in thread.told(number, "reply")
        await thread.say(number, f"/mendbot ok-to-test {sha}")
        await thread.all()
        await thread.say(number, block(DIFF.format(41, 42)))
        await thread.all()
        assert "+42" in thread.told(number, "fix")
        assert thread.file(f"refs/pull/{number}/head") == "41\n"

    on(at_desk, work)


def test_a_diff_that_does_not_fit_is_answered_with_why(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        await thread.say(number, block(DIFF.format("something else", 42)))
        await thread.all()
        assert "answer.txt" in thread.told(number, "issue")
        assert "given" in thread.told(number, "issue")
        assert thread.world.pulls(NAME) == ()

    on(at_desk, work)


def test_what_is_no_diff_or_touches_workflows_is_refused_at_once(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, block("hello\n"))
        assert thread.reactions(number, comment) == NOT_DONE
        assert "no diff was found" in thread.told(number, "reply")
        diff = "--- /dev/null\n+++ b/.github/workflows/x.yml\n@@ -0,0 +1 @@\n+on: push\n"
        comment = await thread.say(number, block(diff))
        assert thread.reactions(number, comment) == NOT_DONE
        assert ".github/workflows/x.yml" in thread.told(number, "reply")
        assert thread.at.jobs == []
        assert len(thread.words(number)) == 2

    on(at_desk, work)


def test_resolved_is_remembered_with_who_and_how_and_told_at_the_next_failure(at_desk: AtDesk) -> None:
    """REQ-RA-311."""

    async def work(thread: CommandScenario) -> None:
        thread.judge()
        number, _ = thread.pull()
        await thread.all()
        comment = await thread.say(number, "/mendbot resolved the answer is 42, ask the mice")
        assert thread.reactions(number, comment) == DONE
        (known,) = await thread.at.context.stores.history.by_file("answer.txt", repo=NAME)
        told = known.resolution
        assert (told.resolved_by, told.tool, told.how) == ("ada", "person", "the answer is 42, ask the mice")
        _, sha = thread.pull("other", answer="40\n")
        await thread.all()
        (check,) = [one for one in thread.world.check_runs(NAME, sha) if one.name == "mendbot / test"]
        assert "ask the mice" in str(check.annotations)
        asked = await thread.say(number, "/mendbot history answer.txt")
        assert thread.reactions(number, asked) == DONE
        assert "ask the mice" in thread.told(number, "history")

    on(at_desk, work)


def test_resolved_without_a_failure_says_that_there_is_none(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot resolved by magic")
        assert thread.reactions(number, comment) == NOT_DONE
        assert "no failure is on record" in thread.told(number, "reply")

    on(at_desk, work)


def test_help_shows_the_table_and_a_bare_command_does_too(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        for text in ("/mendbot help", "/mendbot"):
            comment = await thread.say(number, text)
            assert thread.reactions(number, comment) == DONE
        assert "/mendbot group show" in thread.told(number, "help")
        assert "ok-to-test" not in thread.told(number, "help")
        assert len(thread.words(number)) == 2

    on(at_desk, work)
