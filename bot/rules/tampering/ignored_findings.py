"""Finds the comments and attributes by which a finding of a check is ignored in place."""

from __future__ import annotations

import re
from collections import Counter

_IN_COMMENTS = re.compile(
    r"\b(type:\s?ignore|pyright:\s?ignore|noqa|pylint:\s?disable|mypy:\s?(?:ignore-errors|disable|allow)\S*|nosec)\b"
    r"|\b(pragma:\s?no\s?cover|fmt:\s?(?:off|skip)|eslint-disable[\w-]*|oxlint-disable[\w-]*|biome-ignore\S*)\b"
    r"|\b(prettier-ignore|stylelint-disable[\w-]*|(?:istanbul|c8|v8) ignore|tslint:disable\S*|rubocop:\s?disable)\b"
    r"|(@ts-(?:ignore|expect-error|nocheck)|@phpstan-ignore\S*|@psalm-suppress|\bnolint\b|\bNOLINT\w*|\bnoinspection\b)"
)
_IN_CODE = re.compile(
    r"#!?\[(?:allow|expect)\(|#!?\[cfg_attr\([^\]\n]*\ballow\(|@SuppressWarnings\b|@Suppress\b|#pragma warning disable"
)


def ignored(comments: str, code: str) -> Counter[str]:
    """How often each kind of finding is ignored, by the text of the comments and that of the code."""
    pairs = ((_IN_COMMENTS, comments), (_IN_CODE, code))
    found = (match[0] for pattern, text in pairs for match in pattern.finditer(text))
    return Counter(" ".join(one.rstrip("(").split()) for one in found)
