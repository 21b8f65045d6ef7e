"""Makes the argv and the environment of a command in bubblewrap: mounts, limits, variables.
bubblewrap's protection "is entirely determined by the arguments" (its README), so they are made in this file alone."""

from __future__ import annotations

import math
import os
import re
import resource
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from bot.model import ShellCommand
from bot.proc import COOKIE, base_python, memory_is_counted
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.sandbox import forwarder
from bot.workspace.sandbox.network_filter import NetworkFilter

SANDBOX_HOME = "/home/bot"
_FORWARDER = Path(forwarder.__file__)
_EMPTY_OBJECT = Path(__file__).with_name("empty.json")
"""Stands in place of a hidden file: settings that set nothing."""
GO_MODULES = ".cache/mendbot/go"
CARGO_HOME = ".cache/mendbot/cargo"
"""Where setup leaves what Go and Cargo download, relative to the tree: HOME lasts for one command."""
MIB = 1 << 20

_HIDDEN_IN_PROC = (
    *("acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi"),
    *("timer_list", "timer_stats"),
)
"""Of the machine's hardware, its kernel's memory and the keys and timers of other processes (moby, oci/defaults.go)."""

_MERGED_DIRS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# not /etc/ssl or /etc/pki as a whole: they hold private keys
_ETC = (
    *("passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "alternatives", "localtime", "mime.types"),
    *("services", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "crypto-policies"),
    *("pki/ca-trust/extracted", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf"),
)
_ETC_NETWORK = ("resolv.conf", "pip.conf", "xdg/pip", "npmrc")
_PACKAGE_CONFIGURATIONS = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/npmrc", "/usr/etc/npmrc")
_PACKAGE_VARIABLES = frozenset(
    (
        *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_CONSTRAINT"),
        *("PIP_DEFAULT_TIMEOUT", "UV_INDEX_URL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        *("NODE_EXTRA_CA_CERTS", "NPM_CONFIG_REGISTRY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        *("npm_config_registry", "http_proxy", "https_proxy", "no_proxy"),
        *("YARN_NPM_REGISTRY_SERVER", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
        *("GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE"),
    )
)


@dataclass(frozen=True, slots=True)
class SandboxGrant:
    """What one command may use beyond its tree. `env` is for the command alone; paths must exist.

    Without `tree_programs` no program of the tree is on PATH: what has the network must not be anybody's code (T31).
    `home` is what stands at the command's HOME, which else is a small file system in memory. `reach` are the only hosts
    that a command without `network` may reach, through the filtering proxy. Files and directories in `hidden` are empty
    for the command."""

    network: bool = False
    reach: NetworkFilter | None = None
    hidden: tuple[Path, ...] = ()
    tree_programs: bool = True
    home: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class RegistryAccess:
    """Environment and files by which this machine's package clients reach their registry; granted with the network."""

    env: Mapping[str, str]
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The program bubblewrap with what every command may read; `forbid_nesting` is false for versions before 0.8.

    `toolchains` are the operator's directories, `tools` those of `check_tools`, `programs` those of `fetched_programs`.
    The bot's own environment is not shown."""

    bwrap: Path
    prlimit: Path
    toolchains: tuple[Path, ...]
    registry: RegistryAccess
    forbid_nesting: bool = True
    tools: tuple[Path, ...] = ()
    programs: tuple[Path, ...] = ()

    def env(self, tree: Path, grant: SandboxGrant) -> dict[str, str]:
        """Returns all variables inside the sandbox, which bubblewrap itself is started with too.

        Its process is pid 1 there and /proc/1/environ can be read, so `--clearenv` alone would leak (trust 0.2)."""
        path = tree_tools(tree) if grant.tree_programs else []
        path += [str(directory / "bin") for directory in (*self.programs, *self.toolchains, *self.tools)]
        path += self.system_path()
        packages = self.registry.env if grant.network else _OFFLINE
        return {
            "PATH": ":".join(dict.fromkeys(path)),
            "HOME": SANDBOX_HOME,
            **PLAIN_ENVIRONMENT,
            **_INSIDE,
            **download_variables(tree),
            **packages,
            **{name: value for name, value in grant.env.items() if not _for_the_loader(name)},
        }

    def system_path(self) -> list[str]:
        """The end of PATH: the Python below the bot's own environment, and the system."""
        return [f"{sys.base_prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin"]

    def argv(
        self, command: ShellCommand, tree: Path, grant: SandboxGrant, proxy: Path | None = None
    ) -> tuple[str, ...]:
        """Returns the argv for the sandbox; `proxy` is the socket of the filtering proxy.

        Raises UserError for a path that shows too much or does not exist."""
        network = ("--share-net",) if grant.network else ()
        nesting = ("--disable-userns",) if self.forbid_nesting else ()
        return (
            *(str(self.bwrap), "--unshare-all", "--unshare-user", *nesting, *network),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"),
            *("--unsetenv", COOKIE),
            *(word for pair in grant.env.items() if _for_the_loader(pair[0]) for word in ("--setenv", *pair)),
            *self._mounts(tree, grant, () if proxy is None else (proxy.parent, _FORWARDER)),
            # the root and /dev are file systems in memory without a limit, so nothing may be written there; in /proc
            # root could change settings of the machine's kernel, as bubblewrap covers only directories it may write to
            *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(tree), "--"),
            *(() if proxy is None else (str(base_python()), "-I", "-S", str(_FORWARDER), str(proxy))),
            *(str(self.prlimit), *_limits(command.timeout_s), "--", *command.argv),
        )

    def _mounts(self, tree: Path, grant: SandboxGrant, filtering: tuple[Path, ...]) -> Iterable[str]:
        """Yields mounts by depth: a mount hides earlier ones below its path. Of two for one path the later wins."""
        mounts = [*_system(), *_scratch(), _bind("--bind", _checked_path(tree))]
        if grant.home is not None:
            mounts.append(("--bind", str(grant.home), SANDBOX_HOME))
        pythons = {Path(sys.base_prefix), Path(sys.base_prefix).resolve()}
        readable = (*sorted(pythons), *self.toolchains, *self.tools, *self.programs)
        mounts += [_bind("--ro-bind", path) for path in readable if _needs_mount(path)]
        git = tree / ".git"
        if git.exists() and not git.is_symlink():  # a link could have been made by a check, to anywhere
            mounts.append(_bind("--ro-bind", git))
        if grant.network:
            mounts += [_bind("--ro-bind-try", Path("/etc", name)) for name in _ETC_NETWORK]
            mounts += [_bind("--ro-bind-try", path) for path in self.registry.paths]
        mounts += [_bind("--bind", _checked_path(path)) for path in grant.writable]
        mounts += [_bind("--ro-bind", _checked_path(path)) for path in (*grant.read_only, *filtering)]
        mounts += [_hide(path) for path in _inside(grant.hidden, tree)]
        mounts.sort(key=lambda mount: len(PurePosixPath(mount[-1]).parts))
        return (word for mount in mounts for word in mount)


def _for_the_loader(name: str) -> bool:
    """Whether the dynamic loader reads the variable. Such a variable would load the tree's code into bubblewrap itself,
    outside the sandbox, so it is set inside."""
    return name.startswith("LD_")


def download_variables(tree: Path) -> dict[str, str]:
    """Returns the variables by which Go and Cargo find what setup downloaded into the tree."""
    directories = {"GOMODCACHE": tree / GO_MODULES, "CARGO_HOME": tree / CARGO_HOME}
    return {name: str(directory) for name, directory in directories.items() if directory.is_dir()}


_OFFLINE: Mapping[str, str] = {"GOPROXY": "off", "CARGO_NET_OFFLINE": "true"}
_INSIDE: Mapping[str, str] = {
    "GOCACHE": "/tmp/go-build",  # noqa: S108 - a path inside the sandbox, larger than HOME
    "GOTOOLCHAIN": "local",  # another one would be downloaded by each command anew
}
PLAIN_ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8", "CI": "true"}


def tree_tools(tree: Path) -> list[str]:
    """Returns the tree's own directories of programs, which come before all others on PATH."""
    own = (tree / "node_modules" / ".bin", tree / ".venv" / "bin", tree / "venv" / "bin")
    return [str(directory) for directory in own if directory.is_dir()]


def find_registry_access(environ: Mapping[str, str]) -> RegistryAccess:
    """Returns the package clients' settings among these variables, by fixed names, and the files they name."""
    env = {name: value for name, value in environ.items() if name in _PACKAGE_VARIABLES}
    files = [Path(name) for name in (*_PACKAGE_CONFIGURATIONS, env.get("PIP_CONFIG_FILE", "/dev/null"))]
    texts = [*env.values(), *(path.read_text(errors="replace") for path in files if os.access(path, os.R_OK))]
    named = {Path(word) for text in texts for word in _absolute_paths(text)}
    wanted = (
        path
        for path in named
        if os.access(path, os.R_OK) and _needs_mount(path) and path.parts[1] not in ("dev", "proc")
    )
    return RegistryAccess(env, tuple(sorted(wanted)))


def _absolute_paths(text: str) -> Iterable[str]:
    for word in re.split(r"[\s=,;]+", text):
        if word.startswith("file:///"):
            yield os.path.normpath(unquote(urlsplit(word).path))
        elif word.startswith("/"):
            yield from (os.path.normpath(part) for part in word.split(":") if part.startswith("/"))


def _system() -> Iterable[tuple[str, ...]]:
    yield _bind("--ro-bind", Path("/usr"))
    for name in _MERGED_DIRS:
        path = Path(name)
        if path.is_symlink():
            yield ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield _bind("--ro-bind", path)
    yield from (_bind("--ro-bind-try", Path("/etc", name)) for name in _ETC)


def _scratch() -> Iterable[tuple[str, ...]]:
    yield ("--proc", "/proc")
    yield from _hidden_in_proc()
    yield ("--dev", "/dev")
    yield ("--symlink", "../tmp", "/var/tmp")  # noqa: S108 - paths inside the sandbox, empty and its own
    for place, size in (("/tmp", 1024 * MIB), (SANDBOX_HOME, 256 * MIB), ("/dev/shm", 256 * MIB)):  # noqa: S108
        yield ("--size", str(size), "--tmpfs", place)


def _hidden_in_proc() -> Iterable[tuple[str, ...]]:
    """Hides what Docker hides of /proc. A mount needs an existing path, and not every kernel has all of these."""
    for name in _HIDDEN_IN_PROC:
        path = Path("/proc", name)
        if path.is_dir():
            yield ("--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path))
        elif path.exists():
            yield ("--ro-bind", "/dev/null", str(path))


def _bind(option: str, path: Path) -> tuple[str, ...]:
    return (option, str(path), str(path))


def _inside(paths: Iterable[Path], tree: Path) -> Iterable[Path]:
    """Yields the existing ones with links resolved; what a link outside the tree leads to is not shown anyway."""
    for path in paths:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            continue  # nothing is there, or links in a circle
        if real != tree.resolve() and real.is_relative_to(tree.resolve()):
            yield real


def _hide(path: Path) -> tuple[str, ...]:
    if path.is_dir():
        return ("--size", "65536", "--tmpfs", str(path))
    return ("--ro-bind", str(_EMPTY_OBJECT), str(path))


def _shows_home(path: Path) -> bool:
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path's own raises for a user without one
    return any(path == each or path in each.parents for each in (Path("/"), home, home.resolve()))


def _needs_mount(path: Path) -> bool:
    return not _shows_home(path) and not path.is_relative_to("/usr")


def _checked_path(path: Path) -> Path:
    if _shows_home(path.resolve()):
        raise user_error(make_reason("sandbox.shows_home", path=str(path)))
    if not os.access(path, os.F_OK):
        raise user_error(make_reason("sandbox.no_path", path=str(path)))
    return path


def _limits(timeout_s: float) -> Iterable[str]:
    """Yields the limits of each process in bytes and seconds, as options of prlimit(1). `nproc` does not bind uid 0."""
    limits = (
        ("nproc", resource.RLIMIT_NPROC, 512),
        ("fsize", resource.RLIMIT_FSIZE, 1024 * MIB),
        ("nofile", resource.RLIMIT_NOFILE, 4096),
        ("core", resource.RLIMIT_CORE, 0),
        ("cpu", resource.RLIMIT_CPU, max(600, math.ceil(timeout_s) * (os.cpu_count() or 1))),
        # what only reserves memory is no fault, and where the sum is watched what is used ends there
        *(() if memory_is_counted() else (("data", resource.RLIMIT_DATA, 4096 * MIB),)),
    )
    for name, number, limit in limits:
        ceiling = resource.getrlimit(number)[1]  # nobody without privilege may go above it
        yield f"--{name}={limit if ceiling == resource.RLIM_INFINITY else min(limit, ceiling)}"
