"""Which faults are asked again and when: the tables of the providers, with garbage ignored."""

import json

import pytest

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Codec
from interlock.providers.faults import (
    REPEATABLE,
    REPEATABLE_AND_CONFLICT,
    may_repeat_error,
    may_repeat_status,
    retry_after_s,
)

NOW_S = 1_764_489_600.0  # Sun, 30 Nov 2025 08:00:00 GMT


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_transient_statuses_may_be_repeated(status: int) -> None:
    assert may_repeat_status(status, headers={}, error="", repeatable=REPEATABLE)


@pytest.mark.parametrize("status", [300, 307, 400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 424, 501, 505])
def test_other_statuses_may_not(status: int) -> None:
    assert not may_repeat_status(status, headers={}, error="", repeatable=REPEATABLE)


def test_a_conflict_is_repeated_where_the_provider_means_a_lock() -> None:
    assert may_repeat_status(409, headers={}, error="", repeatable=REPEATABLE_AND_CONFLICT)


def test_a_server_that_says_not_to_repeat_is_believed() -> None:
    assert not may_repeat_status(503, headers={"x-should-retry": "false"}, error="", repeatable=REPEATABLE)


def test_a_quota_that_is_used_up_is_not_waited_for() -> None:
    error = json.dumps({"type": "insufficient_quota", "code": "insufficient_quota", "message": "pay"})
    assert not may_repeat_status(429, headers={}, error=error, repeatable=REPEATABLE)


def sse(event: object, *, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(event).encode() + b"\n\n"


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
FAILED = {
    "type": "response.failed",
    "response": {"id": "r", "status": "failed", "error": {"code": "server_error", "message": "x"}, "output": []},
}
TRANSIENT: list[tuple[Codec, bytes]] = [
    (anthropic, sse(OVERLOADED, name="error")),
    (anthropic, sse({"type": "error", "error": {"type": "api_error", "message": "Internal"}}, name="error")),
    (openai_chat, sse({"error": {"message": "x", "type": "server_error", "code": None}})),
    (openai_chat, sse({"error": {"message": "Provider returned error", "code": 502}})),
    (openai_responses, sse(FAILED, name="response.failed")),
    (openai_responses, sse({"type": "error", "code": "rate_limit_exceeded", "message": "x"}, name="error")),
    (gemini, sse({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})),
    (bedrock, b'{"throttlingException": {"message": "slow down"}}\n'),
    (bedrock, b'{"modelStreamErrorException": {"message": "x", "originalStatusCode": 500}}\n'),
]
LASTING: list[tuple[Codec, bytes]] = [
    (anthropic, sse({"type": "error", "error": {"type": "invalid_request_error", "message": "overloaded_error"}})),
    (openai_chat, sse({"error": {"message": "server_error", "type": "invalid_request_error", "code": 400}})),
    (gemini, sse({"error": {"code": 400, "message": "x", "status": "INVALID_ARGUMENT"}})),
    (bedrock, b'{"validationException": {"message": "throttlingException"}}\n'),
]


@pytest.mark.parametrize(("codec", "stream"), TRANSIENT)
def test_a_server_s_trouble_in_a_stream_may_be_repeated(codec: Codec, stream: bytes) -> None:
    assert may_repeat_error(codec.read_stream([stream]).error)


@pytest.mark.parametrize(("codec", "stream"), LASTING)
def test_a_request_s_own_fault_in_a_stream_may_not(codec: Codec, stream: bytes) -> None:
    turn = codec.read_stream([stream])
    assert turn.error
    assert not may_repeat_error(turn.error)


@pytest.mark.parametrize("error", ["", "no json", "[]", '"overloaded"', "{" * 5_000, '{"code": 99999999999999999999}'])
def test_an_error_that_says_nothing_is_not_repeated(error: str) -> None:
    assert not may_repeat_error(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({"retry-after": "Sun, 30 Nov 2025 08:00:20 GMT"}, 20.0),
        ({"retry-after": "Sun, 30 Nov 2025 07:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 30 Nov 2025 09:00:05 GMT", "date": "Sun, 30 Nov 2025 09:00:00 GMT"}, 5.0),
        ({"retry-after": "Sun, 30 Nov 2025 08:00:03 GMT", "date": "yesterday"}, 3.0),
        ({"retry-after": "999999"}, 3_600.0),
        ({"retry-after": "Sun, 30 Nov 2195 08:00:20 GMT"}, 3_600.0),
    ],
)
def test_both_forms_of_retry_after_are_read_with_a_cap(headers: dict[str, str], seconds: float) -> None:
    assert retry_after_s(headers, now_s=NOW_S) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "said", ["", "-1", "nan", "inf", "1e3", "soon", "9" * 400, "٣", "Sun, 99 Nov 2025 08:00:20 GMT", "\x00"]
)
def test_garbage_is_ignored(said: str) -> None:
    assert retry_after_s({"retry-after": said, "retry-after-ms": said}, now_s=NOW_S) is None


def test_google_s_delay_is_read_from_its_error() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.5s"}]
    error = json.dumps({"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details})
    assert retry_after_s({}, error=error, now_s=NOW_S) == pytest.approx(36.5)
