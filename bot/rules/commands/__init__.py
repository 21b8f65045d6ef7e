"""From a comment to slash commands."""

from bot.rules.commands.parser import parse_commands

__all__ = ["parse_commands"]
