"""What answers to commands say of their own accord, in Korean; the keys and values are those of `answers_english`."""

from __future__ import annotations

from collections.abc import Mapping

ANSWERS_KOREAN: Mapping[str, str] = {
    "nothing": "아직 여기서 실행된 것이 없습니다. 이슈에 {label} 라벨을 붙이거나 댓글로 `/mendbot fix`를 남겨 주세요.",
    "nothing.paused": "아직 여기서 실행된 것이 없습니다.",
    "status.running": "{progress} (실행 {run}{issues})",
    "status.queued": "⏳ 실행 {run}{issues}: 곧 시작합니다.",
    "status.queued.for": "⏳ 실행 {run}{issues}: 다음을 기다리고 있습니다: {what}.",
    "status.for": ", 이슈 {issues}",
    "status.waited": "지금까지 {time} 기다렸습니다.",
    "status.waiting": "⏳ 관련 이슈가 더 모이기를 기다리고 있으며, 그 뒤 자동으로 시작합니다.",
    "status.unshown": "마지막 실행 {run}: ⚠️ {why} {outcome}",
    "status.success": "마지막 실행 {run}: ✅ {outcome}",
    "status.failed": "마지막 실행 {run}: ❌ {why}",
    "status.cancelled": "마지막 실행 {run}: ⏹️ {why}",
    "status.paused": "⏸️ 질문 시점에는 {by} 님이 일시 중지한 상태입니다. "
    "`/mendbot resume` 전에는 새로 시작하지 않습니다.",
    "explain.unshown": "**⚠️ 실행 {run}에서 변경을 만들었지만 수정임을 보여 준 것은 없습니다**",
    "explain.success": "**✅ 실행 {run}에서 수정안을 만들었습니다**",
    "explain.failed": "**❌ 실행 {run}에서 수정하지 못했습니다**",
    "explain.cancelled": "**⏹️ 실행 {run} 취소됨**",
    "history": "**{path}에 대해 알려진 내용**",
    "history.nothing": "{path}에 대해서는 아직 알려진 것이 없습니다.",
    "group.of": "**실행 {run}에서 함께 처리하는 이슈**",
    "group.of.over": "**마지막 실행 {run}에서 함께 처리한 이슈**",
    "group.alone": "#{number} 이슈는 따로 처리하고 있습니다.",
    "group.alone.over": "#{number} 이슈는 따로 처리했습니다.",
    "group.waiting": "다음 이슈는 묶이기를 기다리고 있으며, 그 뒤 자동으로 실행됩니다.",
    "group.none": "이 이슈는 처리하고 있지 않습니다. {label} 라벨을 붙이거나 댓글로 `/mendbot fix`를 남겨 주세요.",
    "group.how": "이 이슈를 다른 이슈와 함께 처리하려면 댓글로 `/mendbot group add #N`을, "
    "따로 처리하려면 `/mendbot group split`을 남겨 주세요.",
    "group.apart": "요청에 따라 따로 처리할 이슈: {issues}.",
    "group.joined": "요청에 따라 함께 처리할 이슈: {issues}.",
    "checks.of": "**{sha} 커밋의 검사:** {state}",
    "checks.running": "실행 중",
    "checks.done": "완료",
    "checks.cancelled": "취소됨",
    "checks.queued": "대기 중",
    "checks.in_progress": "실행 중",
    "checks.kept": "실행 {run}의 결과를 그대로 사용",
    "checks.no_failure": "실패한 검사가 없습니다.",
    "checks.fix": "새 실패를 고치려면 댓글로 `/mendbot fix`를, 검사를 다시 실행하려면 `/mendbot retest`를 남겨 주세요.",
    "checks.by_hand": "새 실패는 사람이 고쳐야 합니다. 고쳐서 푸시하면 검사가 다시 실행됩니다.",
    "checks.not_yours": "이 풀 리퀘스트 때문에 생긴 실패는 없습니다. "
    "검사를 다시 실행하려면 댓글로 `/mendbot retest`를 남겨 주세요.",
    "checks.again": "검사를 다시 실행하려면 댓글로 `/mendbot retest`를 남겨 주세요.",
}
