"""Why a change or a request was refused, in Korean; the keys and values are those of `rules.rejection_reasons`."""

from __future__ import annotations

from collections.abc import Mapping

_WANTED = (
    "`git diff`가 출력하는 형식의 unified diff를 코드 블록에 넣어 주세요. 파일마다 `--- a/FILE`과 `+++ b/FILE`을 쓰고, "
    "그다음 변경 부분마다 `@@ -1,3 +1,4 @@` 같은 줄로 시작합니다"
)

REFUSED_KOREAN: Mapping[str, str] = {
    "weak.file.one": "{path}: 테스트 1개({names})가 있는 파일이 삭제되었습니다. 파일을 유지해 주세요",
    "weak.file": "{path}: 테스트 {count}개({names})가 있는 파일이 삭제되었습니다. 파일을 유지해 주세요",
    "weak.deleted.one": "{path}: 테스트 1개({names})가 삭제되었습니다. 테스트를 유지해 주세요",
    "weak.deleted": "{path}: 테스트 {count}개({names})가 삭제되었습니다. 테스트를 유지해 주세요",
    "weak.test_file": "{path}: 테스트 파일이 삭제되었습니다. 파일을 유지해 주세요",
    "weak.fewer.shared.one": "{path}: 공통 코드의 검증(assertion)이 {before}개에서 1개로 줄었습니다. 유지해 주세요",
    "weak.fewer.shared": "{path}: 공통 코드의 검증(assertion)이 {before}개에서 {count}개로 줄었습니다. 유지해 주세요",
    "weak.fewer.one": "{path}: 테스트 {name}의 검증(assertion)이 {before}개에서 1개로 줄었습니다. 유지해 주세요",
    "weak.fewer": "{path}: 테스트 {name}의 검증(assertion)이 {before}개에서 {count}개로 줄었습니다. 유지해 주세요",
    "weak.skipped.one": "{path}: 테스트를 건너뛰거나 실패를 예상하는 표시가 1개 늘었습니다. 제거해 주세요",
    "weak.skipped": "{path}: 테스트를 건너뛰거나 실패를 예상하는 표시가 {count}개 늘었습니다. 제거해 주세요",
    "weak.config.changes": "{path}: 체크 설정({names})을 변경합니다. 체크는 그대로 두고 코드를 수정해 주세요",
    "weak.config.adds": "{path}: 체크 설정({names})을 추가합니다. 체크는 그대로 두고 코드를 수정해 주세요",
    "weak.config.deletes": "{path}: 체크 설정({names})을 삭제합니다. 체크는 그대로 두고 코드를 수정해 주세요",
    "weak.noted.changes": "{path}: 체크 설정({names})을 변경합니다",
    "weak.noted.adds": "{path}: 체크 설정({names})을 추가합니다",
    "weak.noted.deletes": "{path}: 체크 설정({names})을 삭제합니다",
    "weak.ignored": "{path}: 코드 안에서 체크를 끕니다 ({what})",
    "weak.snapshots": "{path}: 저장된 스냅샷이 변경되었습니다. 새 스냅샷을 리뷰해 주세요",
    "refused.control_name": "{path}: 제어 문자가 들어간 파일 이름은 허용되지 않습니다. 파일 이름을 바꿔 주세요",
    "refused.absolute": "{path}: 저장소 루트를 기준으로 한 상대 경로만 변경할 수 있습니다",
    "refused.outside": "{path}: 저장소 밖을 가리킵니다. 저장소 루트부터 시작하는 경로를 써 주세요",
    "refused.git": "{path}: git 내부 디렉터리는 변경할 수 없습니다",
    "refused.odd_path": "{path}: src/app.py 같은 일반 파일 경로가 아닙니다",
    "refused.submodules": "{path}: 서브모듈은 변경할 수 없습니다",
    "refused.workflow": "{path}: 워크플로 파일은 사람이 직접 변경해야 합니다 (GitHub이 이런 푸시를 거부합니다)",
    "refused.protected": "{path}: `{glob}` 규칙으로 보호된 파일입니다. 허용하려면 protected_paths에 `!{glob}`을 "
    "추가해 주세요",
    "refused.diff_size": "{path}: diff가 {most}바이트보다 큽니다. 한 번에 더 적게 변경해 주세요",
    "refused.nul": "{path}: diff에 NUL 문자가 있습니다",
    "refused.binary_diff": "{path}: 바이너리 diff는 풀었을 때 크기를 알 수 없어 허용되지 않습니다",
    "refused.files": "변경한 파일이 {files}개입니다. 한 번에 {most}개까지만 변경할 수 있습니다",
    "refused.size": "변경한 파일의 크기가 {size}바이트입니다. 한 번에 {most}바이트까지만 변경할 수 있습니다",
    "refused.files_proposed": "변경하려는 파일이 {files}개입니다. 한 번에 {most}개까지만 변경할 수 있습니다",
    "refused.size_proposed": "변경 내용이 {most}바이트보다 큽니다. 한 번에 더 적게 변경해 주세요",
    "refused.other_file": "{path}: diff가 다른 파일({other})을 변경합니다",
    "refused.symlink": "{path}: 심볼릭 링크는 허용되지 않습니다. 일반 파일로 작성해 주세요",
    "refused.gitlink": "{path}: 서브모듈은 허용되지 않습니다",
    "refused.mode": "{path}: 파일 모드 {mode} 대신 100644 또는 100755만 허용됩니다",
    "refused.binary": "{path}: 바이너리 파일은 변경할 수 없습니다",
    "given.no_text": "diff에 텍스트가 아닌 문자가 있습니다. " + _WANTED,
    "given.no_diff": "diff를 찾지 못했습니다. " + _WANTED,
    "given.moved": "diff가 {path} 파일의 이름을 바꾸거나 복사해서 적용할 수 없습니다. `git diff --no-renames`로 다시 "
    "만들어 주세요",
    "given.no_file": "diff에 파일 이름이 없는 부분이 있습니다. " + _WANTED,
    "given.two_files": "diff의 한 부분에 파일 이름이 두 개 있습니다: {paths}. `a/FILE`과 `b/FILE`에 같은 이름을 "
    "써 주세요",
    "given.no_utf8": "{path}: UTF-8이 아닌 파일 이름은 허용되지 않습니다. 파일 이름을 바꿔 주세요",
    "given.nothing": "diff에 {path} 파일의 변경 내용이 없습니다. " + _WANTED,
    "refused.no_base": "{repo} 저장소에 베이스 브랜치 `{branch}`가 없습니다",
    "refused.branches": "`{first}`부터 `{last}`까지 모든 브랜치 이름이 사용 중입니다. 머지된 브랜치를 삭제해 주세요",
    "github.refused": "GitHub이 요청을 거부했습니다: {what}",
    "github.will_not": "GitHub이 요청을 처리하지 않았습니다: {what}",
    "github.unknown": "GitHub에 {what}이(가) 없거나 App에 볼 권한이 없습니다",
}
