"""Reads a repository's issue templates, Markdown and forms, for the text that they put into every issue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.repo_config.document import Document, parse_document

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_CHECKED = re.compile(r"\[[ xX]?\]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MAX_PROMPT_CHARS = 80


@dataclass(frozen=True, slots=True)
class Templates:
    """The text that templates put into issues, in the form of `line_key`. `prompts` are beginnings of lines up to a
    colon, which people write after; `titles` are beginnings of titles, in lower case."""

    lines: frozenset[str] = frozenset()
    prompts: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()


NO_TEMPLATES = Templates()


def read_templates(files: Mapping[str, str]) -> Templates:
    """The text of all templates in `files` (paths to texts). A form that is no YAML adds nothing."""
    lines: set[str] = set()
    prompts: set[str] = set()
    titles: set[str] = set()
    for path, text in files.items():
        text = text.replace("\r\n", "\n")
        is_form = path.casefold().endswith((".yml", ".yaml"))
        title, body = _form(text) if is_form else _markdown(text)
        titles.update((title,) if title else ())
        for line in body.split("\n"):
            key = line_key(line)
            lines.add(key)
            prompts.update(_prompt(key))
    return Templates(frozenset(lines - {""}), frozenset(prompts), frozenset(titles))


def line_key(line: str) -> str:
    """The line as it is compared: check boxes empty, spaces single, in lower case."""
    return _CHECKED.sub("[ ]", " ".join(line.split())).casefold()


def _remove_comments(body: str) -> str:
    """The Markdown text without HTML comments; one that has no end goes to the end of the text."""
    return _COMMENT.sub(" ", body) if "<!--" in body else body


def without_templates(body: str, templates: Templates) -> str:
    """The body without HTML comments and without the text of its repository's templates. Answers after a prompt on
    the prompt's line stay."""
    body = _remove_comments(body.replace("\r\n", "\n"))
    if not templates.lines:
        return body
    return "\n".join(_answer(line, templates) for line in body.split("\n"))


def without_unanswered(body: str, templates: Templates) -> str:
    """The body without HTML comments and without the prompts that nobody answered on their line."""
    lines = _remove_comments(body.replace("\r\n", "\n")).split("\n")
    return "\n".join(line for line in lines if ":" not in line or line_key(line) not in templates.lines)


def own_title(title: str, templates: Templates) -> str:
    """The title without the beginning that a template gave it."""
    for begin in sorted(templates.titles, key=lambda begin: (-len(begin), begin)):
        if title.casefold().startswith(begin):
            return title[len(begin) :].strip()
    return title


def _answer(line: str, templates: Templates) -> str:
    """The part of a line that a person wrote."""
    key = line_key(line)
    if key in templates.lines:
        return ""
    prompt, colon, answer = line.partition(":")
    return answer if colon and line_key(prompt + colon) in templates.prompts else line


def _prompt(key: str) -> Iterator[str]:
    """The prompt that a template's line begins with, such as `- os:`. Links and names of errors are none."""
    prompt, colon, rest = key.partition(":")
    if colon and not rest.startswith("//") and len(prompt) <= _MAX_PROMPT_CHARS and not prompt.endswith("error"):
        yield prompt + colon


def _markdown(text: str) -> tuple[str, str]:
    """The beginning of titles, and the body."""
    head = _FRONT_MATTER.match(text)
    if head is None:
        return "", _remove_comments(text)
    return _title(parse_document(head[1])), _remove_comments(text[head.end() :])


def _form(text: str) -> tuple[str, str]:
    """The beginning of titles, and the lines that GitHub makes of a form: labels, options and default values."""
    parsed = parse_document(text)
    body = parsed.values.get("body") if isinstance(parsed, Document) else None
    elements = body if isinstance(body, list | tuple) else ()
    return _title(parsed), "\n".join(line for element in elements for line in _element(element))


def _title(parsed: object) -> str:
    """The beginning of titles, such as `[bug]:`; empty for one that ends within a sentence."""
    title = parsed.values.get("title") if isinstance(parsed, Document) else None
    begin = title.strip().casefold() if isinstance(title, str) else ""
    return begin if not begin[-1:].isalnum() else ""


def _element(element: object) -> Iterator[str]:
    """The lines of one element of a form. Text of the type `markdown` is shown in the form alone."""
    attributes = element.get("attributes") if isinstance(element, Mapping) else None
    if not isinstance(attributes, Mapping) or not isinstance(element, Mapping) or element.get("type") == "markdown":
        return
    if isinstance(label := attributes.get("label"), str):
        yield f"### {label}"
    if isinstance(value := attributes.get("value"), str):
        yield value
    options = attributes.get("options")
    for option in options if isinstance(options, list | tuple) else ():
        if isinstance(option, Mapping) and isinstance(option.get("label"), str):
            yield f"- [ ] {option['label']}"
        elif isinstance(option, str):
            yield option
