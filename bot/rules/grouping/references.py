"""Finds the references in the text of an issue: files, places in them, other issues, error messages, its component.
All patterns run in linear time, since an issue may hold any 65,536 characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bot.model import Issue

_NAMED_FILES = frozenset({"makefile", "dockerfile", "justfile", "jenkinsfile", "rakefile", "gemfile", "procfile"})
_ENDINGS = """astro bash bat bazel c cc cfg cjs clj cmake coffee conf cpp cs css csv cts cxx dart diff ejs elm env erl
ex exs fish fs go gql gradle graphql groovy h hbs hcl hpp hs htm html hxx ini ipynb java jinja jl js json jsonc jsx kt
kts less lock lua m md mdx mjs ml mm mts nim nix patch php pl proto ps1 py pyi pyx r rb rs rst sass scala scss sh sql
svelte svg swift tex tf toml ts tsx txt vb vim vue xml yaml yml zig zsh"""
_PRODUCT_NAMES = """angular.js asp.net chart.js d3.js deno.js discord.js ember.js express.js moment.js next.js node.js
nuxt.js p5.js react.js socket.io solid.js three.js vue.js"""
_EXTENSIONS = frozenset(_ENDINGS.split())
_PRODUCTS = frozenset(_PRODUCT_NAMES.split())
# a token starts where no other does, and its first part can't be given back: one pass, whatever is written
_TOKEN = re.compile(
    r"(?<![\w@+~/\\.-])[\w@+~/\\-]*+\.[\w@+~/\\.-]++(?:[:(](\d{1,7})|\", line (\d{1,7}))?"
    r"|(?<![\w/\\.-])(?:[\w-]++/)*(?![\w-]++/)\w*file\b",
    re.I,
)
_POSITION = re.compile(r"[:(\"].*", re.S)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>()\[\]\"'`]+", re.I)
_BLOB = re.compile(r"/blob/[^/\s]+/([^?#\s]+)(?:#L(\d{1,7}))?")
_ISSUE_URL = re.compile(r"/(?:issues|pull)/(\d{1,9})\b")
_REFERENCE = re.compile(r"(?<![\w&/#])(?:#|GH-)(\d{1,9})\b(?![\w-])", re.I)
# GitHub docs, "Linking a pull request to an issue using a keyword"
_CLOSING = re.compile(
    r"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]{1,4}"
    r"(?:([\w.-]{1,100}/[\w.-]{1,100})?#|GH-)(\d{1,9})\b",
    re.I,
)
_COMPONENT_LABEL = re.compile(r"\s*(?:component|area)\s*:\s*(.+?)\s*", re.I | re.S)
_COMPONENT_LINE = re.compile(
    r"^[ \t>*_-]{0,8}(?:component|area)[*_]{0,2}[ \t]{0,4}:[*_]{0,2}[ \t]*(\S[^\n]{0,200})", re.I | re.M
)
_COMPONENT_SECTION = re.compile(
    r"^#{1,6}[ \t]+(?:component|area)s?[ \t]*:?[ \t]*\r?\n\s{0,20}([^\s#][^\n]{0,200})", re.I | re.M
)
_NO_ANSWER = frozenset({"", "no response", "n/a", "na", "none", "unknown", "-", "?"})
_ERROR_LINE = re.compile(
    r"^.{0,200}?(?:\b\w*(?:Error|Exception)\b: ?|\berror(?:\[?[A-Z]+\d+\]?| [A-Z]+\d+): ?|\bpanic: )\S.*$", re.M
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """The references of an issue. `files` are in the order named, each once; `places` are those with a line, as
    `path:line`; `references` are numbers of issues of the same repository; `errors` are at most 20 raw lines of
    error messages."""

    files: tuple[str, ...]
    places: tuple[str, ...]
    references: frozenset[int]
    errors: tuple[str, ...]


def parse_references(issue: Issue) -> Mentions:
    """All references of `issue`, those of its title first."""
    text = f"{issue.title}\n{issue.body}"
    found = _paths(text)
    references = {int(number) for number in _REFERENCE.findall(text)} if "#" in text or "-" in text else set()
    references |= {int(number) for number in _ISSUE_URL.findall(text)} if "://" in text else set()
    errors = _ERROR_LINE.findall(text)[:20] if _may_hold_error(text) else []
    return Mentions(
        files=tuple(dict.fromkeys(path for path, _ in found)),
        places=tuple(dict.fromkeys(f"{path}:{line}" for path, line in found if line)),
        references=frozenset(references - {issue.number}),
        errors=tuple(errors),
    )


def first_file(issue: Issue) -> str | None:
    """The first file that `issue` names, with `/` between its parts and nothing before the first."""
    found = _paths(f"{issue.title}\n{issue.body}")
    return found[0][0] if found else None


def closes(body: str, repository: str) -> tuple[int, ...]:
    """The issues of `repository` (OWNER/NAME) that a pull request with this body closes when it is merged."""
    found = (match for match in _CLOSING.finditer(body) if (match[1] or repository).casefold() == repository.casefold())
    return tuple(dict.fromkeys(int(match[2]) for match in found))


@dataclass(frozen=True, slots=True)
class Place:
    """The place in an issue that names its component: a label, a line or a section of its body, a directory; or
    none."""

    kind: Literal["label", "line", "section", "directory", "no_label", "nothing"]
    what: str = ""


def stated_component(issue: Issue) -> tuple[str, Place] | None:
    """The component that a label, or else a line or section of the body, names, in lower case with its place."""
    for label in issue.labels:
        matched = _COMPONENT_LABEL.fullmatch(label)
        if matched:
            return matched.group(1).casefold(), Place("label", label)
    for pattern, place in ((_COMPONENT_LINE, Place("line")), (_COMPONENT_SECTION, Place("section"))):
        stated = pattern.search(issue.body)
        name = stated.group(1).strip(" \t\r`*_\"'.").casefold() if stated else ""
        if name not in _NO_ANSWER:
            return name, place
    return None


def directory_component(issue: Issue) -> tuple[str, Place] | None:
    """The directory of the first file named, in lower case. A file without a directory has no component."""
    path = first_file(issue)
    if path is None or "/" not in path:
        return None
    return path.rpartition("/")[0].casefold(), Place("directory", path)


def _may_hold_error(text: str) -> bool:
    return "rror" in text or "xception: " in text or "panic: " in text


def _paths(text: str) -> list[tuple[str, str]]:
    """(path, line or "") of each file named, in order; of links only those to a file of a repository."""
    if "://" in text:
        text = _URL.sub(_file_of_link, text)
    if "." not in text and "file" not in text.casefold():
        return []
    return [
        (path, matched.group(1) or matched.group(2) or "")
        for matched in _TOKEN.finditer(text)
        if (path := _as_file(matched.group(0)))
    ]


def _file_of_link(matched: re.Match[str]) -> str:
    blob = _BLOB.search(matched.group(0))
    if blob is None:
        return " "
    return f" {blob.group(1)}:{blob.group(2)} " if blob.group(2) else f" {blob.group(1)} "


def _as_file(token: str) -> str | None:
    """The token as a path; None for the end of a sentence, a version, a product or a method."""
    path = _POSITION.sub("", token).replace("\\", "/").rstrip("./-").lstrip("~+@")
    while path.startswith(("./", "../", "/")):
        path = path.lstrip("/") if path[0] == "/" else path.partition("/")[2]
    directory, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return path if name.casefold() in _NAMED_FILES else None
    known = extension.casefold() in _EXTENSIONS
    if directory:
        plausible = extension.isalnum() and extension[0].isalpha() and extension.islower() and len(extension) < 7
        return path if known or (plausible and extension != "git") else None
    return path if known and stem and name.casefold() not in _PRODUCTS else None
