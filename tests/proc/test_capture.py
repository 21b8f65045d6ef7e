"""What is kept of an output, whatever its length and however it was cut into chunks (T32)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.proc import OutputLimit
from bot.proc.capture import Capture


@given(
    chunks=st.lists(st.binary(max_size=40), max_size=20),
    head=st.integers(0, 50),
    tail=st.integers(0, 50),
)
def test_what_is_kept_is_the_beginning_and_the_end(chunks: list[bytes], head: int, tail: int) -> None:
    capture = Capture(OutputLimit(head=head, tail=tail))
    for chunk in chunks:
        capture.feed(chunk)
    whole = b"".join(chunks)
    dropped = max(0, len(whole) - head - tail)
    assert (capture.total, capture.dropped) == (len(whole), dropped)
    if dropped:
        marker = f"\n… [{dropped} bytes dropped] …\n".encode()
        assert capture.content() == whole[:head] + marker + whole[len(whole) - tail :]
    else:
        assert capture.content() == whole
