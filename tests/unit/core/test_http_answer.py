"""An answer becomes a result, a declared error, a fault that passes or an honest doubt; its size is never hidden."""

import json
from dataclasses import replace

import pytest

from interlock.core.canonical import decode
from interlock.core.effect import Effect
from interlock.core.faults import honest
from interlock.core.http_answer import Answer, found_of, outcome_of, result_of
from interlock.core.http_template import HttpCode, HttpError, Origin, Template
from interlock.core.outcome import Failed, Produced, Succeeded, Unknown, Whole
from interlock.core.refusals import Code
from interlock.core.retry import RETRY_AFTER_MAX_S
from interlock.core.tool import Document, Entrypoint, ToolSpec

CODE = HttpCode(
    Template("POST", Origin("https", "a", 443), "/"),
    (HttpError(404, "NONE", nothing_happened=True), HttpError(409, "BUSY", retryable=True, description="It is busy.")),
    not_happened=(404,),
)
SPEC = ToolSpec(
    name="act",
    description="Act.",
    input_schema=Document.of({"type": "object"}),
    handler=Entrypoint("http", CODE.request.target, CODE.fingerprint),
    effect=Effect.WRITE,
)
NOW_US = 1_792_567_620_000_000  # Wed, 21 Oct 2026 07:27:00 GMT


def outcome(answer: Answer) -> object:
    return outcome_of(answer, spec=SPEC, code=CODE, now_us=NOW_US)


def data(body: bytes, media_type: str = "application/json") -> object:
    found = result_of(Answer(200, body, media_type), limit=1_000)
    return decode(found.data) if isinstance(found, Succeeded) else found


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_overload_passes_and_says_how_long_to_wait(status: int) -> None:
    found = outcome(Answer(status, retry_after="7"))
    assert isinstance(found, Failed)
    assert (found.code, found.retryable, found.retry_after_s) == (Code.TOOL_UNAVAILABLE, True, 7.0)
    assert isinstance(honest(found, effect=Effect.WRITE), Unknown)
    assert honest(found, effect=Effect.READ) == found


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize("status", [301, 400, 401, 403, 405, 408, 422, 500, 501])
def test_any_other_status_is_not_tried_again_and_leaves_an_effect_unknown(status: int) -> None:
    found = outcome(Answer(status, b"secret words of the server"))
    assert isinstance(found, Failed)
    assert (found.retryable, found.nothing_happened) == (False, False)
    assert "secret" not in found.message
    assert isinstance(honest(found, effect=Effect.WRITE), Unknown)


@pytest.mark.requirement("EXEC-2")
def test_a_declared_status_is_an_error_of_the_contract() -> None:
    none, busy = outcome(Answer(404)), outcome(Answer(409, retry_after="garbage"))
    assert isinstance(none, Failed)
    assert isinstance(busy, Failed)
    assert (none.code, none.tool_code, none.nothing_happened, none.retryable) == (Code.TOOL_ERROR, "NONE", True, False)
    assert (busy.tool_code, busy.message, busy.retryable, busy.retry_after_s) == ("BUSY", "It is busy.", True, None)
    assert honest(none, effect=Effect.DESTRUCTIVE) == none


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize(
    ("retry_after", "date", "wait_s"),
    [
        ("Wed, 21 Oct 2026 07:28:00 GMT", "", 60.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:50 GMT", 10.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "x" * 9_999, 60.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Fri, 31 Dec 99999 23:59:59 GMT", 60.0),
        ("-5", "", 0.0),
        ("120, 60", "", None),
        ("9" * 40, "", RETRY_AFTER_MAX_S),
    ],
)
def test_a_wait_is_measured_on_the_servers_clock_and_bounded(retry_after: str, date: str, wait_s: float | None) -> None:
    found = outcome(Answer(503, retry_after=retry_after, date=date))
    assert isinstance(found, Failed)
    assert found.retry_after_s == wait_s


def test_json_is_read_strictly() -> None:
    assert data(b'{"b": 12345678901234567890, "a": [1.5]}') == {"a": [1.5], "b": 12345678901234567890}
    assert data(b'{"a": 1}', "application/problem+json; charset=utf-8") == {"a": 1}
    assert data(b"") is None
    for body in (b'{"a":1,"a":2}', b"[NaN]", b"{", b"\xff", b"[" * 99_999, b"1" * 2_000, b'"\\ud800"'):
        found = data(body)
        assert isinstance(found, Failed), body
        assert found.code is Code.OUTPUT_INVALID
        assert honest(found, effect=Effect.WRITE) == found  # it was executed, which is known


def test_text_is_text_and_bytes_are_named_by_their_digest() -> None:
    assert data("é".encode(), "text/plain") == "é"
    assert data("é".encode("latin-1"), "text/html; charset=ISO-8859-1") == "é"
    assert data("订单".encode("gb18030"), 'text/plain; charset="GB18030"') == "订单"
    binary = data(b"\x89PNG\xff", "image/png")
    assert isinstance(binary, dict)
    assert (binary["media_type"], binary["size_bytes"], len(str(binary["sha256"]))) == ("image/png", 5, 64)
    assert isinstance(data(b"\xff\xfe\xff", "text/plain"), dict)


@pytest.mark.requirement("OBS-4")
@pytest.mark.parametrize("limit", [200, 1_000, 262_144])
def test_what_is_over_the_limit_is_its_beginning_within_the_limit_with_the_whole_size(limit: int) -> None:
    for beginning in (b"x" * limit, "é\\".encode() * limit, b"\xff\0" * limit):
        found = result_of(Answer(200, beginning[:limit], "text/plain", size=20_000_000, is_whole=False), limit=limit)
        assert isinstance(found, Succeeded)
        assert len(found.data) <= limit
        said = json.loads(found.data)
        assert (said["truncated"], said["size_bytes"]) == (True, 20_000_000)
        assert said["head"]


@pytest.mark.requirement("OBS-4")
def test_what_was_kept_is_referred_to_and_bytes_are_given_to_be_kept() -> None:
    whole = Whole("text/plain", 20_000_000, handle="h-1")
    text = result_of(Answer(200, b"begin", "text/plain", is_whole=False, whole=whole), limit=1_000)
    assert text == Succeeded(b'"begin"', Produced(whole=whole))
    binary = result_of(Answer(200, b"\x89PNG", "image/png"), limit=1_000)
    assert isinstance(binary, Succeeded)
    assert binary.produced.whole == Whole("image/png", 4, b"\x89PNG")
    cut = result_of(Answer(200, b"\x89PNG", "image/png", size=99, is_whole=False), limit=1_000)
    assert isinstance(cut, Succeeded)
    assert json.loads(cut.data) == {"truncated": True, "size_bytes": 99, "media_type": "image/png", "head": ""}


@pytest.mark.requirement("IDEM-3")
def test_a_look_up_proves_only_what_it_declares() -> None:
    happened = found_of(Answer(200, b'{"id":1}', "application/json"), spec=SPEC, code=CODE)
    assert happened == Succeeded(b'{"id":1}')
    missing = found_of(Answer(404), spec=SPEC, code=CODE)
    assert isinstance(missing, Failed)
    assert missing.nothing_happened
    assert [found_of(Answer(status), spec=SPEC, code=CODE) for status in (302, 401, 403, 410, 429, 500)] == [None] * 6


@pytest.mark.requirement("IDEM-3")
def test_a_search_proves_by_what_it_found_and_not_by_its_status() -> None:
    def found(body: bytes, *, proves: bool = False, pointer: str = "/items/0", whole: bool = True) -> object:
        code = replace(CODE, found_at=pointer, absence_proves=proves)
        return found_of(Answer(200, body, "application/json", is_whole=whole), spec=SPEC, code=code)

    assert found(b'{"items":[{"id":1},{"id":2}]}') == Succeeded(b'{"id":1}')
    assert found(b'{"a/b":{"~":7}}', pointer="/a~1b/~0") == Succeeded(b"7")
    assert found(b"0", pointer="/items") is None
    nothing = (b'{"items":[]}', b"{}", b"[]", b'"text"', b"null", b'{"items":[null]}', b'{"items":[{}]}', b"")
    assert [found(each) for each in nothing] == [None] * len(nothing)
    for each in nothing:
        proved = found(each, proves=True)
        assert isinstance(proved, Failed)
        assert proved.nothing_happened
    assert [found(each, proves=True) for each in (b"{", b'{"items":[],"items":[1]}')] == [None, None]
    assert found(b'{"items":[', proves=True, whole=False) is None
    assert [found(b'{"total":0}', pointer="/total", proves=each) for each in (True, False)] == [None, None]
