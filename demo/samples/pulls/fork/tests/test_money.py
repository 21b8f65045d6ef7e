from pocket.money import euros


def test_two_decimals() -> None:
    assert euros(250) == "2.50 €"
