"""What stands around a turn's parts is read for what it says, and nothing is made up where it says nothing."""

import pytest

from interlock.models.gemini_metadata import error_sentence, feedback_words, read_usage, work_in
from interlock.models.turn import ProviderCall, Usage


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"promptTokenCount": 5, "candidatesTokenCount": 2}, Usage(5, 2)),
        ({"promptTokenCount": "5", "toolUsePromptTokenCount": 7, "thoughtsTokenCount": 3}, Usage(12, 3)),
        ({"promptTokenCount": -1, "candidatesTokenCount": True}, Usage(None, None)),
        ({"trafficType": "ON_DEMAND"}, Usage(None, None)),
        (None, Usage(None, None)),
        ([1], Usage(None, None)),
    ],
)
def test_thoughts_and_provider_run_tools_are_counted_and_what_is_not_said_is_not_zero(
    sent: object, read: Usage
) -> None:
    assert read_usage(sent) == read


@pytest.mark.requirement("LOOP-4")
def test_searches_that_only_metadata_tells_of_are_recorded() -> None:
    metadata: dict[str, dict[str, object]] = {
        "groundingMetadata": {"webSearchQueries": ["weather"], "retrievalQueries": []},
        "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://a.example/"}]},
    }
    assert [(call.name, call.arguments_raw) for call in work_in(metadata, beside=[])] == [
        ("google_search", '{"queries": ["weather"]}'),
        ("url_context", '{"urls": ["https://a.example/"]}'),
    ]


def test_a_search_that_a_part_tells_of_is_not_recorded_twice() -> None:
    metadata: dict[str, dict[str, object]] = {"groundingMetadata": {"webSearchQueries": ["weather"]}}
    assert work_in(metadata, beside=[ProviderCall("GOOGLE_SEARCH_WEB", "1", "toolCall")]) == []


def test_a_prompt_is_blocked_only_where_a_reason_says_so() -> None:
    assert feedback_words({"blockReason": "SAFETY"}) == "The prompt was blocked: SAFETY"
    assert feedback_words({"blockReason": "OTHER", "blockReasonMessage": "No."}) == "No."
    silent: list[object] = [None, {}, {"safetyRatings": []}, {"blockReason": "BLOCK_REASON_UNSPECIFIED"}, []]
    for feedback in silent:
        assert feedback_words(feedback) == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "Quota."}}, "Quota."),
        ({"error": "Quota."}, "Quota."),
        ({"message": "Quota."}, "Quota."),
        ({"error": []}, "The provider reported an error without a message."),
        ({"error": {"message": "x" * 900}}, "x" * 500),
    ],
)
def test_an_error_is_told_in_the_providers_words_and_bounded(body: dict[str, object], words: str) -> None:
    assert error_sentence(body) == words
