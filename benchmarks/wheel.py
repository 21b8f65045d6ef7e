"""*Size of the installed wheel*: with its dependencies, in a new environment, as pip installs it, with bytecode.

pip and setuptools do not count: an environment has them, or not, whatever is installed. It needs the network."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result, Row
from benchmarks.servers import ROOT

GOAL_MB = 110.0
_LARGEST = 8
_SIZES = """
import sysconfig
from importlib.metadata import distributions
for each in distributions(path=[sysconfig.get_path("purelib")]):
    files = [path for path in map(each.locate_file, each.files or ()) if path.is_file()]
    blocks = sum(path.stat().st_blocks * 512 for path in files)
    print(each.metadata["Name"], sum(path.stat().st_size for path in files), blocks)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The extras that are installed, such as `[speed]`."""

    extras: str = ""


def measure(size: Size) -> Result:
    """Build the wheel, install it with the pins of requirements.lock, and add the sizes of its files."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        pins = re.sub(r" \\\n( +--hash=.*(\n|$))+", "\n", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
        (root / "pins").write_text(pins, encoding="utf-8")
        _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", where)
        wheel = next(root.glob("*.whl"))
        _run(sys.executable, "-m", "venv", f"{where}/env")
        python = f"{where}/env/bin/python"
        quiet = ("--quiet", "--disable-pip-version-check")
        _run(python, "-m", "pip", "install", *quiet, "--constraint", f"{where}/pins", f"{wheel}{size.extras}")
        found: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for line in _run(python, "-c", _SIZES).splitlines():
            name, bytes_, blocks = line.split()
            found[name] = (int(bytes_) / 1e6, int(blocks) / 1e6)
        packed = wheel.stat().st_size / 1e6
    counted = {name: sizes for name, sizes in found.items() if name not in ("pip", "setuptools")}
    largest = sorted(counted.items(), key=lambda item: -item[1][0])[:_LARGEST]
    rows = (
        Row("installed files", sum(size for size, _ in counted.values()), "MB", goal=GOAL_MB),
        Row("the same, in blocks of the disk", sum(size for _, size in counted.values()), "MB"),
        Row("the wheel itself", packed, "MB"),
        *(Row(name, sizes[0], "MB") for name, sizes in largest),
    )
    return Result("installed wheel", 1, rows)


def _run(*argv: str) -> str:
    return subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
