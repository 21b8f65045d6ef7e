from pocket.table import render


def test_columns_line_up() -> None:
    assert (
        render([{"name": "ab", "n": "1"}, {"name": "c", "n": "22"}]) == "name  n\nab    1\nc     22"
    )


def test_nothing_to_show() -> None:
    assert render([]) == ""
