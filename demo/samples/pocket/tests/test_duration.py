import pytest

from pocket.duration import parse_duration


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("2m", 120), ("1h30m", 5400)])
def test_parses(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "1.5h", "30m1h"])
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
