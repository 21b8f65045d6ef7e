"""Whole numbers as people write them. The library would round 1.5 to 2 and take full-width digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter, Token

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def _number(_: object, tokens: Sequence[Token]) -> int:
    if not _WHOLE.fullmatch(tokens[0].value):
        raise ValueError(f"{tokens[0].value!r} is no whole number; give one in plain digits, such as 7")
    return int(tokens[0].value)


def _numbers(kind: object, tokens: Sequence[Token]) -> tuple[int, ...]:
    return tuple(_number(kind, [token]) for token in tokens)


Number = Annotated[int, Parameter(converter=_number)]
Numbers = Annotated[tuple[int, ...], Parameter(converter=_numbers)]
