"""Python imports this module when it starts. It reports which functions of the changed files run, to a file.

Each report is written at once, so that a process that is killed or forked loses nothing. What could run or read changed
code without a report is reported too. It runs in the project's own Python, so it knows the standard library alone."""

import atexit
import json
import os
import re
import sys
import threading
from typing import Any

_PLACE = "MENDBOT_REACH"
_PROGRAMS = frozenset(("uname", "lsb_release", "ldconfig", "sysctl", "sw_vers", "nproc", "getconf", "gcc", "ld"))
_PYTHON = re.compile(r"(?:python|pypy)(?!2)[\d.]*$")
_HIDES = re.compile(r"(?:python|pypy)[\d.]*\s+-\w*[IES]")
_LOADERS = ("<frozen importlib", "/importlib/", "/_pytest/", "/unittest/loader.py", "/pkgutil.py")
_TOOL_IDS = (4, 3, 5)


class _Probe:
    """Reports to `log`. `files` are the changed files by their real paths, `directories` those of added files."""

    def __init__(self, place: str) -> None:
        with open(os.path.join(place, "changed.json"), encoding="utf-8") as file:
            changed = json.load(file)
        self.place = place
        self.log = os.path.join(place, "python.jsonl")
        self.tree = os.path.realpath(changed["tree"])
        self.files = {os.path.join(self.tree, name): name for name in changed["files"]}
        self.directories = {os.path.dirname(os.path.join(self.tree, name)) for name in changed["added"]}
        self.bases = {os.path.basename(name) for name in changed["files"]}
        self.stems = {os.path.basename(name).partition(".")[0] for name in changed["files"]}
        self.known = _Known(self)
        self.reported: Any = set()

    def report(self, *line: Any) -> None:
        if line in self.reported:
            return
        self.reported.add(line)
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def ran(self, code: Any) -> None:
        """Report a code object that begins to run, if it is of a changed file."""
        name = self.known[code.co_filename]
        if name:
            self.report("ran", name, code.co_firstlineno, code.co_name)

    def changed(self, path: str) -> str:
        """The name of a file if it was changed, else ""."""
        if os.path.basename(path) not in self.bases:
            return ""
        path = os.path.realpath(path)
        if path in self.files:
            return str(self.files[path])
        for own, name in self.files.items():
            if os.path.basename(own) == os.path.basename(path) and _alike(own, path):
                self.report("doubt", "copy", name)
        return ""

    def audit(self, event: str, args: Any) -> None:
        if event in _EVENTS:
            try:
                _EVENTS[event](self, args)
            except Exception as error:  # whatever is wrong here, the project's code goes on
                self.report("doubt", "probe", type(error).__name__)

    def opened(self, args: Any) -> None:
        path = _text(args[0])
        if path is not None and os.path.basename(path) in self.bases and not _by_loader():
            name = self.files.get(os.path.realpath(path))
            if name:
                self.report("opened", name)

    def listed(self, args: Any) -> None:
        path = _text(args[0] if args and args[0] is not None else ".")
        if path is None or not self.directories or _by_loader():
            return
        place = os.path.realpath(path)
        if place in self.directories:
            self.report("listed", os.path.relpath(place, self.tree))

    def imported(self, args: Any) -> None:
        path = _text(args[1]) if len(args) > 1 and args[1] else None
        if path is not None and os.path.basename(path).partition(".")[0] in self.stems:
            self.report("doubt", "compiled", os.path.basename(path))
        if path is not None and args[0].startswith("greenlet") and not hasattr(sys, "monitoring"):
            self.report("doubt", "tracer", "greenlet")

    def popen(self, args: Any) -> None:
        self.started(args[1] if args[1] else [args[0]], args[3])

    def spawned(self, args: Any) -> None:
        self.started(args[1], args[2])

    def system(self, args: Any) -> None:
        self.report("doubt", "child", _text(args[0]) or "")

    def started(self, argv: Any, env: Any) -> None:
        words = [_text(word) or "" for word in ([argv] if isinstance(argv, (str, bytes)) else argv)]
        program = os.path.basename(words[0]) if words else ""
        if program in _PROGRAMS:
            return
        if _hides(words) or not _starts_python(words[0] if words else "", env):
            self.report("doubt", "child", program)
        elif env is not None and _named(env, _PLACE) is None:
            self.report("doubt", "environment", program)

    def traced(self, _args: Any) -> None:
        # a new thread sets what `threading.settrace` has stored
        if self.tracing and not sys._getframe(2).f_code.co_filename.endswith("threading.py"):
            self.report("doubt", "tracer", "sys.settrace")

    tracing = False


class _Known(dict):  # type: ignore[type-arg]
    """The names of changed files by the paths of code and modules, "" for others. Each call of a function asks it."""

    def __init__(self, probe: Any) -> None:
        super().__init__()
        self._probe = probe

    def __missing__(self, path: Any) -> str:
        self[path] = ""
        try:
            self[path] = self._probe.changed(path) if isinstance(path, str) else ""
        except Exception as error:  # an error would end the tracing, and the program that is traced
            self._probe.report("doubt", "probe", type(error).__name__)
        return str(self[path])


_EVENTS = {
    "open": _Probe.opened,
    "os.listdir": _Probe.listed,
    "os.scandir": _Probe.listed,
    "import": _Probe.imported,
    "subprocess.Popen": _Probe.popen,
    "os.posix_spawn": _Probe.spawned,
    "os.exec": _Probe.spawned,
    "os.system": _Probe.system,
    "sys.settrace": _Probe.traced,
}


def _text(value: Any) -> Any:
    """A path or a word as text; None for a number."""
    if isinstance(value, int) or value is None:
        return None
    return os.fsdecode(value)


def _named(env: Any, name: str) -> Any:
    """A variable of an environment, whose names may be bytes."""
    return env.get(name, env.get(name.encode()))


def _hides(words: Any) -> bool:
    """Whether a call of Python passes over the environment or this module."""
    if not words or not _PYTHON.match(os.path.basename(words[0])):
        return False
    valued = False
    for word in words[1:]:
        if not valued and (not word.startswith("-") or word in ("-c", "-m", "-")):
            return False
        if not valued and not word.startswith("--") and set("IES") & set(word):
            return True
        valued = not valued and word in ("-W", "-X")
    return False


def _starts_python(program: str, env: Any) -> bool:
    """Whether a program is Python, or a script of it."""
    if _PYTHON.match(os.path.basename(program)):
        return True
    path = (_named(env, "PATH") if env is not None else None) or os.environ.get("PATH", "")
    for place in [""] if "/" in program else os.fsdecode(path).split(os.pathsep):
        try:
            with open(os.path.join(place, program), "rb") as file:
                head = file.read(300)
        except OSError:
            continue
        return head.startswith(b"#!") and b"python" in head and not _HIDES.search(head.decode("latin-1"))
    return False


def _by_loader() -> bool:
    """Whether it is Python or pytest that opens a file to import it, or lists a directory to find modules."""
    try:
        frame = sys._getframe(3)
    except ValueError:
        return True  # Python itself, for the program that it was started with
    while frame.f_back is not None and "/pathlib" in frame.f_code.co_filename:
        frame = frame.f_back
    path = frame.f_code.co_filename
    return path == __file__ or any(part in path for part in _LOADERS)


def _alike(own: str, other: str) -> bool:
    """Whether at least half of a file's lines stand in another: it may be a copy."""
    with open(own, encoding="utf-8", errors="replace") as file:
        lines = set(file.read().split("\n")) - {""}
    with open(other, encoding="utf-8", errors="replace") as file:
        return 2 * len(lines & set(file.read().split("\n"))) >= len(lines) > 0


def _watch(probe: Any) -> None:
    """Have each function reported that begins to run, on every thread."""
    monitoring: Any = getattr(sys, "monitoring", None)
    free = [each for each in _TOOL_IDS if monitoring.get_tool(each) is None] if monitoring is not None else []
    if free:
        monitoring.use_tool_id(free[0], "mendbot")

        def begins(code: Any, _offset: int) -> Any:
            probe.ran(code)
            return monitoring.DISABLE

        monitoring.register_callback(free[0], monitoring.events.PY_START, begins)
        monitoring.set_events(free[0], monitoring.events.PY_START)
        return

    def call(frame: Any, _event: str, _arg: Any, known: Any = probe.known) -> None:
        # by its module first: each look at `f_code` is audited, which takes ten times as long as this function
        if known[frame.f_globals.get("__file__")]:
            probe.ran(frame.f_code)

    def ended() -> None:
        if sys.gettrace() is not call:
            probe.report("doubt", "tracer", "sys.settrace")

    atexit.register(ended)
    threading.settrace(call)
    sys.settrace(call)
    probe.tracing = True


def _load_next() -> None:
    """Load the module of this name that the environment has itself, and that this one hides."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    own = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.realpath(path) != own])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


def _begin(place: str) -> None:
    probe = _Probe(place)
    if not hasattr(sys, "addaudithook"):  # before Python 3.8
        probe.report("doubt", "version", "%d.%d" % sys.version_info[:2])
        return
    probe.report("process", os.getpid())
    sys.addaudithook(probe.audit)
    _watch(probe)


if os.environ.get(_PLACE):
    _begin(os.environ[_PLACE])
_load_next()
