"""How Node projects are set up: planned by their files, carried out by real npm and pnpm, without anybody's code on the
network."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.config import ChecksPolicy
from bot.model import ShellCommand
from bot.model.setups import SetupPlan, SetupStep
from bot.workspace.checks.step import run_step
from bot.workspace.detect.detect import detect
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.check_tools import Tools, bundled_node
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from bot.workspace.setup.install import Installed, install
from bot.workspace.setup.plan import plan_setup
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

MARK = "node -e \"require('fs').appendFileSync(process.env.INIT_CWD + '/ran', process.env.npm_lifecycle_event + ' ')\""
TEST = "node -e \"require('assert').equal(require('dep'), 42)\""


def package(**keys: object) -> str:
    return json.dumps({"name": "app", "version": "1.0.0", **keys})


def npm(tree: Path, *words: str) -> str:
    done = subprocess.run(
        [bundled_node()[0] / "bin" / "npm", *words],
        cwd=tree,
        env={**os.environ, "PATH": f"{bundled_node()[0]}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return done.stdout


def packed(tree: Path, **scripts: str) -> None:
    """`dep.tgz`, a package of the number 42 with an install script of its own."""
    manifest = json.dumps({"name": "dep", "version": "1.0.0", "scripts": scripts})
    made = sources(tree.parent / "source", {"package.json": manifest, "index.js": "module.exports = 42\n"})
    npm(made, "pack", "--pack-destination", str(tree))
    (tree / "dep-1.0.0.tgz").rename(tree / "dep.tgz")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return asyncio.run(open_sandbox("bubblewrap", (), Tools(home=tmp_path_factory.mktemp("home"), fetch=True)))


async def carried_out(plan: SetupPlan, tree: Path, sandbox: Sandbox) -> Installed:
    return await install(plan, tree, sandbox, grant=SandboxGrant(), cache=None, mask=lambda text: text)


async def set_up(tree: Path, sandbox: Sandbox) -> None:
    done = await carried_out(plan_setup(tree), tree, sandbox)
    assert done.failed is None, done.failed


async def passes_its_tests(tree: Path, sandbox: Sandbox) -> str:
    command = detect(tree, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand), command
    ended = await run_step("test", command, tree, sandbox, grant=SandboxGrant(), mask=lambda text: text)
    assert ended.step.passed, ended.log.decode()
    return command.text


def steps(tree: Path, files: Mapping[str, str], *near: str) -> tuple[SetupStep, ...]:
    return plan_setup(sources(tree, files), near).steps


async def test_npm_installs_first_and_runs_scripts_only_without_the_network(tmp_path: Path, sandbox: Sandbox) -> None:
    tree = sources(
        tmp_path / "tree",
        {"package.json": package(dependencies={"dep": "file:dep.tgz"}, scripts={"test": TEST, "prepare": MARK})},
    )
    packed(tree, postinstall=MARK)
    npm(tree, "install", "--package-lock-only", "--ignore-scripts")
    plan = plan_setup(tree)
    first = plan.steps[0]
    assert (first.network, first.shared, first.because) == (True, True, "package-lock.json")
    assert first.run.startswith("npm ci --ignore-scripts")  # type: ignore[union-attr]
    assert set(first.reads) == {"package.json", "package-lock.json", "dep.tgz"}
    assert first.products == ("node_modules",)
    assert [(step.run, step.network, step.shared, step.optional) for step in plan.steps[1:]] == [
        ("npm rebuild", False, False, True),
        ("npm run prepare", False, False, True),
    ]
    lock = (tree / "package-lock.json").read_bytes()
    assert (await carried_out(plan.model_copy(update={"steps": (first,)}), tree, sandbox)).failed is None
    assert not (tree / "ran").exists(), "a script ran while the network was there"
    assert (await carried_out(plan.model_copy(update={"steps": plan.steps[1:]}), tree, sandbox)).failed is None
    assert sorted((tree / "ran").read_text().split()) == ["postinstall", "prepare"]
    assert await passes_its_tests(tree, sandbox) == "npm test"
    assert (tree / "package-lock.json").read_bytes() == lock
    assert plan_setup(tree).steps == (), "what is set up needs no setup"


async def test_a_lock_file_that_is_older_than_the_manifest_installs_all_the_same(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    tree = sources(tmp_path / "tree", {"package.json": package(scripts={"test": TEST})})
    packed(tree)
    npm(tree, "install", "--package-lock-only", "--ignore-scripts")
    lock = (tree / "package-lock.json").read_bytes()
    sources(tree, {"package.json": package(dependencies={"dep": "file:dep.tgz"}, scripts={"test": TEST})})
    await set_up(tree, sandbox)
    await passes_its_tests(tree, sandbox)
    assert (tree / "package-lock.json").read_bytes() == lock


async def test_a_workspace_is_installed_where_it_begins(tmp_path: Path, sandbox: Sandbox) -> None:
    files = {
        "package.json": package(workspaces=["packages/*"]),
        "packages/a/package.json": json.dumps({"name": "dep", "version": "1.0.0"}),
        "packages/a/index.js": "module.exports = 42\n",
        "packages/b/package.json": json.dumps(
            {"name": "b", "version": "1.0.0", "dependencies": {"dep": "*"}, "scripts": {"test": TEST}}
        ),
        "fixtures/package.json": json.dumps({"name": "fixture", "dependencies": {"nothing": "1"}}),
    }
    (first, *_) = steps(tmp_path, files, "packages/b/index.js")
    assert first.run == "npm install --ignore-scripts --no-audit --no-fund --no-package-lock"
    assert set(first.products) == {"node_modules", "packages/a/node_modules", "packages/b/node_modules"}
    plan = plan_setup(tmp_path, ["packages/b/index.js"])
    assert (await carried_out(plan, tmp_path, sandbox)).failed is None
    command = detect(tmp_path, "test", ChecksPolicy(), ["packages/b/index.js"])
    assert isinstance(command, ShellCommand) and command.text == "npm --prefix packages/b test"
    ended = await run_step("test", command, tmp_path, sandbox, grant=SandboxGrant(), mask=lambda text: text)
    assert ended.step.passed, ended.log.decode()
    assert not (tmp_path / "package-lock.json").exists()


async def test_pnpm_is_fetched_installs_a_workspace_and_runs_its_tests(tmp_path: Path, sandbox: Sandbox) -> None:
    hook = "require('fs').writeFileSync(__dirname + '/hooked', ''); module.exports = {}\n"
    files = {
        "package.json": package(scripts={"test": "pnpm -r test", "prepare": "husky || true"}),
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n  - '!packages/old'\n",
        ".pnpmfile.cjs": hook,
        "packages/a/package.json": json.dumps({"name": "dep", "version": "1.0.0"}),
        "packages/a/index.js": "module.exports = 42\n",
        "packages/old/package.json": json.dumps({"name": "old", "dependencies": {"nothing-here": "1"}}),
        "packages/b/package.json": json.dumps(
            {"name": "b", "version": "1.0.0", "dependencies": {"dep": "workspace:*"}, "scripts": {"test": TEST}}
        ),
    }
    tree = sources(tmp_path, files)
    sources(tree, {"pnpm-lock.yaml": PNPM_LOCK})
    plan = plan_setup(tree)
    (only,) = plan.steps
    assert [(each.name, each.version) for each in only.programs] == [("pnpm", "10.34.9")]
    assert ".pnpmfile.cjs" in only.reads
    assert set(only.products) == {"node_modules", "packages/a/node_modules", "packages/b/node_modules"}
    await set_up(tree, sandbox)
    assert not (tree / "hooked").exists(), "the project's hook ran while the network was there"
    assert await passes_its_tests(tree, sandbox) == "pnpm test"
    assert (tree / "pnpm-lock.yaml").read_text() == PNPM_LOCK


PNPM_LOCK = """lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}

  packages/a: {}

  packages/b:
    dependencies:
      dep:
        specifier: workspace:*
        version: link:../a
"""
NEEDS = {"dependencies": {"dep": "1"}, "scripts": {"test": "node ."}}


@pytest.mark.parametrize(
    ("files", "run"),
    [
        ({"package-lock.json": "{}"}, "npm ci "),
        ({}, "npm install "),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile "),
        ({"yarn.lock": "# yarn lockfile v1\n"}, "GIT_ALLOW_PROTOCOL=none yarn install --frozen-lockfile "),
        ({"bun.lock": "{}"}, "GIT_ALLOW_PROTOCOL=none bun --config=/dev/null install "),
        ({"packageManager": "pnpm@9.1.0"}, "pnpm install --no-lockfile "),
        ({"packageManager": "pnpm@9.1.0", "package-lock.json": "{}"}, "npm ci "),
        ({"packageManager": "yarn@4.5.0", "yarn.lock": "__metadata:\n  version: 8\n"}, "GIT_ALLOW_PROTOCOL=none YARN"),
        ({"devEngines": {"packageManager": {"name": "pnpm"}}}, "pnpm install --no-lockfile "),
    ],
)
def test_the_manager_is_the_one_of_the_lock_file(tmp_path: Path, files: Mapping[str, object], run: str) -> None:
    fields = {name: value for name, value in files.items() if "." not in name and name[-1] != "k"}
    written = {name: str(text) for name, text in files.items() if name not in fields}
    (first, *_) = steps(tmp_path, {"package.json": package(**NEEDS, **fields), **written})
    assert str(first.run).startswith(run)
    assert first.network and first.shared
    assert "ignore-scripts" in str(first.run) or "skip-build" in str(first.run)


@pytest.mark.parametrize(
    ("named", "lock", "version", "digest"),
    [
        ("pnpm@9.1.0", "", "9.1.0", ""),
        (f"pnpm@9.1.0+sha512.{'a' * 128}", "", "9.1.0", f"sha512.{'a' * 128}"),
        ("pnpm@9.1.0+md5.00", "", "9.1.0", ""),
        ("pnpm@8", "", "8.15.9", ""),
        ("pnpm@latest", "", "", ""),
        ("pnpm@9.1.0; touch x", "", "", ""),
        ("pnpm@../../evil", "", "", ""),
        ("", "lockfileVersion: '6.0'\n", "8.15.9", ""),
        ("", "lockfileVersion: 5.4\n", "7.33.7", ""),
        ("", "lockfileVersion: '9.0'\n", "10.34.9", ""),
    ],
)
def test_the_version_is_the_pinned_one_or_reads_the_lock(
    tmp_path: Path, named: str, lock: str, version: str, digest: str
) -> None:
    field = {"packageManager": named} if named else {}
    (first, *_) = steps(tmp_path, {"package.json": package(**NEEDS, **field), "pnpm-lock.yaml": lock})
    ((program),) = first.programs
    assert (program.name, program.version, program.digest) == ("pnpm", version, digest)
    command = detect(tmp_path, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand) and command.programs == (program,)


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": package(scripts={"test": "node ."})},
        {"package.json": package(**NEEDS), "node_modules/dep/index.js": ""},
        {"package.json": package(**NEEDS), ".pnp.cjs": ""},
        {"pyproject.toml": "[tool.ruff]\n", "docs/package.json": package(**NEEDS)},
        {"package.json": "{broken"},
    ],
)
def test_where_nothing_is_to_be_installed_there_is_no_step(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert steps(tmp_path, files) == ()


@pytest.mark.parametrize(
    ("scripts", "run"),
    [
        ({"prepare": "husky"}, []),
        ({"prepare": "husky install || true"}, []),
        ({"postinstall": "patch-package"}, ["postinstall"]),
        ({"prepare": "husky && tsc", "postinstall": "npx only-allow npm"}, ["prepare"]),
        ({"prepare": "tsc", "pretest": "npm run prepare"}, ["prepare"]),
        ({"preinstall": "node a.js", "install": "node b.js"}, ["preinstall", "install"]),
    ],
)
def test_the_projects_own_scripts_run_unless_they_only_install_hooks(
    tmp_path: Path, scripts: Mapping[str, str], run: list[str]
) -> None:
    manifest = package(**{**NEEDS, "scripts": {"test": "node .", **scripts}})
    found = steps(tmp_path, {"package.json": manifest, "package-lock.json": '{"packages": {}}'})
    assert [step.run for step in found[1:]] == [f"npm run {name}" for name in run]
    assert not any(step.network for step in found[1:])


def test_only_packages_for_this_system_with_scripts_that_matter_are_rebuilt(tmp_path: Path) -> None:
    def lock(**packages: object) -> str:
        return json.dumps({"lockfileVersion": 3, "packages": {"": {}, **packages}})

    scripted = {"hasInstallScript": True}
    idle = {"node_modules/fsevents": {**scripted, "os": ["darwin"]}, "node_modules/a/node_modules/core-js": scripted}
    for packages, rebuilt in ((idle, False), ({"node_modules/sharp": scripted}, True)):
        found = steps(tmp_path, {"package.json": package(**NEEDS), "package-lock.json": lock(**packages)})
        assert any(step.run == "npm rebuild" for step in found) is rebuilt


def test_a_project_below_the_top_is_installed_there(tmp_path: Path) -> None:
    files = {"go.mod": "module m\n", "web/package.json": package(**NEEDS), "web/package-lock.json": "{}"}
    (first, *_) = steps(tmp_path, files, "web/index.js")
    assert str(first.run).startswith("cd web && { npm ci ")
    assert (first.because, first.products) == ("web/package-lock.json", ("web/node_modules",))
    assert steps(tmp_path, files) == ()


def test_a_project_in_a_workspace_without_being_part_of_it_is_installed_by_itself(tmp_path: Path) -> None:
    files = {
        "package.json": package(**NEEDS, workspaces=["packages/*"]),
        "package-lock.json": "{}",
        "site/package.json": package(**NEEDS),
    }
    (first, *_) = steps(tmp_path, files, "site/index.js")
    assert first.products == ("site/node_modules",)


def test_yarn_neither_runs_a_release_nor_a_plugin_nor_a_generator_of_the_project(tmp_path: Path) -> None:
    lock = '__metadata:\n  version: 8\n\n"a@npm:1":\n  bin:\n    cross-exec: bin/a.js\n'
    settings = "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.5.0.cjs\nplugins:\n  - .yarn/plugins/x.cjs\n"
    files = {"package.json": package(**NEEDS), "yarn.lock": lock, ".yarnrc.yml": settings}
    (first,) = steps(tmp_path, files)
    assert [(each.name, each.version) for each in first.programs] == [("yarn", "4.5.0")]
    assert "YARN_RC_FILENAME=.none YARN_NODE_LINKER=node-modules " in str(first.run)
    assert first.network
    generated = package(**{**NEEDS, "dependencies": {"dep": "exec:./generate.js"}})
    (first,) = steps(tmp_path, {**files, "package.json": generated})
    assert not first.network


BUILD = "node -e \"fs.cpSync('src', 'dist', {recursive: true})\""
BUILT = {"main": "./dist/index.js", "exports": {".": {"default": "./dist/index.js"}}}
USES_ITSELF = "require('assert').equal(require('app'), 42)\n"


async def test_a_project_whose_tests_load_what_it_builds_is_built(tmp_path: Path, sandbox: Sandbox) -> None:
    scripts = {"build": BUILD, "test": "node test/it.js"}
    files = {
        "package.json": package(**BUILT, scripts=scripts, devDependencies={"dep": "file:dep.tgz"}),
        "src/index.js": "module.exports = 42\n",
        "test/it.js": USES_ITSELF,
    }
    tree = sources(tmp_path / "tree", files)
    packed(tree)
    (*_, last) = plan_setup(tree).steps
    assert (last.run, last.network, last.shared, last.optional) == ("npm run build", False, False, True)
    await set_up(tree, sandbox)
    assert await passes_its_tests(tree, sandbox) == "npm test"


@pytest.mark.parametrize(
    ("manifest", "files"),
    [
        ({**BUILT, "scripts": {"build": BUILD, "test": "node ."}}, {"examples/a.js": USES_ITSELF}),
        ({**BUILT, "scripts": {"build": BUILD, "test": "npm run build && node ."}}, {"test/it.js": USES_ITSELF}),
        ({**BUILT, "scripts": {"build": BUILD, "test": "node .", "pretest": "npm run build"}}, {"a.js": USES_ITSELF}),
        ({"main": "index.js", "scripts": {"build": BUILD, "test": "node ."}}, {"a.js": USES_ITSELF, "index.js": ""}),
        ({**BUILT, "scripts": {"test": "node ."}}, {"a.js": USES_ITSELF}),
    ],
)
def test_a_project_is_not_built_for_nothing(
    tmp_path: Path, manifest: Mapping[str, object], files: Mapping[str, str]
) -> None:
    found = steps(tmp_path, {"package.json": package(**{**NEEDS, **manifest}), "package-lock.json": "{}", **files})
    assert not any("run build" in str(step.run) for step in found)


def test_a_workspace_whose_packages_load_each_others_build_is_built(tmp_path: Path) -> None:
    files = {
        "package.json": package(workspaces=["packages/*"], scripts={"build": BUILD}),
        "packages/a/package.json": json.dumps({"name": "dep", "main": "dist/index.js"}),
        "packages/b/package.json": json.dumps({"name": "b", **NEEDS}),
    }
    assert steps(tmp_path, files, "packages/b/index.js")[-1].run == "npm run build"


def test_what_a_package_of_a_workspace_uses_is_built_before_its_tests_in_order(tmp_path: Path) -> None:
    built = {"main": "dist/index.js", "scripts": {"build": BUILD, "test": "node test.js"}}
    files = {
        "package.json": package(
            workspaces=["packages/*"], scripts={"build": BUILD, "pretest": "npm run build", "test": "x", "lint": "x"}
        ),
        "packages/apart/package.json": json.dumps({"name": "apart", **built}),
        "packages/base/package.json": json.dumps({"name": "base", **built}),
        "packages/core/package.json": json.dumps({"name": "core", **built, "dependencies": {"base": "*"}}),
        "packages/ui/package.json": json.dumps({"name": "ui", **built, **NEEDS, "devDependencies": {"core": "*"}}),
    }
    _, *own = steps(tmp_path, files, "packages/ui/index.js")
    builds = [(step.run, step.because) for step in own if step.builds]
    assert builds == [
        (f"cd packages/{name} && {{ npm run build; }}", f"packages/{name}/package.json") for name in ("base", "core")
    ]
    assert not any(step.builds for step in steps(tmp_path / "whole", files)), "its own tests build"
