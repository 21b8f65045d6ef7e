from rules import rule


def test_a_line_of_signs() -> None:
    assert rule(3) == "---"
