"""What answers to commands say of their own accord, in Korean; the keys and values are those of `en_answers`."""

from __future__ import annotations

from collections.abc import Mapping

ANSWERS_KOREAN: Mapping[str, str] = {
    "nothing": "아직 여기서 실행된 것이 없습니다. 이슈에 {label} 라벨을 추가하거나 댓글로 `/mendbot fix`를 "
    "남겨 주세요.",
    "nothing.paused": "아직 여기서 실행된 것이 없습니다.",
    "status.running": "{progress} (실행 {run}{issues})",
    "status.queued": "⏳ 실행 {run}{issues}: 곧 시작합니다.",
    "status.queued.for": "⏳ 실행 {run}{issues}: {what}",
    "status.for": ", 이슈 {issues}",
    "status.waited": "지금까지 {time} 기다렸습니다.",
    "status.waiting": "⏳ 관련 이슈가 더 모이기를 기다리고 있으며, 그 뒤 자동으로 시작합니다.",
    "status.unshown": "마지막 실행 {run}: ⚠️ {why} {outcome}",
    "status.success": "마지막 실행 {run}: ✅ {outcome}",
    "status.failed": "마지막 실행 {run}: ❌ {why}",
    "status.cancelled": "마지막 실행 {run}: ⏹️ {why}",
    "status.paused": "⏸️ {by} 님이 일시 중지했습니다. `/mendbot resume` 댓글을 남기기 전에는 새로 시작하지 않습니다.",
    "explain.unshown": "**⚠️ 실행 {run}에서 변경을 만들었지만 수정임을 보여 준 것은 없습니다**",
    "explain.success": "**✅ 실행 {run}에서 수정안을 만들었습니다**",
    "explain.failed": "**❌ 실행 {run}에서 수정하지 못했습니다**",
    "explain.cancelled": "**⏹️ 실행 {run} 취소됨**",
    "history": "**{path}의 에러 이력**",
    "history.nothing": "{path}의 에러 이력이 없습니다.",
    "group.of": "**실행 {run}의 이슈**",
    "group.of.over": "**마지막 실행 {run}의 이슈**",
    "group.alone": "#{number} 이슈는 따로 처리하고 있습니다.",
    "group.alone.over": "#{number} 이슈는 따로 처리했습니다.",
    "group.waiting": "다음 이슈는 그룹이 정해지기를 기다리고 있으며, 그 뒤 자동으로 실행됩니다.",
    "group.none": "이 이슈를 처리하는 실행이 없습니다. {label} 라벨을 추가하거나 댓글로 `/mendbot fix`를 남겨 주세요.",
    "group.how": "이 이슈를 다른 이슈와 함께 처리하려면 댓글로 `/mendbot group add #N`을, "
    "따로 처리하려면 `/mendbot group split`을 남겨 주세요.",
    "group.apart": "요청에 따라 따로 처리할 이슈: {issues}.",
    "group.joined": "요청에 따라 함께 처리할 이슈: {issues}.",
    "checks.of": "**{sha} 커밋의 체크:** {state}",
    "checks.running": "실행 중",
    "checks.done": "완료",
    "checks.cancelled": "취소됨",
    "checks.queued": "대기 중",
    "checks.in_progress": "실행 중",
    "checks.kept": "실행 {run}의 결과 재사용",
    "checks.no_failure": "실패한 체크가 없습니다.",
    "checks.fix": "새 실패를 수정하려면 댓글로 `/mendbot fix`를, 체크를 재실행하려면 `/mendbot retest`를 남겨 주세요.",
    "checks.by_hand": "새 실패는 직접 수정해 주세요. 푸시하면 체크가 다시 시작됩니다.",
    "checks.not_yours": "이 PR 때문에 생긴 실패는 없습니다. 체크를 재실행하려면 댓글로 `/mendbot retest`를 "
    "남겨 주세요.",
    "checks.again": "체크를 재실행하려면 댓글로 `/mendbot retest`를 남겨 주세요.",
}
