"""The kinds of arguments that several commands take. The library would round 1.5 to 2, take full-width digits, and
read an empty path as the working directory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from bot.config import terminal_language
from bot.reports.locale.catalog import t

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def _number(_: object, tokens: Sequence[Token]) -> int:
    if not _WHOLE.fullmatch(tokens[0].value):
        raise ValueError(t(terminal_language(), "cli.no_number", value=repr(tokens[0].value)))
    return int(tokens[0].value)


def _numbers(kind: object, tokens: Sequence[Token]) -> tuple[int, ...]:
    return tuple(_number(kind, [token]) for token in tokens)


def _path(_: object, tokens: Sequence[Token]) -> Path:
    """An empty path is probably a variable that is not set, and must not mean the working directory."""
    if not tokens[0].value.strip():
        raise ValueError(t(terminal_language(), "cli.empty_path"))
    return Path(tokens[0].value)


Flag = Annotated[bool, Parameter(negative="")]
GivenPath = Annotated[Path, Parameter(converter=_path)]
Number = Annotated[int, Parameter(converter=_number)]
Numbers = Annotated[tuple[int, ...], Parameter(converter=_numbers)]
Text = Annotated[str, Parameter(allow_leading_hyphen=True)]
