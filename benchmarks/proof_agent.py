"""The coding agent of `benchmarks.proof`: it makes one change, whatever it is asked.

Usage: proof_agent.py DIRECTORY, the brief on stdin, the tree as its directory. DIRECTORY/files holds the files as they
shall be, `deleted.json` the paths that shall go, `tests.json` those that hold tests. Asked for a failing test alone it
makes the change's tests. It uses the standard library alone, since it runs in the sandbox like any agent."""

import json
import shutil
import sys
from pathlib import Path

_TESTS_ALONE = ("Write a test that fails because of it",)


def main() -> int:
    brief = sys.stdin.read()
    root = Path(sys.argv[1])
    tests = set(json.loads((root / "tests.json").read_text()))
    alone = any(words in brief for words in _TESTS_ALONE)
    files = [path for path in (root / "files").rglob("*") if path.is_file()]
    for path in files:
        name = path.relative_to(root / "files")
        if alone and str(name) not in tests:
            continue
        name.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, name)
    for name in json.loads((root / "deleted.json").read_text()):
        if not alone or name in tests:
            Path(name).unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
