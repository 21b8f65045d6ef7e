"""What every model is made of: a frozen value, in snake_case or, on the wire, in camelCase."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A frozen value; a misspelt field is an error, not a silent extra. Its validator is built at first use."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CamelModel(Model):
    """A model whose JSON is camelCase (REQ-RUN-001); snake_case is accepted too."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
