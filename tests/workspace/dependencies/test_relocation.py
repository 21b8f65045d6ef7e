"""What was installed in one tree works in another and names only that one: scripts, links, compiled Python, records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.workspace.dependencies.relocation import Unmovable, is_plain, move, prepare, survey
from tests.machine import PYTHON
from tests.workspace.sandbox.sandboxed_commands import passes
from tests.workspace.setup_steps import cache, ran, sandbox, set_up, step, tree

PLACES = (sys.base_prefix, "/usr")


def holds(where: Path, text: str) -> list[str]:
    """The files and links below that hold the text, as grep finds them, also in binary files."""
    found = subprocess.run(("grep", "-rlaF", "--", text, "."), cwd=where, capture_output=True, text=True, check=False)
    links = [str(path) for path in where.rglob("*") if path.is_symlink() and text in str(path.readlink())]
    return found.stdout.split() + links


async def test_a_virtual_environment_works_in_another_tree_and_names_that_one_alone(tmp_path: Path) -> None:
    making = step(f"{PYTHON} -m venv .venv && .venv/bin/python -m compileall -q .venv/lib", products=(".venv",))
    one, other = tree(tmp_path / "one"), tree(tmp_path / "other-tree")
    assert ran(await set_up(one, cache(tmp_path), making)) == [True]
    assert holds(one / ".venv", str(one))
    assert ran(await set_up(other, cache(tmp_path), making)) == [False]
    assert holds(other / ".venv", f"{one}/") == []
    assert holds(other / ".venv", str(one)) == []
    assert str(other / ".venv/lib") in await passes(await sandbox(), other, "pip --version")
    shown = "import sys, pip, pip._internal as i; print(sys.prefix, i.main.__code__.co_filename)"
    prefix, place = (await passes(await sandbox(), other, ".venv/bin/python", "-c", shown)).split()
    assert prefix == str(other / ".venv")
    assert place.startswith(f"{other}/.venv/lib/")


async def test_compiled_python_stays_and_is_not_compiled_again(tmp_path: Path) -> None:
    making = step(
        f"{PYTHON} -m venv --without-pip .venv && cd .venv/lib/python3*/site-packages && echo 'def f(): 1/0' > some.py"
        f" && {PYTHON} -m compileall -q $PWD",
        products=(".venv",),
    )
    one, other = tree(tmp_path / "one"), tree(tmp_path / "a-longer-name")
    await set_up(one, cache(tmp_path), making)
    await set_up(other, cache(tmp_path), making)
    (compiled,) = other.rglob("some.*.pyc")
    before = compiled.read_bytes()
    run = "import traceback, some\ntry: some.f()\nexcept ZeroDivisionError: traceback.print_exc()"
    shown = await passes(await sandbox(), other, ".venv/bin/python", "-c", run)
    assert f'File "{other}/.venv/lib/' in shown
    assert compiled.read_bytes() == before


async def test_compiled_python_whose_source_names_the_tree_is_compiled_again(tmp_path: Path) -> None:
    making = step(
        f"{PYTHON} -m venv --without-pip .venv && cd .venv/lib/python3*/site-packages"
        f" && echo \"PLACE = '$OLDPWD'\" > place.py && {PYTHON} -m compileall -q $PWD",
        products=(".venv",),
    )
    for name in ("one", "two"):
        where = tree(tmp_path / name)
        await set_up(where, cache(tmp_path), making)
        assert (
            await passes(await sandbox(), where, ".venv/bin/python", "-c", "import place; print(place.PLACE)")
            == f"{where}\n"
        )


def test_scripts_and_links_are_made_to_lead_to_the_new_tree(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    made = one / "made"
    made.mkdir(parents=True)
    (made / "script").write_text(f"#!{one}/made/sh\necho {one}-beside {one}\n")
    (made / "script").chmod(0o755)
    (made / "absolute").symlink_to(one / "made/script")
    (made / "relative").symlink_to("../source")
    (made / "program").symlink_to(PYTHON)
    survey(made, "made", one, PLACES)
    moved = prepare(made, one)
    move(made, moved, one, other)
    assert (made / "script").read_text() == f"#!{other}/made/sh\necho {one}-beside {other}\n"
    assert (made / "script").stat().st_mode & 0o777 == 0o755
    links = [str((made / name).readlink()) for name in ("absolute", "relative", "program")]
    assert links == [f"{other}/made/script", "../source", PYTHON]


async def test_a_program_of_a_tree_with_a_long_path_still_starts(tmp_path: Path) -> None:
    script = "'#!%s/.venv/bin/python3\\nimport sys\\nprint(sys.argv[1:])\\n'"
    making = step(
        f'{PYTHON} -m venv --without-pip .venv && cd .venv/bin && printf {script} "$OLDPWD" > say && chmod +x say',
        products=(".venv",),
    )
    other = tree(tmp_path / ("long" * 30) / ("longer" * 30))
    await set_up(tree(tmp_path / "one"), cache(tmp_path), making)
    assert ran(await set_up(other, cache(tmp_path), making)) == [False]
    assert await passes(await sandbox(), other, "say", "a b") == "['a b']\n"


@pytest.mark.parametrize("leads_to", ["/etc/passwd", "../../outside", "/usr/../etc", "/"])
def test_a_link_out_of_the_tree_refuses(tmp_path: Path, leads_to: str) -> None:
    (tmp_path / "tree/made").mkdir(parents=True)
    (tmp_path / "tree/made/link").symlink_to(leads_to)
    with pytest.raises(Unmovable, match="out of the tree"):
        survey(tmp_path / "tree/made", "made", tmp_path / "tree", PLACES)


def test_nothing_is_found_where_the_path_only_begins_alike(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made/text").write_text("/srv/tree-2 /srv/tree.old /srv/tree_ /srv/trees")
    assert prepare(tmp_path / "made", Path("/srv/tree")).texts == ()


@pytest.mark.parametrize(("path", "plain"), [("/a/b-c_d.e~1", True), ("/a b", False), ("/a'b", False), ("/ä", False)])
def test_a_path_that_is_written_in_several_ways_is_not_plain(path: str, plain: bool) -> None:
    assert is_plain(Path(path)) is plain
