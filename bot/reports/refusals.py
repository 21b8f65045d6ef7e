"""Why a command that was understood was not done, in English and in Korean. Each is plain text that ends a sentence
of `reports.replies.refused_reply`, which escapes it; so values may be untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bot.model import Language

_ENGLISH: Mapping[str, str] = {
    "no_run": "no run has worked here yet; say /mendbot fix",
    "last_succeeded": "the last run here succeeded; say /mendbot fix for another",
    "issue_taken": "issue #{number} is being worked on already",
    "cancel_first": "issue #{number} is being worked on; say /mendbot cancel first",
    "issue_closed": "issue #{number} is closed",
    "issue_skipped": "issue #{number} has the label {label!r}",
    "not_an_issue": "#{number} is a pull request",
    "pull_closed": "the pull request is closed",
    "pull_taken": "another run works on this pull request already",
    "not_checked": "this head has not been checked yet; say /mendbot check first",
    "not_done": "its checks are not done yet; ask again when they are",
    "nothing_new": "no check of this head has a failure that is new with this pull request",
    "limit_pull": "Mendbot pushed {most} times to this pull request already, which is the most it may",
    "limit_hour": "Mendbot pushed {most} times to pull requests of this repository within the hour, which is the most "
    "it may",
    "nothing_failed": "no check of this head failed; /mendbot retest all runs them all again",
    "awaiting": "somebody with write access must approve the code first, by /mendbot ok-to-test {sha}",
    "no_box": "no sandbox works on Mendbot's machine, so only code of people with write access runs",
    "being_checked": "{sha} is being checked already",
    "nothing_to_stop": "nothing runs or waits here",
    "not_the_head": "{named} is not the head, which is {sha}; look at it, then say /mendbot ok-to-test {sha}",
    "head_moved": "the head has moved to {sha} meanwhile; look at it, then say /mendbot ok-to-test {sha}",
    "head_unsure": "it cannot be told whether {sha} was there when that was said; look at it, then say "
    "/mendbot ok-to-test {sha}",
    "head_just_pushed": "{sha} was pushed about when that was said; look at it, then say /mendbot ok-to-test {sha}",
    "nothing_paused": "nothing is paused here",
    "no_failure": "no failure is on record here, so there is nothing to remember a solution for",
    "in_no_group": "{issues}: in no group that is open here",
    "group_full": "a group has at most {most} issues",
    "in_group_already": "they are in this group already",
    "bad_diff": "the diff cannot be taken: {problem}",
}

_KOREAN: Mapping[str, str] = {
    "no_run": "아직 여기에서 작업한 실행이 없습니다. /mendbot fix 명령을 사용해 주세요",
    "last_succeeded": "마지막 실행이 성공했습니다. 다시 작업하려면 /mendbot fix 명령을 사용해 주세요",
    "issue_taken": "이슈 #{number}은(는) 이미 작업하고 있습니다",
    "cancel_first": "이슈 #{number}을(를) 작업하고 있습니다. 먼저 /mendbot cancel 명령을 사용해 주세요",
    "issue_closed": "이슈 #{number}은(는) 닫혀 있습니다",
    "issue_skipped": "이슈 #{number}에 {label!r} 라벨이 있습니다",
    "not_an_issue": "#{number}은(는) 풀 리퀘스트입니다",
    "pull_closed": "풀 리퀘스트가 닫혀 있습니다",
    "pull_taken": "이 풀 리퀘스트는 다른 실행이 이미 작업하고 있습니다",
    "not_checked": "이 커밋은 아직 검사하지 않았습니다. 먼저 /mendbot check 명령을 사용해 주세요",
    "not_done": "검사가 아직 끝나지 않았습니다. 끝난 뒤 다시 요청해 주세요",
    "nothing_new": "이 커밋의 검사에는 이 풀 리퀘스트 때문에 새로 생긴 실패가 없습니다",
    "limit_pull": "Mendbot이 이 풀 리퀘스트에 이미 {most}번 푸시했습니다. 더는 푸시할 수 없습니다",
    "limit_hour": "Mendbot이 한 시간 안에 이 저장소의 풀 리퀘스트에 {most}번 푸시했습니다. "
    "잠시 뒤에 다시 요청해 주세요",
    "nothing_failed": "이 커밋에서 실패한 검사가 없습니다. 모두 다시 실행하려면 "
    "/mendbot retest all 명령을 사용해 주세요",
    "awaiting": "쓰기 권한이 있는 사람이 먼저 /mendbot ok-to-test {sha} 명령으로 코드를 승인해야 합니다",
    "no_box": "Mendbot이 실행되는 컴퓨터에서 샌드박스를 쓸 수 없어, 쓰기 권한이 있는 사람의 코드만 실행합니다",
    "being_checked": "{sha} 커밋은 이미 검사하고 있습니다",
    "nothing_to_stop": "여기에서 실행 중이거나 대기 중인 작업이 없습니다",
    "not_the_head": "{named}은(는) 최신 커밋이 아닙니다. 최신 커밋은 {sha}입니다. 확인한 뒤 "
    "/mendbot ok-to-test {sha} 명령을 사용해 주세요",
    "head_moved": "그사이 최신 커밋이 {sha}(으)로 바뀌었습니다. 확인한 뒤 /mendbot ok-to-test {sha} 명령을 "
    "사용해 주세요",
    "head_unsure": "댓글을 쓸 때 {sha} 커밋이 있었는지 알 수 없습니다. 확인한 뒤 /mendbot ok-to-test {sha} 명령을 "
    "사용해 주세요",
    "head_just_pushed": "댓글을 쓸 무렵에 {sha} 커밋이 푸시되었습니다. 확인한 뒤 /mendbot ok-to-test {sha} 명령을 "
    "사용해 주세요",
    "nothing_paused": "여기에서는 아무것도 일시 중지되어 있지 않습니다",
    "no_failure": "여기에 기록된 실패가 없어, 해결 방법을 기록할 대상이 없습니다",
    "in_no_group": "{issues}: 여기에서 진행 중인 그룹에 없습니다",
    "group_full": "그룹에는 이슈를 {most}개까지만 넣을 수 있습니다",
    "in_group_already": "이미 이 그룹에 있습니다",
    "bad_diff": "이 diff는 적용할 수 없습니다: {problem}",
}

REFUSALS: Mapping[Language, Mapping[str, str]] = MappingProxyType({"en": _ENGLISH, "ko": _KOREAN})


def refusal(why: str, language: Language, **values: object) -> str:
    """The reason of that name; an unknown one is a KeyError."""
    return REFUSALS[language][why].format(**values)
