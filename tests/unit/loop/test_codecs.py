"""Every dialect has a codec that reads its answers again from the journal, whole and streamed."""

import pytest

from interlock.core.errors import StoreError
from interlock.loop.codecs import CODECS, codec_of, read_again
from interlock.loop.entries import Responded
from interlock.models import openai_chat
from interlock.models.dialects import Dialect
from interlock.testing.models import reply_of

pytestmark = pytest.mark.requirement("LOOP-7")


def test_there_is_one_for_each_dialect() -> None:
    assert CODECS.keys() == set(Dialect)


def test_a_dialect_of_tomorrow_is_a_fault_of_the_journal() -> None:
    with pytest.raises(StoreError, match="there is no dialect 'telepathy'"):
        codec_of("telepathy")


def test_an_answer_reads_again_as_it_was_read() -> None:
    turn = reply_of(("search", {"query": "x"})).turn
    assert read_again(Responded("m", Dialect.OPENAI_CHAT.value, "a", turn.raw)) == turn


def test_a_stream_reads_again_as_it_was_read() -> None:
    raw = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    again = read_again(Responded("m", Dialect.OPENAI_CHAT.value, "a", raw, streamed=True))
    assert (again.text, again) == ("hi", openai_chat.read_stream([raw]))


@pytest.mark.parametrize("status", [400, 503])
def test_the_status_it_came_with_counts(status: int) -> None:
    raw = reply_of(("search", {"query": "x"})).turn.raw
    assert read_again(Responded("m", Dialect.OPENAI_CHAT.value, "a", raw, status=status)).runnable == ()
