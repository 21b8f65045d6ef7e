"""What a check may not read or write: the bot's secrets, the machine, git directories (T18, T25)."""

from __future__ import annotations

import os
import pwd
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox
from tests.machine import PATIENCE_S
from tests.workspace.sandbox.sandboxed_commands import ROOT, passes, run

SEARCH = """
import os, sys
found, skip = [], {"/usr", "/sys", *sys.argv[2:]}
def look(path):
    try:
        with open(path, "rb") as file:
            if sys.argv[1].encode() in file.read(1 << 20):
                found.append(path)
    except OSError:
        pass
for pid in [name for name in os.listdir("/proc") if name.isdigit()] + [str(os.getppid())]:
    look(f"/proc/{pid}/environ")
for top, directories, files in os.walk("/"):
    directories[:] = [name for name in directories if os.path.join(top, name) not in skip | {"/proc", "/dev"}]
    for name in files:
        if os.path.isfile(os.path.join(top, name)):
            look(os.path.join(top, name))
print("searched; found", found)
"""

KERNEL = """
import os
writable, read = [], []
def look(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        writable.append(path)
    except OSError:
        pass
for top, directories, files in os.walk("/proc"):
    if top == "/proc":
        directories[:] = [name for name in directories if not name.isdigit()]
    for name in files:
        look(os.path.join(top, name))
for top in ("/proc/acpi", "/proc/asound", "/proc/scsi", "/proc/bus", "/proc/irq", "/proc/sys", "/proc"):
    try:
        os.chmod(top, 0o755)
    except OSError:
        pass
    try:
        os.close(os.open(os.path.join(top, "made"), os.O_WRONLY | os.O_CREAT))
        writable.append(top)
    except OSError:
        pass
for name in ("kcore", "keys", "timer_list", "sched_debug", "latency_stats", "interrupts"):
    try:
        with open(f"/proc/{name}", "rb") as file:
            if file.read(1):
                read.append(name)
    except OSError:
        pass
print("writable", writable, "read", read)
"""

BOT = """
import asyncio, sys
from pathlib import Path
from bot.model import ShellCommand
from bot.workspace.sandbox.sandbox import open_sandbox
async def main():
    sandbox = await open_sandbox("bubblewrap", ())
    argv = ("python", "-I", "search", sys.argv[2], sys.base_prefix)
    result = await sandbox.run(ShellCommand(run=argv, timeout_s=60), Path(sys.argv[1]))
    print(result.output.decode())
asyncio.run(main())
"""


def test_no_secret_of_the_bots_can_be_found(box: Sandbox, tree: Path, tmp_path: Path) -> None:
    canary = secrets.token_hex(16)
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text(canary)
    (tmp_path / "key.pem").write_text(canary)
    (tree / "search").write_text(SEARCH)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "PRIVATE_KEY": canary, "WEBHOOK_SECRET": canary}
    argv = (sys.executable, "-c", BOT, str(tree), canary)
    done = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout.strip() == "searched; found []"


async def test_nothing_of_the_machine_is_there_that_need_not_be(box: Sandbox, tree: Path) -> None:
    said = await passes(box, tree, "cat /etc/shadow /etc/ssl/private/* 2>&1; ls /run /var/lib /mnt /sys 2>&1; true")
    assert "root:" not in said and "PRIVATE KEY" not in said
    assert said.count("No such file or directory") >= 5
    assert int(await passes(box, tree, "ls /proc | grep -c '^[0-9]'")) <= 6
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    shown = (await passes(box, tree, f"ls -A {home} 2>/dev/null || true")).split()
    holders = (Path(sys.base_prefix), *Tools().available())
    assert set(shown) <= {path.relative_to(home).parts[0] for path in holders if path.is_relative_to(home)}


async def test_the_kernel_cannot_be_set_from_within(box: Sandbox, tree: Path) -> None:
    """As root the files of /proc/sys are the sandbox's own to write; sysrq-trigger would stop the machine."""
    before = Path("/proc/sys/kernel/printk").read_text()
    (tree / "look").write_text(KERNEL)
    assert await passes(box, tree, "python", "-I", "look") == "writable [] read []\n"
    trigger = "for f in sys/kernel/printk sys/vm/drop_caches sysrq-trigger; do echo 7 > /proc/$f; done; true"
    await passes(box, tree, trigger)
    assert Path("/proc/sys/kernel/printk").read_text() == before


async def test_programs_work_with_a_read_only_proc(box: Sandbox, tree: Path) -> None:
    script = "echo out > /dev/stdout; echo err > /proc/self/fd/2; cat /proc/self/comm; exec 3> kept; echo x > /dev/fd/3"
    assert await passes(box, tree, script) == "out\nerr\ncat\n"
    assert (tree / "kept").read_text() == "x\n"


async def test_home_and_root_are_never_given(box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree.parent / "home"))
    (tree.parent / "home").mkdir()
    for path in (Path("/"), tree.parent, tree.parent / "home"):
        with pytest.raises(UserError, match="holds the home directory"):
            await run(box, path, "true")
        with pytest.raises(UserError, match="holds the home directory"):
            await run(box, tree, "true", grant=SandboxGrant(read_only=(path,)))
    with pytest.raises(UserError, match="does not exist"):
        await run(box, tree, "true", grant=SandboxGrant(writable=(tree / "nothing",)))


async def test_capabilities_and_namespaces_are_gone(box: Sandbox, tree: Path) -> None:
    said = await passes(
        box, tree, "grep CapEff /proc/self/status; unshare -Ur true 2>&1; mount -t tmpfs x /tmp 2>&1; true"
    )
    assert "CapEff:\t0000000000000000" in said
    assert "unshare" in said and "mount:" in said


async def test_a_git_directory_in_the_tree_is_read_only(box: Sandbox, tree: Path) -> None:
    subprocess.run(("git", "init", "-q", str(tree)), check=True)
    config = (tree / ".git" / "config").read_text()
    attack = "echo evil >> .git/config; touch .git/hooks/pre-commit; mv .git x; rm -rf .git; mkdir -p .git/x"
    assert "Read-only file system" in (await run(box, tree, f"{attack}; git status")).output.decode()
    assert (tree / ".git" / "config").read_text() == config
    assert not (tree / ".git" / "hooks" / "pre-commit").exists()


async def test_a_worktrees_git_file_and_common_directory_are_read_only(
    box: Sandbox, tree: Path, tmp_path: Path
) -> None:
    common = tmp_path / "mirror.git"
    subprocess.run(("git", "init", "-q", "--bare", str(common)), check=True)
    (tree / ".git").write_text(f"gitdir: {common}\n")
    attack = (
        f"git config core.hooksPath evil; echo x > {common}/config; echo gitdir: evil > .git; mv .git y; rm -f .git"
    )
    said = (
        await run(box, tree, f"cat {common}/HEAD; {attack}", grant=SandboxGrant(read_only=(common,)))
    ).output.decode()
    assert said.startswith("ref: refs/heads/")
    assert "evil" not in (common / "config").read_text()
    assert (tree / ".git").read_text() == f"gitdir: {common}\n"


async def test_a_git_link_made_by_a_check_shows_nothing_new(box: Sandbox, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("canary")
    (tree / ".git").symlink_to(tmp_path / "secret")
    said = await passes(box, tree, "cat .git/key 2>&1; echo ran")
    assert "canary" not in said and said.endswith("ran\n")


async def test_granted_paths_are_readable_or_writable(box: Sandbox, tree: Path, tmp_path: Path) -> None:
    for name in ("see", "write"):
        (tmp_path / name).mkdir()
    grant = SandboxGrant(read_only=(tmp_path / "see",), writable=(tmp_path / "write",))
    await passes(box, tree, f"! touch {tmp_path}/see/x 2>/dev/null && touch {tmp_path}/write/x", grant=grant)
    assert (tmp_path / "write" / "x").exists()
