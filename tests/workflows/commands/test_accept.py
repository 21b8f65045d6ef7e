"""Which commands of which comments are heard, how often, and what is answered (REQ-CMD-001, REQ-CMD-002, T12, T16)."""

from __future__ import annotations

import json

from bot.rules.events import parse as parser
from bot.workflows.commands.accept import MAX_PER_HOUR
from bot.workflows.deliveries.process_deliveries import decide_and_act
from tests.workflows.commands.command_scenario import AtDesk, CommandScenario, on
from tests.workflows.conftest import NAME

DONE, NOT_DONE = ["eyes", "rocket"], ["eyes", "confused"]
BOTH = ["eyes", "rocket", "confused"]


def test_a_mistake_is_shown_with_a_caret_and_a_later_one_has_a_reply_of_its_own(at_desk: AtDesk) -> None:
    """REQ-CMD-002."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot stauts")
        assert thread.reactions(number, comment) == NOT_DONE
        first = thread.told(number, "reply")
        assert "/mendbot stauts\n         ^" in first
        assert "Did you mean `/mendbot status`?" in first
        (before,) = thread.words(number)
        await thread.say(number, "/mendbot history")
        assert "stauts" not in thread.told(number, "reply")
        assert thread.words(number)[0] == before and len(thread.words(number)) == 2

    on(at_desk, work)


def test_a_command_that_has_no_place_here_says_where_it_has(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot ok-to-test")
        assert thread.reactions(number, comment) == NOT_DONE
        assert "pull request" in thread.told(number, "reply")

    on(at_desk, work)


def test_commands_of_one_comment_run_in_order_and_the_sixth_is_told(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        lines = ["pause", "resume", "resume", "pause", "status", "resume"]
        comment = await thread.say(number, "\n".join(f"/mendbot {line}" for line in lines))
        assert thread.reactions(number, comment) == NOT_DONE
        said = thread.told(number, "reply")
        order = [said.index("Paused"), said.index("nothing is paused here"), said.index("did not run, in line 6")]
        assert order == sorted(order)
        assert await thread.at.context.stores.threads.paused(thread.at.repo, number) == "ada"
        assert "`ada`" in thread.told(number, "status")

    on(at_desk, work)


def test_an_edit_runs_only_what_the_text_before_lacked(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot pause")
        for text, obeyed in (
            ("Please.\n\n/mendbot pause", []),
            ("/mendbot pause\n/mendbot resume", ["resume"]),
            ("/mendbot resume", []),
            ("/mendbot resume\n/mendbot resume", ["resume"]),
        ):
            thread.world.edit_comment(comment, text, "ada")
            await thread.hear()
            jobs = [job for job in thread.at.jobs if job.kind == "command"]
            assert [one["verb"] for job in jobs for one in job.args["commands"]] == obeyed
            thread.at.jobs.clear()

    on(at_desk, work)


def test_an_edit_counts_as_the_editors(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.world.create_user("eve")
        number = thread.at.issue(label="")
        comment = await thread.say(number, "Broken.", by="eve")
        thread.world.edit_comment(comment, "/mendbot pause", "ada")
        await thread.hear()
        await thread.work("command")
        assert thread.reactions(number, comment) == DONE
        assert await thread.at.context.stores.threads.paused(thread.at.repo, number) == "ada"

    on(at_desk, work)


def test_deleting_a_comment_runs_nothing(at_desk: AtDesk) -> None:
    """REQ-CMD-001."""

    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "Text")
        thread.world.edit_comment(comment, "```\n/mendbot pause\n```", "ada")
        thread.world.delete_comment(comment, "ada")
        await thread.hear()
        assert thread.at.jobs == []

    on(at_desk, work)


def test_what_mendbot_says_itself_is_never_obeyed(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        await thread.say(number, "/mendbot help\n/mendbot resmue\n/mendbot resume")
        before = len(thread.because)
        await thread.hear()
        assert thread.at.jobs == []
        (own,) = [c for c in thread.world.comments(NAME, number) if "mendbot:reply" in c.body]
        thread.world.edit_comment(own.id, own.body.replace("```text", "```"), "ada")  # somebody with the right to
        await thread.hear()
        assert thread.at.jobs == []
        assert len(thread.because) > before

    on(at_desk, work)


def test_a_command_after_signs_that_nobody_sees_is_heard(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "\u200b\ufeff/mendbot pause")
        assert thread.reactions(number, comment) == DONE

    on(at_desk, work)


def test_one_comment_is_obeyed_once_however_often_it_is_delivered(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/mendbot pause\n/mendbot nonsense")
        thread.world.edit_comment(comment, "/mendbot resume", "ada")
        await thread.hear()
        await thread.work("command")
        said = [one.updated_at for one in thread.world.comments(NAME, number)]
        for one in [one for one in thread.world.deliveries if one.event == "issue_comment"]:
            await decide_and_act(thread.at.context, parser.parse(one.event, json.loads(one.payload)))
        await thread.work("command")
        assert await thread.at.context.stores.threads.paused(thread.at.repo, number) is None
        assert [one.updated_at for one in thread.world.comments(NAME, number)] == said

    on(at_desk, work)


def test_a_second_delivery_is_the_same_job_even_beyond_the_cap(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        for _ in range(MAX_PER_HOUR // 5 - 1):
            thread.world.comment(NAME, number, "/mendbot status\n" * 5, "ada")
        thread.world.comment(NAME, number, "/mendbot status\n" * 3, "ada")
        thread.world.comment(NAME, number, "/mendbot status\n" * 5, "ada")
        await thread.hear()
        last = [one for one in thread.world.deliveries if one.event == "issue_comment"][-1]
        assert thread.at.jobs[-1].args["busy"]
        await decide_and_act(thread.at.context, parser.parse(last.event, json.loads(last.payload)))
        assert thread.at.jobs[-1].id == thread.at.jobs[-2].id

    on(at_desk, work)


def test_a_flood_becomes_no_more_jobs_than_the_cap_and_one_polite_word(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        for _ in range(24):
            thread.world.comment(NAME, number, "\n".join(["/mendbot resume"] * 5), "ada")
        await thread.hear()
        commands = [one for job in thread.at.jobs for one in job.args["commands"]]
        assert len(commands) == MAX_PER_HOUR
        assert sum(job.args["busy"] for job in thread.at.jobs) == 1
        await thread.work("command")
        (said,) = thread.words(number)
        assert f"{MAX_PER_HOUR} commands" in said
        other = await thread.say(thread.at.issue(label=""), "/mendbot help")
        assert thread.at.jobs == []
        assert thread.reactions(number + 1, other) == []

    on(at_desk, work)


def test_short_forms_count_only_where_they_are_configured(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        comment = await thread.say(number, "/cancel")
        assert thread.reactions(number, comment) == []
        thread.policy("aliases: true\n")
        assert thread.reactions(number, await thread.say(number, "/cancel")) == NOT_DONE
        thread.policy("aliases: {/halt: pause}\n")
        assert thread.reactions(number, await thread.say(number, "/cancel")) == []
        assert thread.reactions(number, await thread.say(number, "/halt")) == DONE

    on(at_desk, work)


def test_answers_are_in_the_repositorys_language(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        thread.policy("language: ko\n")
        number = thread.at.issue(label="")
        for text, words in (
            (
                "/mendbot cancel",
                "`/mendbot cancel` 명령을 실행하지 못했습니다: 여기에서 실행 중이거나 대기 중인 작업이 없습니다",
            ),
            ("/mendbot stauts", "없는 명령입니다"),
            ("/mendbot group add #1", "이미 이 그룹에 있습니다"),
            ("/mendbot pause", "일시 중지했습니다"),
        ):
            await thread.say(number, text)
            assert words in thread.told(number, "reply")
        await thread.say(number, "/mendbot help")
        assert "**명령**" in thread.told(number, "help")
        await thread.say(number, "/mendbot apply\n\n```diff\nhello\n```")
        assert "이 diff는 적용할 수 없습니다" in thread.told(number, "reply")

    on(at_desk, work)


def test_a_run_that_waits_is_told_in_the_readers_language_and_since_when(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue()
        await thread.hear()
        await thread.gather()
        await thread.say(number, "/mendbot pause")
        await thread.work("fix", steps=1)
        await thread.say(number, "/mendbot status")
        told = thread.told(number, "status")
        assert "지금까지" in told and "기다렸습니다" in told
        assert "`ada` 님이" in told and "일시 중지했습니다" in told and "Paused" not in told
        assert "자동으로" not in told

    on(at_desk, work, language="ko")


def test_a_list_whose_link_leads_elsewhere_takes_no_answer_from_a_command(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue(label="")
        astray = {"Link": '<https://elsewhere.example/comments?page=2>; rel="next"'}
        thread.world.faults.add(
            "GET", f"/repos/{NAME}/issues/{number}/comments", status=200, body=[], headers=astray, times=9
        )
        comment = await thread.say(number, "/mendbot stauts")
        assert "Did you mean `/mendbot status`?" in thread.told(number, "reply")
        assert thread.reactions(number, comment) == NOT_DONE

    on(at_desk, work)


def test_resume_wakes_the_run_that_waits(at_desk: AtDesk) -> None:
    async def work(thread: CommandScenario) -> None:
        number = thread.at.issue()
        await thread.hear()
        await thread.gather()
        job = next(job.id for job in thread.at.jobs if job.kind == "fix")
        await thread.say(number, "/mendbot pause")
        assert thread.at.woken == []
        await thread.say(number, "/mendbot resume")
        assert thread.at.woken == [job]

    on(at_desk, work)
