"""Exchange rates: those of the last time at once, and fresh ones for the next time."""

import json
from pathlib import Path

_KEPT = Path(".cache/rates.json")


def rates() -> dict[str, float]:
    """The rates as they were read last."""
    known: dict[str, float] = json.loads(_KEPT.read_text()) if _KEPT.exists() else {}
    _KEPT.parent.mkdir(exist_ok=True)
    _KEPT.write_text(json.dumps({"EUR": 1.0, "SEK": 11.2}))
    return known
