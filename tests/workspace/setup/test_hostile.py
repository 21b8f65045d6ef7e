"""Projects that want code of theirs to run while setup has the network (trust T31), with real npm, uv and pip."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from bot.model.setups import SetupStep
from bot.rules.setup.requirement_files import is_requirement
from bot.workspace.sandbox.bubblewrap import RegistryAccess, SandboxGrant
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from bot.workspace.setup.install import install
from bot.workspace.setup.plan import plan_setup
from tests.workspace.real_projects import sources

NEEDS = {"dependencies": {"dep": "1"}, "scripts": {"test": "node ."}}
TEST = {"test_app.py": "def test() -> None: ...\n"}
WRITE = "open({!r}, 'a').write(str(open('/proc/net/dev').read().count(':') > 1) + ' ')\n"
"""Python that notes whether it has the network."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return asyncio.run(open_sandbox("bubblewrap", (), Tools(home=tmp_path_factory.mktemp("home"), fetch=True)))


def package(**keys: object) -> str:
    return json.dumps({"name": "app", "version": "1.0.0", **NEEDS, **keys})


def steps(tree: Path, files: Mapping[str, str], *near: str) -> tuple[SetupStep, ...]:
    return plan_setup(sources(tree, files), near).steps


async def set_up(tree: Path, sandbox: Sandbox) -> str:
    """What the steps printed."""
    done = await install(plan_setup(tree), tree, sandbox, grant=SandboxGrant(), cache=None, mask=str)
    return "\n".join(each.result.output.decode() for each in done.steps if each.result is not None)


def wheel(name: str, **files: str) -> bytes:
    made = io.BytesIO()
    info = f"{name}-1.0.dist-info"
    every = {
        f"{name}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **{file.replace("INFO", info): text for file, text in files.items()},
    }
    with zipfile.ZipFile(made, "w") as archive:
        for file, text in every.items():
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\n" for file in (*every, f"{info}/RECORD")))
    return made.getvalue()


async def test_npm_does_not_start_the_program_that_a_project_names_as_git(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {"package.json": package(dependencies={"x": "git+https://example.invalid/x.git"})}
    tree = sources(tmp_path, {**files, ".npmrc": "git=./evil.sh\n", "evil.sh": "#!/bin/sh\ntouch ran\n"})
    (tree / "evil.sh").chmod(0o755)
    assert "evil.sh is not started during installation" in await set_up(tree, sandbox)
    assert not (tree / "ran").exists()


@pytest.mark.parametrize(
    "settings",
    ["plugins:\n  - ./p.cjs\n", '"plugins":\n  - p\n', " plugins:\n  - p\n", "{plugins: [p]}", '"plug\\x69ns": [p]\n'],
)
@pytest.mark.parametrize("place", ["", "web/"])
def test_no_way_to_write_a_plugin_for_yarn_is_overlooked(tmp_path: Path, settings: str, place: str) -> None:
    lock = "__metadata:\n  version: 8\n"
    files = {f"{place}package.json": package(), f"{place}yarn.lock": lock, ".yarnrc.yml": settings}
    (first, *_) = steps(tmp_path, files, f"{place}index.js")
    assert "YARN_RC_FILENAME=.none " in str(first.run)


def test_settings_of_yarn_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    files = {"package.json": package(), "yarn.lock": "__metadata:\n  version: 8\n"}
    (first, *_) = steps(tmp_path, {**files, ".yarnrc.yml": f"# {'x' * 1_100_000}\nplugins: [p]\n"})
    assert "YARN_RC_FILENAME=.none " in str(first.run)


@pytest.mark.parametrize(
    ("named", "lock", "version", "option"),
    [
        ("", "# yarn lockfile v1\n", "1.22.22", "--ignore-scripts"),
        ("yarn@latest", "# yarn lockfile v1\n", "1.22.22", "--ignore-scripts"),
        ("", "", "4.18.1", "--mode=skip-build"),
    ],
)
def test_yarn_gets_the_options_of_its_own_line(
    tmp_path: Path, named: str, lock: str, version: str, option: str
) -> None:
    fields = {"packageManager": named} if named else {}
    files = {"package.json": package(**fields), "yarn.lock": lock, ".yarnrc.yml": "enableTelemetry: false\n"}
    (first, *_) = steps(tmp_path, files)
    assert ([each.version for each in first.programs], option in str(first.run)) == ([version], True)


def test_bun_reads_no_settings_that_name_a_scanner(tmp_path: Path) -> None:
    files = {"package.json": package(), "bun.lock": "{}", "bunfig.toml": '[install.security]\nscanner = "./x.js"\n'}
    (first, *_) = steps(tmp_path, files)
    assert "bun --config=/dev/null install --ignore-scripts" in str(first.run)


def test_what_has_the_network_comes_before_any_code_of_the_project(tmp_path: Path) -> None:
    scripts = {"test": "node .", "postinstall": "node plant.js"}
    files = {"package.json": package(scripts=scripts), "requirements.txt": "six\n", "tests/test_app.py": "import six\n"}
    found = steps(tmp_path, {**files, "Makefile": "test:\n\tnpm test\n\tpytest\n\nlint:\n\tcargo clippy\n", **CARGO})
    assert [step.network for step in found] == sorted((step.network for step in found), reverse=True)
    assert {step.network for step in found} == {True, False}


CARGO = {"Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\n\n[dependencies]\ncfg-if = "1"\n', "src/lib.rs": ""}


@pytest.mark.parametrize(
    ("entry", "accepted"),
    [
        ("evil-1.0.tar.gz", False),
        ("evil.ZIP[x]", False),
        ("evil==1.0.zip", False),
        ("evil.whl; python_version > '3'", False),
        ("six==1.0 ;\n-e .", False),
        ("six\n--no-binary=six", False),
        ("backports.tarfile>=1,<2 ; python_version < '3.12'", True),
        ("zipp[x]", True),
    ],
)
def test_a_requirement_names_no_file_of_the_tree_and_is_one_line(entry: str, accepted: bool) -> None:
    assert is_requirement(entry) is accepted


async def test_uv_builds_nothing_editable_with_the_network(tmp_path: Path, sandbox: Sandbox) -> None:
    ran = str(tmp_path / "tree/ran")
    build = f"{WRITE.format(ran)}def build_editable(*a, **k): raise SystemExit(1)\n"
    system = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
    tree = sources(
        tmp_path / "tree",
        {
            **TEST,
            "pyproject.toml": f"{APP}[tool.uv.sources]\ndep = {{path = './dep', editable = true}}\n",
            "uv.lock": LOCK.format(source='editable = "dep"', more=""),
            "dep/pyproject.toml": f'[project]\nname = "dep"\nversion = "1.0"\n\n{system}',
            "dep/b.py": build,
        },
    )
    await set_up(tree, sandbox)
    assert set((tree / "ran").read_text().split()) == {"False"}


async def test_uv_does_not_start_the_environment_with_what_packages_left_there(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    made = wheel("dep", **{"dep.pth": f"import os; {WRITE.format(str(tmp_path / 'tree/ran'))}"})
    file = "dep-1.0-py3-none-any.whl"
    hashed = f'wheels = [{{ filename = "{file}", hash = "sha256:{hashlib.sha256(made).hexdigest()}" }}]\n'
    own = f"{APP}[tool.uv]\n[tool.uv.pip]\ncompile-bytecode = true\n[tool.uv.sources]\ndep = {{path = '{file}'}}\n"
    files = {"pyproject.toml": own, "uv.lock": LOCK.format(source=f'path = "{file}"', more=hashed)}
    tree = sources(tmp_path / "tree", {**TEST, **files})
    (tree / file).write_bytes(made)
    assert "dep==1.0" in await set_up(tree, sandbox)
    assert not (tree / "ran").exists()


APP = '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["dep"]\n\n'
LOCK = """\
version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "app"
version = "1"
source = {{ virtual = "." }}
dependencies = [{{ name = "dep" }}]

[package.metadata]
requires-dist = [{{ name = "dep", {source} }}]

[[package]]
name = "dep"
version = "1.0"
source = {{ {source} }}
{more}"""


async def test_what_a_failed_attempt_installed_is_gone_before_the_next(tmp_path: Path, sandbox: Sandbox) -> None:
    assert sandbox.bubblewrap is not None
    links = sources(tmp_path / "links", {})
    links.mkdir(exist_ok=True)
    ran = tmp_path / "tree/ran"
    left = wheel("zzz", **{"zzz.pth": f"import os; {WRITE.format(str(ran))}"})
    (links / "zzz-1.0-py3-none-any.whl").write_bytes(left)
    broken = wheel("aaa", **{"INFO/entry_points.txt": "[console_scripts]\nfoo = aaa\n"})
    (links / "aaa-1.0-py3-none-any.whl").write_bytes(broken)
    known = sandbox.bubblewrap.registry
    packages = RegistryAccess({**known.env, "PIP_FIND_LINKS": str(links)}, (*known.paths, links))
    declared = '[project]\nname = "x"\nversion = "1"\ndependencies = ["aaa"]\n\n[dependency-groups]\ntest = ["zzz"]\n'
    tree = sources(tmp_path / "tree", {**TEST, "pyproject.toml": declared})
    said = await set_up(tree, replace(sandbox, bubblewrap=replace(sandbox.bubblewrap, registry=packages)))
    assert "Installing collected packages: zzz, aaa" in said and "Once more without" in said
    assert not ran.exists()
