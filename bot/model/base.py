"""The base classes of all models: a frozen value, with JSON in snake_case or in camelCase."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A frozen value; an unknown field is an error. Its validator is built at first use."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CamelModel(Model):
    """A model whose JSON is camelCase (REQ-RUN-001); snake_case is accepted too."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
