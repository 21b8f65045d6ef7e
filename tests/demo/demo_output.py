"""What the demo prints."""

from __future__ import annotations

KEPT = "press Ctrl-C to end"

PATIENCE_S = 150.0


def order(output: str, *texts: str) -> None:
    """Each of the texts is said, and in this order."""
    at = 0
    for text in texts:
        found = output.find(text, at)
        assert found >= 0, f"{text!r} is not said, or not in its place:\n{output}"
        at = found + len(text)
