"""From the text of `.github/mendbot.yml` to a policy, or to every problem it has: each in plain words, with its key and
its line. Problems are values, and no text of anybody's makes this raise or take long."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from yaml.nodes import Node

from bot.repo_config.describe import MAX_SHOWN, got, is_null, is_plain, is_quoted_number, is_quoted_truth, is_text
from bot.repo_config.document import Document, Path, parse_document
from bot.repo_config.json_schema import Schema, below, choices, either, keys_of, phrase, policy_schema, sections
from bot.repo_config.policy import FIRST_PROBLEMS, Policy, PolicyProblem

MAX_FILE_BYTES = 64 * 1024
_MIN_LETTERS = 3
"""So many letters are enough to know which key they begin."""

_TOO_LARGE = PolicyProblem(
    key="", message=f"is larger than {MAX_FILE_BYTES // 1024} KiB: no configuration needs that much; shorten it"
)


def parse_policy_file(data: bytes) -> Policy | tuple[PolicyProblem, ...]:
    """As `parse_policy`, for a file's bytes; of a larger file the first 64 KiB and a byte are enough."""
    if len(data) > MAX_FILE_BYTES:
        return (_TOO_LARGE,)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        return (PolicyProblem(key="", message="is not UTF-8 text: save it in that encoding", line=line),)
    return parse_policy(text)


def parse_policy(text: str) -> Policy | tuple[PolicyProblem, ...]:
    """The policy a YAML text describes, or the problems it has in the order of their lines (the first 20 of them); an
    empty text is the default policy."""
    if len(text) > MAX_FILE_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        return (_TOO_LARGE,)
    document = parse_document(text)
    if isinstance(document, PolicyProblem):
        return (document,)
    found: list[PolicyProblem] = list(document.problems)
    try:
        policy = Policy.model_validate(document.values)
    except ValidationError as error:
        found += _problems(document, error.errors(include_url=False, include_input=False))
    else:
        if not found:
            return policy
    found.sort(key=lambda problem: (problem.line, problem.column))
    if (more := len(found) - FIRST_PROBLEMS) > 0:
        last = PolicyProblem(key="", message=f"{more} more problems are not shown", line=found[FIRST_PROBLEMS].line)
        return (*found[:FIRST_PROBLEMS], last)
    return tuple(found)


def _problems(document: Document, errors: Iterable[ErrorDetails]) -> list[PolicyProblem]:
    """One problem for each value: of a key that takes text or a list, pydantic reports once why it is no text and once
    why it is no list. What is wrong within a list or a mapping is reported, and not that the whole is wrong for it."""
    by_path: dict[Path, ErrorDetails] = {}
    for error in errors:
        path = _path(document, error["loc"])
        if path not in by_path or by_path[path]["type"].endswith("_type"):
            by_path[path] = error
    above = {path[:length] for path in by_path for length in range(len(path))}
    deepest = [(path, error) for path, error in by_path.items() if path not in above]
    deepest.sort(key=lambda item: _place(document, *item))
    # making a sentence takes a look at every key: only what will be shown gets one
    shown_ones = [_problem(document, path, error) for path, error in deepest[: FIRST_PROBLEMS + 1]]
    rest = [document.lines.problem("", _place(document, *item)) for item in deepest[FIRST_PROBLEMS + 1 :]]
    return shown_ones + rest


def _path(document: Document, loc: tuple[str | int, ...]) -> Path:
    """The part of pydantic's location that stands in the file: between, it names the members of unions."""
    path: Path = ()
    for part in loc:
        if (*path, part) in document.places or not path:
            path = (*path, part)
    return path


def _is_about_the_key(error: ErrorDetails) -> bool:
    return bool(error["type"] == "extra_forbidden" or error["loc"][-1] == "[key]")


def _place(document: Document, path: Path, error: ErrorDetails) -> tuple[int, int]:
    """The line and the column of what is wrong."""
    place = document.places.get(path)
    if place is None:  # a default that does not go with what is there
        return 1, 1
    return document.lines.of_node(place.key if _is_about_the_key(error) and place.key is not None else place.value)


def _problem(document: Document, path: Path, error: ErrorDetails) -> PolicyProblem:
    message = _unknown(path) if error["type"] == "extra_forbidden" else _wrong(document, path, error)
    return document.lines.problem(message, _place(document, path, error), path)


def _wrong(document: Document, path: Path, error: ErrorDetails) -> str:
    match error["type"]:
        case "value_error":
            return str(error["ctx"]["error"])
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {error['ctx']['max_length']} characters"
    schema, node = _schema_at(path), document.places[path].value
    return f"must be {phrase(schema)}, got {got(node)}{_hint(schema, node, path)}"


def _hint(schema: Schema, node: Node, path: Path) -> str:
    """How to correct a common mistake; empty where the sentence before is enough."""
    kinds = {kind.get("type") for kind in choices(schema)}
    if is_null(node):
        return ": remove it" if isinstance(path[-1], int) else ": remove the key where the default will do"
    if is_plain(node) and "string" in kinds:
        return ": put it in quotes"
    if (is_quoted_number(node) and kinds & {"integer", "number"}) or (is_quoted_truth(node) and "boolean" in kinds):
        return ": leave out the quotes"
    if not is_text(node):
        return ""
    words = tuple(word for kind in choices(schema) for word in kind.get("enum", ()))
    if (nearest := _nearest(node.value[:MAX_SHOWN], words)) is not None:
        return f"; did you mean `{nearest}`?"
    if kinds == {"array"}:
        return ": put it in brackets"
    return ": write `{ command: … }`" if "command" in keys_of(schema) else ""


def _schema_at(path: Path) -> Schema:
    schema = policy_schema()
    for part in path:
        schema = below(schema, part) or {}
    return schema


def _unknown(path: Path) -> str:
    """What was meant by a key that is none: one with nearly this name here, or this very name elsewhere."""
    known = keys_of(_schema_at(path[:-1]))
    name = str(path[-1])[:MAX_SHOWN]
    homes = [home for home, schema in sections() if name in keys_of(schema)]
    if homes:
        return f"unknown key here; `{name}` belongs {_under(homes)}"
    if nearest := _nearest(name, known):
        return f"unknown key; did you mean `{nearest}`?"
    everywhere = {key: home for home, schema in sections() for key in keys_of(schema)}
    if (nearest := _nearest(name, tuple(everywhere))) is not None:
        homes = [home for home, schema in sections() if nearest in keys_of(schema)]
        return f"unknown key; did you mean `{nearest}`, which belongs {_under(homes)}?"
    return f"unknown key; known here: {', '.join(known)}"


def _under(homes: Iterable[tuple[str, ...]]) -> str:
    places = [f"`{'.'.join(home)}`" for home in homes if home]
    return f"under {either(places)}" if places else "at the top of the file, in no section"


def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    """The known word nearest to a name, however its words are joined (`maxAttempts` and `max-attempts` are alike), or
    the only one that begins with it, such as `lang`."""
    plain = {key.replace("_", "").replace("-", ""): key for key in known}
    word = name.lower().replace("_", "").replace("-", "")
    nearest = difflib.get_close_matches(word, list(plain), n=1, cutoff=0.7)
    longer = [key for key in plain if key.startswith(word)] if len(word) >= _MIN_LETTERS else []
    found = nearest or (longer if len(longer) == 1 else [])
    return plain[found[0]] if found else None
