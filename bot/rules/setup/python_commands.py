"""The shell commands that make the environment of a Python project, in the tree's `.venv`.

While there is the network, no code of the project or of a package runs (T31): packages come as wheels, in one
call of pip or uv, which starts before anything is installed, and Python never looks for modules in the tree (`-I`)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_PIP = ".venv/bin/python -I -m pip install --no-input --disable-pip-version-check --no-cache-dir --no-compile"
_UV = "UV_PYTHON_DOWNLOADS=never UV_PYTHON=.venv/bin/python uv --no-cache"
_NEWEST = 20
"""Minor versions of Python 3 that are looked for."""
_SOURCES = (
    "These packages could not be installed as wheels. What exists only as source must be built: "
    "set `setup` in .github/mendbot.yml, for example to `{}`."
)


@dataclass(frozen=True, slots=True)
class Wheels:
    """What is installed as wheels: `must` in any case, `more` if it can be.

    `pins` are a lock file's versions (`name==1.2`), which hold if they can be installed here. `python` are the names of
    interpreters to choose from, the first that is there; `asked` is the version that the project asks for."""

    must: Sequence[str]
    more: Sequence[str] = ()
    pins: Sequence[str] = ()
    left_out: Sequence[str] = ()
    python: Sequence[str] = ("python3",)
    asked: str = ""


def wheels(known: Wheels, remedy: str) -> str:
    """Make `.venv` and install wheels by pip. `remedy` is a set-up command that may build packages."""
    must, more = _words(known.must), _words(known.more)
    every = f"{must} -- {more}" if more else must
    attempts = [f'install -c "$notes/pins.txt" {every}'] if known.pins else []
    attempts += [f"install {every}"] + ([f"install {must}"] if more and must else [])
    lines = ["cat > \"$notes/pins.txt\" <<':end'", *known.pins, ":end"] if known.pins else []
    lines.append(_INSTALL.format(pip=f"{_PIP} --only-binary :all:"))
    given_up = ("the versions of the lock file",) if known.pins else ()
    return _made(known, "", [*lines, *_first_that_works(attempts, (*given_up, _OPTIONAL), remedy)])


_INSTALL = """\
install() {{
  until {pip} "$@" 2> "$notes/errors"; do
    cat "$notes/errors" >&2
    lacking=$(sed -n 's/^ERROR: No matching distribution found for //p' "$notes/errors" | head -n 1)
    before=$# optional=
    for each; do
      shift
      if [ "$each" = -- ]; then optional=yes; fi
      if [ -z "$optional" ] || [ "$each" != "$lacking" ]; then set -- "$@" "$each"; fi
    done
    if [ $# = "$before" ]; then return 1; fi
    again || return 1
    echo "Left out, as no wheel of it fits: $lacking" >&2
  done
}}"""
"""Installs what stands before `--`, and of what comes after it all that has wheels."""


def uv_wheels(known: Wheels, options: Sequence[str], remedy: str) -> str:
    """Make `.venv` and install by uv what `uv.lock` has for the options of `uv export`, and `must` and `more`."""
    words = " ".join(("--quiet --frozen --no-emit-workspace", *options))
    attempts = [f"install {_words((*known.must, *known.more))}"]
    attempts += [f"install {_words(known.must)}"] if known.more else []
    install = f'{_UV} pip install --python .venv/bin/python {_NO_CODE} -r "$notes/locked.txt" "$@"'
    lines = [f'{_UV} export {words} -o "$notes/exported.txt" || exit 1', _NOT_EDITABLE, f"install() {{ {install}; }}"]
    return _made(known, " --without-pip", [*lines, *_first_that_works(attempts, (_OPTIONAL,), remedy)])


_NO_CODE = "--no-build --no-compile-bytecode"
"""uv compiles by the environment's Python, which runs what packages left there to begin with (`.pth`)."""
_NOT_EDITABLE = 'sed -E \'/^[[:space:]]*(-[^-]|--editable)/d\' "$notes/exported.txt" > "$notes/locked.txt" || exit 1'
"""uv builds what is editable in spite of `--no-build`; it is installed later, without the network."""

_OPTIONAL = "what only tests and type checkers use"


def _first_that_works(attempts: Sequence[str], given_up: Sequence[str], remedy: str) -> list[str]:
    """The attempts in turn, each after the first without what is given up before it."""
    lines = [f"{attempts[0].rstrip()} ||"]
    for attempt, without in zip(attempts[1:], given_up, strict=False):
        note = f"echo 'Not all of it could be installed. Once more without {without}:' >&2"
        lines.append(f"{{ {note}; again && {attempt.rstrip()}; }} ||")
    return [*lines, f"{{ echo {shlex.quote(_SOURCES.format(remedy))} >&2; exit 1; }}"]


_FRESH = """\
notes=$(mktemp -d) && trap 'rm -rf "$notes"' EXIT || exit 1
fresh() {{ {venv} && mkdir .venv/tmp && touch "$notes/made"; }}
again() {{ [ -z "$(find .venv -path .venv/tmp -prune -o -cnewer "$notes/made" -print -quit 2>&1)" ] || fresh; }}
fresh || exit 1"""
"""Makes `.venv`, and anew before another attempt where a failed one has installed anything: what packages left there
would run when pip or uv start its Python once more, with the network."""


def _made(known: Wheels, option: str, install: Sequence[str]) -> str:
    python, choose = "python3", []
    if known.asked:
        python = '"$python"'
        found = " || ".join(f"command -v {name}" for name in known.python)
        missing = (
            f"This project needs Python {known.asked}, and there is none here. "
            "Install one, or name a directory with one in MENDBOT_TOOLCHAINS."
        )
        choose = [f"python=$({found}) || {{ echo {shlex.quote(missing)} >&2; exit 1; }}"]
    notes = [f"echo {shlex.quote(f'Left out, as no package index has it: {entry}')}" for entry in known.left_out]
    return "\n".join(
        (
            *choose,
            _FRESH.format(venv=f"{python} -I -m venv --clear{option} .venv"),
            'export TMPDIR="$PWD/.venv/tmp"',
            *notes,
            *install,
            "rm -rf .venv/tmp",
            # other trees get the compiled files too, so the paths in them must not be those of this tree
            f'{python} -I -m compileall -q -f -j 0 -s "$PWD" .venv/lib > /dev/null 2>&1 || true',
        )
    )


def editable(settings: Mapping[str, str], places: Sequence[str], *, by_uv: bool) -> str:
    """Install the projects at `places` (relative, `.` for this one) themselves: their build runs here, without the
    network and with what `.venv` has. `settings` are variables of the build."""
    where = " ".join(f"-e {shlex.quote(place if place == '.' else f'./{place}')}" for place in places)
    assigned = "".join(f"{name}={shlex.quote(value)} " for name, value in settings.items())
    if by_uv:
        return f"{assigned}{_UV} pip install --python .venv/bin/python --offline --no-deps --no-build-isolation {where}"
    return f"{assigned}{_PIP} --no-index --no-deps --no-build-isolation --use-pep517 {where}"


def version_settings(version: str, build: Collection[str], backend: str) -> Mapping[str, str]:
    """The variables by which build backends that ask git for the version take this one: a worktree's history is not
    there for what runs in it (each one's documentation)."""
    found = {}
    for name, variable in _VERSION_VARIABLES.items():
        if name in build or backend.startswith(name.replace("-", "_")):
            found[variable] = version
    return found


_VERSION_VARIABLES: Mapping[str, str] = {
    "setuptools-scm": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "hatch-vcs": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "flit-scm": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "vcs-versioning": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "scikit-build-core": "SETUPTOOLS_SCM_PRETEND_VERSION",
    "pdm-backend": "PDM_BUILD_SCM_VERSION",
    "pbr": "PBR_VERSION",
    "poetry-dynamic-versioning": "POETRY_DYNAMIC_VERSIONING_BYPASS",
    "uv-dynamic-versioning": "UV_DYNAMIC_VERSIONING_BYPASS",
}


def needed_python(wanted: str, minor: int) -> tuple[str, ...]:
    """The interpreters to look for where Python 3.`minor` is too old for `requires-python`; empty where it is not."""
    bounds = [int(found[2]) + (found[1] == ">") for found in re.finditer(r"(>=|~=|==|>|\^|~)\s*3\.(\d+)", wanted)]
    lowest = max(bounds, default=0)
    if lowest <= minor:
        return ()
    return tuple(f"python3.{number}" for number in range(lowest, lowest + 1 + _NEWEST) if number <= _NEWEST)


def _words(entries: Sequence[str]) -> str:
    return " ".join(shlex.quote(entry) for entry in dict.fromkeys(entries))
