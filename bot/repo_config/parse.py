"""Reads the text of `.github/mendbot.yml` into a policy, or into every problem it has, each with its key and its line.

Problems are values: no text makes this raise or take long."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from yaml.nodes import Node

from bot.model.reasons import Reason, make_reason, quoted
from bot.repo_config.configuration_keys import MAX_PROBLEMS, InvalidValue, Policy, PolicyProblem
from bot.repo_config.describe import (
    MAX_SHOWN,
    describe_node,
    is_null,
    is_plain,
    is_quoted_number,
    is_quoted_truth,
    is_text,
)
from bot.repo_config.document import Document, Path, parse_document
from bot.repo_config.json_schema import (
    Schema,
    alternatives,
    any_of,
    describe_schema,
    keys_of,
    policy_schema,
    schema_of,
    sections,
)

MAX_FILE_BYTES = 64 * 1024
_MIN_LETTERS = 3
"""The letters that are enough to find the key that begins with them."""

_TOO_LARGE = PolicyProblem(key="", reason=make_reason("config.too_large", kib=MAX_FILE_BYTES // 1024))


def parse_policy_file(data: bytes) -> Policy | tuple[PolicyProblem, ...]:
    """As `parse_policy`, for a file's bytes; of a larger file the first 64 KiB and a byte are enough."""
    if len(data) > MAX_FILE_BYTES:
        return (_TOO_LARGE,)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        return (PolicyProblem(key="", reason=make_reason("config.not_utf8"), line=line),)
    return parse_policy(text)


def parse_policy(text: str) -> Policy | tuple[PolicyProblem, ...]:
    """The policy a YAML text describes, or the problems it has in the order of their lines (the first 20 of them); an
    empty text is the default policy."""
    if len(text) > MAX_FILE_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        return (_TOO_LARGE,)
    document = parse_document(text)
    if isinstance(document, PolicyProblem):
        return (document,)
    problems: list[PolicyProblem] = list(document.problems)
    try:
        policy = Policy.model_validate(document.values)
    except ValidationError as error:
        problems += _problems(document, error.errors(include_url=False, include_input=False))
    else:
        if not problems:
            return policy
    problems.sort(key=lambda problem: (problem.line, problem.column))
    if (more := len(problems) - MAX_PROBLEMS) > 0:
        last = PolicyProblem(key="", reason=make_reason("config.more", count=more), line=problems[MAX_PROBLEMS].line)
        return (*problems[:MAX_PROBLEMS], last)
    return tuple(problems)


def _problems(document: Document, errors: Iterable[ErrorDetails]) -> list[PolicyProblem]:
    """One problem for each value: of a key that takes text or a list, pydantic reports once why it is no text and once
    why it is no list. A problem within a list or a mapping is reported, and not that the whole is wrong for it."""
    by_path: dict[Path, ErrorDetails] = {}
    for error in errors:
        path = _path(document, error["loc"])
        if path not in by_path or by_path[path]["type"].endswith("_type"):
            by_path[path] = error
    above = {path[:length] for path in by_path for length in range(len(path))}
    deepest = [(path, error) for path, error in by_path.items() if path not in above]
    deepest.sort(key=lambda item: _place(document, *item))
    # finding a reason takes a look at every key: a problem that is only counted gets none
    explained = [_problem(document, path, error) for path, error in deepest[: MAX_PROBLEMS + 1]]
    counted = [document.lines.problem(quoted(""), _place(document, *item)) for item in deepest[MAX_PROBLEMS + 1 :]]
    return explained + counted


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
    """The line and the column of the error."""
    place = document.places.get(path)
    if place is None:  # a default that does not go with what is there
        return 1, 1
    return document.lines.of_node(place.key if _is_about_the_key(error) and place.key is not None else place.value)


def _problem(document: Document, path: Path, error: ErrorDetails) -> PolicyProblem:
    reason = _unknown_key(path) if error["type"] == "extra_forbidden" else _wrong_value(document, path, error)
    return document.lines.problem(reason, _place(document, path, error), path)


def _wrong_value(document: Document, path: Path, error: ErrorDetails) -> Reason:
    match error["type"]:
        case "value_error":
            invalid = error["ctx"]["error"]
            assert isinstance(invalid, InvalidValue)
            return invalid.reason
        case "string_too_short" | "too_short":
            return make_reason("config.empty")
        case "string_too_long":
            return make_reason("config.too_long", limit=error["ctx"]["max_length"])
    schema, node = _schema_at(path), document.places[path].value
    both = {"expected": describe_schema(schema), "actual": describe_node(node)}
    words = tuple(word for kind in alternatives(schema) for word in kind.get("enum", ()))
    if is_text(node) and (nearest := _nearest(node.value[:MAX_SHOWN], words)) is not None:
        return make_reason("config.must_be.did_you_mean", **both, nearest=nearest)
    remedy = _remedy(schema, node, path)
    return make_reason(f"config.must_be.{remedy}" if remedy else "config.must_be", **both)


def _remedy(schema: Schema, node: Node, path: Path) -> str | None:
    """The name of the remedy for a common mistake; None where none is known."""
    kinds = {kind.get("type") for kind in alternatives(schema)}
    if is_null(node):
        return "remove_item" if isinstance(path[-1], int) else "remove_key"
    if is_plain(node) and "string" in kinds:
        return "add_quotes"
    if (is_quoted_number(node) and kinds & {"integer", "number"}) or (is_quoted_truth(node) and "boolean" in kinds):
        return "drop_quotes"
    if is_text(node) and kinds == {"array"}:
        return "add_brackets"
    return "add_command" if is_text(node) and "command" in keys_of(schema) else None


def _schema_at(path: Path) -> Schema:
    schema = policy_schema()
    for part in path:
        schema = schema_of(schema, part) or {}
    return schema


def _unknown_key(path: Path) -> Reason:
    """The reason for an unknown key, with the key that was probably meant: a similar one, or the same elsewhere."""
    known = keys_of(_schema_at(path[:-1]))
    name = str(path[-1])[:MAX_SHOWN]
    homes = [home for home, schema in sections() if name in keys_of(schema)]
    if homes:
        return make_reason("config.misplaced_key", key=name, place=_under(homes))
    if nearest := _nearest(name, known):
        return make_reason("config.similar_key", key=nearest)
    everywhere = {key: home for home, schema in sections() for key in keys_of(schema)}
    if (nearest := _nearest(name, tuple(everywhere))) is not None:
        homes = [home for home, schema in sections() if nearest in keys_of(schema)]
        return make_reason("config.similar_misplaced_key", key=nearest, place=_under(homes))
    return make_reason("config.unknown_key", known=", ".join(known))


def _under(sections: Iterable[tuple[str, ...]]) -> Reason:
    names = [quoted(f"`{'.'.join(section)}`") for section in sections if section]
    return make_reason("config.under", sections=any_of(names)) if names else make_reason("config.at_top")


def _nearest(name: str, words: tuple[str, ...]) -> str | None:
    """The word that is most like the name, or the only one that begins with it, such as `lang`.

    How its words are joined does not count: `maxAttempts` and `max-attempts` are alike."""
    plain = {key.replace("_", "").replace("-", ""): key for key in words}
    word = name.lower().replace("_", "").replace("-", "")
    nearest = difflib.get_close_matches(word, list(plain), n=1, cutoff=0.7)
    longer = [key for key in plain if key.startswith(word)] if len(word) >= _MIN_LETTERS else []
    matches = nearest or (longer if len(longer) == 1 else [])
    return plain[matches[0]] if matches else None
