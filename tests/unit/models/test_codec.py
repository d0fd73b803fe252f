"""Every provider's module offers the same functions, so that whoever drives a model need not know which it is."""

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Codec, Image

CODECS: tuple[Codec, ...] = (openai_chat, openai_responses, anthropic, bedrock, gemini)


def test_every_codec_reads_what_is_no_response_as_a_turn_that_runs_nothing() -> None:
    for codec in CODECS:
        assert codec.read_response(b"<html>").runnable == ()
        assert codec.read_stream([b"data: <html>\n\n"]).runnable == ()


def test_a_reader_that_was_fed_nothing_ends_in_a_turn_without_calls() -> None:
    for codec in CODECS:
        reader = codec.reader()
        assert not reader.over
        assert reader.end().calls == ()


def test_a_picture_goes_as_a_url_of_its_own_or_of_its_bytes() -> None:
    assert Image(url="https://example.org/a.png").link == "https://example.org/a.png"
    assert Image(media_type="image/gif", base64="R0k=").link == "data:image/gif;base64,R0k="
