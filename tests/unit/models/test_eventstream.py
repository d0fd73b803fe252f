"""Events are cut out of frames or lines in the same way whatever pieces they arrive in, and a broken frame is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.eventstream import EventStreamCutter
from interlock.models.sse import ServerEvent
from tests.unit.models.bedrock_responses import frame, frames, header, lines, prelude

EVENTS: list[dict[str, object]] = [{"messageStart": {"role": "assistant"}}, {"metadata": {"usage": {"inputTokens": 1}}}]
# A message of one header that is text, as Amazon's own implementations encode and test it.
PUBLISHED = (
    b"\x00\x00\x00=\x00\x00\x00 \x07\xfd\x83\x96\x0ccontent-type\x07\x00\x10application/json"
    b"{'foo':'bar'}\x8d\x9c\x08\xb1"
)


def cut(*chunks: bytes) -> list[str]:
    cutter = EventStreamCutter()
    events = [event for chunk in chunks for event in cutter.feed(chunk)]
    return [event.data for event in events + list(cutter.end())]


def test_frames_and_lines_say_the_same() -> None:
    told = ['{"messageStart": {"role": "assistant"}}', '{"metadata": {"usage": {"inputTokens": 1}}}']
    assert cut(frames(*EVENTS)) == told
    assert cut(lines(*EVENTS)) == told


def test_a_published_message_is_read() -> None:
    assert cut(PUBLISHED) == ['{"exception": {"message": "", "code": ""}}']
    assert frame(b"{'foo':'bar'}", headers=header("content-type", "application/json")) == PUBLISHED


def test_headers_of_every_type_are_passed_over() -> None:
    values = [b"\x00", b"\x01", b"\x02a", b"\x03ab", b"\x04abcd", b"\x05" + b"a" * 8, b"\x06\x00\x02ab"]
    values += [b"\x08" + b"a" * 8, b"\x09" + b"a" * 16]
    packed = b"".join(b"\x01h" + value for value in values)
    described = packed + header(":message-type", "event") + header(":event-type", "metadata")
    assert cut(frame(b"{}", headers=described)) == ['{"metadata": {}}']


def test_an_error_that_is_told_in_headers_alone_is_an_exception() -> None:
    described = header(":message-type", "error") + header(":error-code", "500") + header(":error-message", "Broke.")
    assert cut(frame(b"", headers=described)) == ['{"exception": {"message": "Broke.", "code": "500"}}']


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("at", "told"), [(0, "prelude"), (5, "prelude"), (9, "prelude"), (20, "does not match"), (-1, "does not match")]
)
def test_a_frame_with_one_wrong_bit_is_no_event_and_is_not_waited_for(at: int, told: str) -> None:
    broken = bytearray(frames(EVENTS[0]))
    broken[at] ^= 1
    with pytest.raises(ValueError, match=told):
        cut(bytes(broken))


@pytest.mark.parametrize(
    "headers",
    [b"\x05ab", b"\x01h", b"\x01h\x07\x00\xffab", b"\x01h\x0a", b"\x01h\x07\x00", b"\x01h\x05abc"],
)
def test_headers_that_do_not_end_inside_of_themselves_are_refused(headers: bytes) -> None:
    with pytest.raises(ValueError, match="header"):
        cut(frame(b"{}", headers=headers))


@pytest.mark.parametrize(("size", "headers"), [(15, 0), (16, 1), (24 * 1024 * 1024 + 1, 0)])
def test_a_frame_of_an_impossible_size_is_not_waited_for(size: int, headers: int) -> None:
    with pytest.raises(ValueError, match="size"):
        cut(prelude(size, headers))


def test_a_stream_that_ends_inside_of_a_frame_says_so() -> None:
    with pytest.raises(ValueError, match="ends inside"):
        cut(frames(*EVENTS)[:-1])
    assert cut() == []


def test_lines_may_be_blank_end_in_either_way_and_miss_their_last_end() -> None:
    assert cut(b'\xef\xbb\xbf{"a": {}}\r\n\r\n \n{"b": {}}') == ['{"a": {}}', '{"b": {}}']


@given(st.integers(min_value=1, max_value=90), st.booleans())
def test_the_pieces_do_not_matter(size: int, binary: bool) -> None:
    stream = frames(*EVENTS) if binary else lines(*EVENTS)
    assert cut(*(stream[at : at + size] for at in range(0, len(stream), size))) == cut(stream)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_frames_raise_nothing_but_value_errors(noise: bytes) -> None:
    cutter = EventStreamCutter()
    try:
        events = [*cutter.feed(noise), *cutter.end()]
    except ValueError:
        return
    assert all(isinstance(event, ServerEvent) for event in events)
