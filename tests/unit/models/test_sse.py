"""Events are cut out of a stream in the same way whatever pieces it arrives in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.sse import EventCutter, ServerEvent


def cut(*chunks: bytes) -> list[ServerEvent]:
    cutter = EventCutter()
    events = [event for chunk in chunks for event in cutter.feed(chunk)]
    return events + list(cutter.end())


def test_lines_may_end_in_any_of_the_three_ways() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        assert cut(end.join([b"event: error", b"data: a", b"data: b", b"", b"data: c", b"", b""])) == [
            ServerEvent("error", "a\nb"),
            ServerEvent("", "c"),
        ]


def test_comments_unknown_fields_and_empty_events_are_passed_over() -> None:
    assert cut(b": keep-alive\n\nid: 7\nretry: 1\n\nevent: ping\n\ndata:x\n\n") == [ServerEvent("", "x")]


def test_only_one_blank_after_the_colon_is_taken_away() -> None:
    assert cut(b"data:  x\n\ndata\n\n") == [ServerEvent("", " x"), ServerEvent("", "")]


def test_an_event_that_the_stream_ends_inside_of_is_handed_out() -> None:
    assert cut(b"data: a\n\ndata: [DONE]") == [ServerEvent("", "a"), ServerEvent("", "[DONE]")]


def test_a_byte_order_mark_is_passed_over_even_in_pieces() -> None:
    assert cut(b"\xef", b"\xbb", b"\xbf\nda", b"ta: a\n\n") == [ServerEvent("", "a")]


def test_bytes_that_are_no_text_are_refused_instead_of_replaced() -> None:
    with pytest.raises(UnicodeDecodeError):
        cut(b"data: \xff\n\n")


@given(
    st.lists(
        st.sampled_from([b"data: a", b"data:\xc3\xa9", b"event: e", b":", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf"])
    ),
    st.integers(min_value=1, max_value=5),
)
def test_the_pieces_do_not_matter(parts: list[bytes], size: int) -> None:
    stream = b"".join(parts)
    whole, error = cut_or_error([stream])
    assert cut_or_error([stream[at : at + size] for at in range(0, len(stream), size)]) == (whole, error)


def cut_or_error(chunks: list[bytes]) -> tuple[list[ServerEvent], bool]:
    try:
        return cut(*chunks), False
    except UnicodeDecodeError:
        return [], True
