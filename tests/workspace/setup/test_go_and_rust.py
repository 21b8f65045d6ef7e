"""How Go modules and Rust packages are set up: what they require is downloaded into the tree, and found offline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.model import ShellCommand
from bot.model.setups import SetupStep
from bot.workspace.sandbox.bubblewrap import CARGO_HOME, GO_MODULES, SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox
from bot.workspace.setup.plan import plan_setup
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

GO = "module example.com/m\n\ngo 1.19\n"
CARGO = '[package]\nname = "m"\nversion = "1.0.0"\n'


def steps(tree: Path, files: Mapping[str, str]) -> tuple[SetupStep, ...]:
    return plan_setup(sources(tree, files)).steps


@pytest.mark.parametrize(
    "files",
    [
        {"go.mod": GO},
        {"go.mod": f"{GO}// require example.com/x v1.0.0\nrequire (\n)\n"},
        {"go.mod": f"{GO}require example.com/x v1.0.0\n", "vendor/modules.txt": ""},
        {"go.mod": f"{GO}require example.com/x v1.0.0\n", f"{GO_MODULES}/cache/x": ""},
        {"Cargo.toml": CARGO},
        {"Cargo.toml": f'{CARGO}[dependencies]\nb = {{ path = "b" }}\n', "b/Cargo.toml": CARGO},
        {"Cargo.toml": f'{CARGO}[dependencies]\nb = "1"\n', "Cargo.lock": '[[package]]\nname = "m"\n'},
        {
            "Cargo.toml": f'{CARGO}[dependencies]\nb = "1"\n',
            ".cargo/config.toml": '[source.crates-io]\nreplace-with = "vendored"\n',
        },
    ],
)
def test_where_nothing_is_to_be_downloaded_there_is_no_step(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert steps(tmp_path, files) == ()


def test_the_modules_that_a_go_module_requires_are_downloaded_into_the_tree(tmp_path: Path) -> None:
    files = {"go.mod": f"{GO}require (\n\texample.com/x v1.0.0\n)\n", "go.sum": "", "m.go": "package m\n"}
    (step,) = steps(tmp_path, files)
    assert str(step.run).endswith("&& go mod download")
    assert (step.network, step.shared, step.because) == (True, True, "go.mod")
    assert (set(step.reads), step.products) == ({"go.mod", "go.sum"}, (GO_MODULES,))


@pytest.mark.parametrize(
    ("files", "option"),
    [
        ({"Cargo.toml": f'{CARGO}[dependencies]\nb = "1"\n'}, "cargo fetch --manifest"),
        ({"Cargo.toml": f"{CARGO}[target.'cfg(unix)'.dev-dependencies.b]\ngit = \"x\"\n"}, "cargo fetch --manifest"),
        ({"Cargo.toml": CARGO, "Cargo.lock": '[[package]]\nsource = "registry+x"\n'}, "fetch --locked --manifest"),
        (
            {"Cargo.toml": '[workspace]\nmembers = ["a"]\n', "a/Cargo.toml": f'{CARGO}[dependencies]\nb = "1"\n'},
            "cargo fetch --manifest",
        ),
    ],
)
def test_the_packages_of_rust_are_fetched_from_outside_the_tree(
    tmp_path: Path, files: Mapping[str, str], option: str
) -> None:
    (step,) = steps(tmp_path, files)
    assert option in str(step.run) and " && cd / && " in str(step.run)
    assert (step.network, step.shared, step.products) == (True, True, (CARGO_HOME,))


async def test_commands_find_what_was_downloaded_and_look_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / GO_MODULES).mkdir(parents=True)
    (tmp_path / CARGO_HOME).mkdir(parents=True)
    sandbox = await open_sandbox("bubblewrap", ())
    show = ShellCommand(run="echo $GOMODCACHE $CARGO_HOME $GOPROXY $CARGO_NET_OFFLINE", timeout_s=PATIENCE_S)
    result = await sandbox.run(show, tmp_path)
    assert result.output.decode().split() == [f"{tmp_path}/{GO_MODULES}", f"{tmp_path}/{CARGO_HOME}", "off", "true"]
    result = await sandbox.run(show, tmp_path, grant=SandboxGrant(network=True))
    assert result.output.decode().split() == [f"{tmp_path}/{GO_MODULES}", f"{tmp_path}/{CARGO_HOME}"]
