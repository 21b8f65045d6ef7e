"""Why a change or a request was refused, as sentences that can be told in another language: what
`rules.patches.change_policy`, `agent.apply_comment`, the workflows and `github.answers` say, word for word. A test
holds them against those."""

from __future__ import annotations

from collections.abc import Mapping

_WANTED = (
    "give a unified diff in a code block, as `git diff` prints it: for each file `--- a/FILE` and `+++ b/FILE`,"
    " then its parts, each after a line like `@@ -1,3 +1,4 @@`"
)

REFUSED: Mapping[str, str] = {
    "weak.file.one": "{path}: the file with 1 test ({names}) was deleted; keep it",
    "weak.file": "{path}: the file with {count} tests ({names}) was deleted; keep it",
    "weak.deleted.one": "{path}: 1 test ({names}) deleted; keep what was tested",
    "weak.deleted": "{path}: {count} tests ({names}) deleted; keep what was tested",
    "weak.test_file": "{path}: the test file was deleted; keep it",
    "weak.fewer.shared.one": "{path}: what its tests share has 1 assertion instead of {before}; keep what it asserts",
    "weak.fewer.shared": "{path}: what its tests share has {count} assertions instead of {before};"
    " keep what it asserts",
    "weak.fewer.one": "{path}: test {name} has 1 assertion instead of {before}; keep what it asserts",
    "weak.fewer": "{path}: test {name} has {count} assertions instead of {before}; keep what it asserts",
    "weak.skipped.one": "{path}: 1 new mark by which tests are skipped, left out or expected to fail; let them run",
    "weak.skipped": "{path}: {count} new marks by which tests are skipped, left out or expected to fail; let them run",
    "weak.config.changes": "{path}: changes check configuration ({names}); fix the code and keep the checks as they"
    " are",
    "weak.config.adds": "{path}: adds check configuration ({names}); fix the code and keep the checks as they are",
    "weak.config.deletes": "{path}: deletes check configuration ({names}); fix the code and keep the checks as they"
    " are",
    "weak.noted.changes": "{path}: changes check configuration ({names})",
    "weak.noted.adds": "{path}: adds check configuration ({names})",
    "weak.noted.deletes": "{path}: deletes check configuration ({names})",
    "weak.ignored": "{path}: silences checks in place by {what}",
    "weak.snapshots": "{path}: recorded snapshots were changed; review the new ones",
    "refused.control_name": "{path}: a name with control characters is refused; rename the file",
    "refused.absolute": "{path}: only paths relative to the repository's root may be changed",
    "refused.outside": "{path}: leads out of the tree; name the file from the repository's root",
    "refused.git": "{path}: git's own directory may not be changed",
    "refused.odd_path": "{path}: not the plain path of a file, such as src/app.py",
    "refused.submodules": "{path}: submodules may not be changed",
    "refused.workflow": "{path}: workflows are for people to change (GitHub refuses such a push)",
    "refused.protected": "{path}: protected by `{glob}`; a person may allow it by `!{glob}` in protected_paths",
    "refused.diff_size": "{path}: the diff is larger than {most} bytes; change less at once",
    "refused.nul": "{path}: the diff holds a NUL character",
    "refused.binary_diff": "{path}: binary diffs are refused; they may unpack to any size",
    "refused.files": "{files} files changed; at most {most} may at once",
    "refused.size": "the changed files hold {size} bytes; at most {most} may change at once",
    "refused.files_proposed": "{files} files to change; at most {most} may at once",
    "refused.size_proposed": "the changes are larger than {most} bytes; change less at once",
    "refused.other_file": "{path}: its diff touches another file, {other}",
    "refused.symlink": "{path}: symbolic links are refused; write a regular file",
    "refused.gitlink": "{path}: submodules are refused",
    "refused.mode": "{path}: mode {mode} is refused; only 100644 and 100755 are allowed",
    "refused.binary": "{path}: binary files may not be changed",
    "given.no_text": "the diff holds characters that are no text; " + _WANTED,
    "given.no_diff": "no diff was found; " + _WANTED,
    "given.moved": "the diff renames or copies {path}, which can't be applied: make it with `git diff --no-renames`",
    "given.no_file": "a part of the diff names no file; " + _WANTED,
    "given.two_files": "a part of the diff names two files, {paths}: name the same one as `a/FILE` and `b/FILE`",
    "given.no_utf8": "{path}: a name that is no UTF-8 is refused; rename the file",
    "given.nothing": "the diff says nothing about {path}; " + _WANTED,
    "refused.no_base": "the base branch `{branch}` does not exist in {repo}",
    "refused.branches": "every branch from `{first}` to `{last}` is taken; delete those that are merged",
    "github.refused": "GitHub refused {what}",
    "github.will_not": "GitHub will not do {what}",
    "github.unknown": "GitHub knows no {what} (or the App may not see it)",
}
