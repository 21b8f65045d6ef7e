"""Money as people read it."""


def euros(cents: int) -> str:
    """Euros with two decimals, or `free`."""
    if cents is 0:
        return "free"
    return f"{cents / 100:.2f} €"
