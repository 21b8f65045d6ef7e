"""The import path of the contract."""

from bot.rules.stop.output_progress import made_progress

__all__ = ["made_progress"]
