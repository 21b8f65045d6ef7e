"""Files that a process writes its own output to are found by device and inode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, pathlib
from bot.workspace.files.output_files import output_files
found = {str(path): list(identity) for identity, path in output_files().items()}
pathlib.Path("found.json").write_text(json.dumps(found))
"""


def found(tmp_path: Path, redirection: str) -> dict[str, list[int]]:
    argv = ["sh", "-c", f'"$0" -c "$1" {redirection}', sys.executable, PROGRAM]
    subprocess.run(argv, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    result: dict[str, list[int]] = json.loads((tmp_path / "found.json").read_text())
    return result


def test_files_that_output_is_redirected_to_are_found(tmp_path: Path) -> None:
    both = found(tmp_path, "> out.txt 2> err.txt")
    assert sorted(both) == [str(tmp_path / "err.txt"), str(tmp_path / "out.txt")]
    status = (tmp_path / "out.txt").stat()
    assert both[str(tmp_path / "out.txt")] == [status.st_dev, status.st_ino]
    assert list(found(tmp_path, ">> out.txt 2>&1")) == [str(tmp_path / "out.txt")]


def test_pipes_devices_and_closed_outputs_are_no_files(tmp_path: Path) -> None:
    for redirection in ("", "> /dev/null 2>&1", ">&- 2>&-"):
        assert found(tmp_path, redirection) == {}
