from pocket.rates import rates


def test_the_euro_is_one() -> None:
    assert rates()["EUR"] == 1.0
