"""What the commands for a tree on this machine say in Korean; the keys and values are those of `en_terminal`."""

from __future__ import annotations

from collections.abc import Mapping

LOCAL_KOREAN: Mapping[str, str] = {
    "local.begins": "{check}: {command} 실행 중",
    "local.begins.again": "{check}: {command} 재실행 중 ({attempt}번째 시도)",
    "local.ended": "{check}: {verdict} ({time})",
    "local.passed": "통과",
    "local.failed": "실패",
    "local.timed_out": "시간 초과",
    "local.unable": "실행하지 못함",
    "local.result": "{mark} {check}: {how}",
    "local.ran": "{command} ({time})",
    "local.flaky": "(flaky: 같은 작업 디렉터리에서 이전에 실패함)",
    "local.did_not_run": "실행하지 못함",
    "local.not_run": "실행 안 함 (fail-fast)",
    "local.sum": "{counts} ({time})",
    "local.sum.passed": "통과 {count}건",
    "local.sum.failed": "실패 {count}건",
    "local.sum.unable": "실행하지 못함 {count}건",
    "local.sum.not_run": "실행 안 함 {count}건 (fail-fast)",
    "local.restored": "{check} 체크가 변경한 파일을 Mendbot이 복원했습니다: {paths}",
    "local.found_in": "체크가 쓴 내용은 {place}에 있습니다. 필요한 것을 복사한 뒤 그 디렉터리를 삭제해 주세요",
    "local.not_restored": "{check} 체크가 변경한 파일이 커서 복원하지 못했습니다. 최근 커밋과 비교해 주세요: {paths}",
    "session.fixed": "{most}번 중 {attempt}번째 시도에서 수정했습니다. 체크가 통과합니다",
    "session.unshown": "체크가 통과합니다. 변경 전에는 결함을 보여 준 체크가 없습니다",
    "session.failed": "{most}번 중 {attempt}번 시도했으나 수정하지 못했습니다. 작업 디렉터리는 이전 그대로입니다",
    "session.failed.none": "수정하지 못했습니다. 작업 디렉터리는 이전 그대로입니다",
    "session.cancelled": "{most}번 중 {attempt}번째 시도에서 취소했습니다. 작업 디렉터리는 이전 그대로입니다",
    "session.cancelled.none": "취소했습니다. 작업 디렉터리는 이전 그대로입니다",
    "session.stopped": "중단 사유 {reason}: {details}",
    "session.changed": "변경된 파일: {files}",
    "session.before": "변경 전: {checks}",
    "session.before.none": "변경 전: 체크를 실행하지 않음",
    "session.after": "변경 후: {checks}",
    "session.after.none": "변경 후: 체크를 실행하지 않음",
    "session.diff": "diff: {path}",
    "session.tried": "시도한 변경: {path}",
    "session.best": "더 나아간 시도 {attempt}: {path}",
    "session.logs": "로그: {path}",
}
