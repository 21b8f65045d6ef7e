"""Why a command that was understood was not done, in English and in Korean. Each is plain text that ends a sentence
of `reports.commands.replies.refused_reply`, which escapes it; so values may be untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bot.model import Language

_ENGLISH: Mapping[str, str] = {
    "no_run": "no run has worked here yet. Comment `/mendbot fix`",
    "last_succeeded": "the last run here succeeded. For another one, comment `/mendbot fix`",
    "issue_taken": "another run works on #{number}",
    "cancel_first": "a run works on #{number}. Comment `/mendbot cancel` first",
    "issue_closed": "#{number} is closed",
    "issue_skipped": "#{number} has the label `{label}`",
    "not_an_issue": "#{number} is a pull request",
    "pull_closed": "the pull request is closed",
    "pull_taken": "another run works on this pull request",
    "not_checked": "the head commit has not been checked yet. Comment `/mendbot check` first",
    "not_done": "the checks are still running. Try again when they are done",
    "nothing_new": "the checks of the head commit show no new failure",
    "limit_pull": "push limit reached: {most} pushes to this pull request",
    "limit_hour": "push limit reached: {most} pushes per hour to pull requests of this repository",
    "nothing_failed": "no check of the head commit failed. To re-run all of them, comment `/mendbot retest all`",
    "awaiting": "a maintainer must approve the code first, by `/mendbot ok-to-test {sha}`",
    "no_box": "no sandbox works on Mendbot's machine, so only code of people with write access runs",
    "being_checked": "checks of {sha} are running already",
    "nothing_to_stop": "nothing is running or queued here",
    "not_the_head": "{named} is not the head commit. Review {sha}, then comment `/mendbot ok-to-test {sha}`",
    "head_moved": "the head commit is {sha} now. Review it, then comment `/mendbot ok-to-test {sha}`",
    "head_unsure": "the head changed around the time of your comment. Review {sha}, then comment `/mendbot "
    "ok-to-test {sha}`",
    "head_just_pushed": "{sha} was pushed around the time of your comment. Review it, then comment `/mendbot "
    "ok-to-test {sha}`",
    "nothing_paused": "nothing is paused here",
    "no_failure": "no failure is on record here to record a fix for",
    "in_no_group": "{issues}: not in a group that is open here",
    "group_full": "a group holds at most {most} issues",
    "in_group_already": "the issues are in this group already",
    "bad_diff": "the diff cannot be applied: {problem}",
}

_KOREAN: Mapping[str, str] = {
    "no_run": "아직 여기에서 작업한 실행이 없습니다. `/mendbot fix` 명령을 사용해 주세요",
    "last_succeeded": "마지막 실행이 성공했습니다. 다시 작업하려면 `/mendbot fix` 명령을 사용해 주세요",
    "issue_taken": "#{number} 이슈는 이미 작업하고 있습니다",
    "cancel_first": "#{number} 이슈를 작업하고 있습니다. 먼저 `/mendbot cancel` 명령을 사용해 주세요",
    "issue_closed": "#{number} 이슈는 닫혀 있습니다",
    "issue_skipped": "#{number} 이슈에 `{label}` 라벨이 있습니다",
    "not_an_issue": "이슈가 아니라 PR입니다: #{number}",
    "pull_closed": "PR이 닫혀 있습니다",
    "pull_taken": "이 PR은 다른 실행이 이미 작업하고 있습니다",
    "not_checked": "이 커밋은 아직 체크하지 않았습니다. 먼저 `/mendbot check` 명령을 사용해 주세요",
    "not_done": "체크가 아직 끝나지 않았습니다. 끝난 뒤 다시 요청해 주세요",
    "nothing_new": "이 커밋의 체크에는 이 PR 때문에 새로 생긴 실패가 없습니다",
    "limit_pull": "Mendbot이 이 PR에 이미 {most}번 푸시했습니다. 더는 푸시할 수 없습니다",
    "limit_hour": "Mendbot이 한 시간 안에 이 저장소의 PR에 {most}번 푸시했습니다. 잠시 뒤에 다시 요청해 주세요",
    "nothing_failed": "이 커밋에서 실패한 체크가 없습니다. 모두 재실행하려면 "
    "`/mendbot retest all` 명령을 사용해 주세요",
    "awaiting": "쓰기 권한이 있는 사람이 먼저 `/mendbot ok-to-test {sha}` 명령으로 코드를 승인해야 합니다",
    "no_box": "Mendbot이 실행되는 컴퓨터에서 샌드박스를 쓸 수 없어, 쓰기 권한이 있는 사람의 코드만 실행합니다",
    "being_checked": "{sha} 커밋은 이미 체크하고 있습니다",
    "nothing_to_stop": "여기에서 실행 중이거나 대기 중인 작업이 없습니다",
    "not_the_head": "최신 커밋이 아닙니다: {named}. 최신 커밋은 {sha}입니다. 확인한 뒤 "
    "`/mendbot ok-to-test {sha}` 명령을 사용해 주세요",
    "head_moved": "그사이 최신 커밋이 바뀌었습니다: {sha}. 확인한 뒤 `/mendbot ok-to-test {sha}` 명령을 사용해 주세요",
    "head_unsure": "댓글을 쓸 무렵에 최신 커밋이 바뀌었습니다. 지금은 {sha} 커밋입니다. "
    "확인한 뒤 `/mendbot ok-to-test {sha}` 명령을 사용해 주세요",
    "head_just_pushed": "댓글을 쓸 무렵에 {sha} 커밋이 푸시되었습니다. 확인한 뒤 `/mendbot ok-to-test {sha}` 명령을 "
    "사용해 주세요",
    "nothing_paused": "여기에서는 아무것도 일시 중지되어 있지 않습니다",
    "no_failure": "여기에 기록된 실패가 없어, 해결 방법을 기록할 대상이 없습니다",
    "in_no_group": "{issues}: 여기에서 진행 중인 그룹에 없습니다",
    "group_full": "그룹에는 이슈를 {most}개까지만 넣을 수 있습니다",
    "in_group_already": "이미 이 그룹에 있습니다",
    "bad_diff": "이 diff는 적용할 수 없습니다: {problem}",
}

REFUSALS: Mapping[Language, Mapping[str, str]] = MappingProxyType({"en": _ENGLISH, "ko": _KOREAN})
