"""Parses a comment into slash commands."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from bot.model.commands import SlashCommand
from bot.reports.commands.replies import mistake_text
from bot.rules.commands import parser

__all__ = ["parse_commands"]


def parse_commands(
    body: str | None, previous: str | None = None, *, aliases: Mapping[str, str] = MappingProxyType({})
) -> tuple[SlashCommand, ...]:
    """As `rules.commands.parser.parse_commands`; commands with a mistake have its message in English as `error`."""
    commands = parser.parse_commands(body, previous, aliases=aliases)
    return tuple(
        replace(command, error=mistake_text(command, "en", command.suggestion)) if command.problem else command
        for command in commands
    )
