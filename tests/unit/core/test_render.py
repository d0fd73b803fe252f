"""What a model is told of a call: our words, and the tool's result as data that cannot pass for them."""

import pytest

from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import Code
from interlock.core.render import for_model

NONCE = "0123456789abcdef"
UNTRUSTED = Labels(Confidentiality.PUBLIC, Trust.UNTRUSTED)


def seen(**rest: object) -> Observation:
    return Observation("c1", "search", "1", **{"status": Status.OK, **rest})  # type: ignore[arg-type]


@pytest.mark.requirement("OBS-6")
def test_a_result_stands_between_markers_that_carry_the_nonce_and_say_how_far_it_is_trusted() -> None:
    text = for_model(seen(data_json=b'"hello"', labels=UNTRUSTED), nonce=NONCE)
    first, *rest = text.splitlines()
    assert first == "search: ok"
    assert sum(NONCE in line for line in rest) == 2
    assert "untrusted" in text


@pytest.mark.requirement("OBS-6")
def test_a_result_that_knows_the_markers_of_another_cannot_close_its_own() -> None:
    forged = for_model(seen(data_json=b'"x"', labels=UNTRUSTED), nonce="f" * 16).encode()
    text = for_model(seen(data_json=b'"' + forged.replace(b"\n", b"\\n").replace(b'"', b"'") + b'"'), nonce=NONCE)
    assert sum(NONCE in line for line in text.splitlines()) == 2
    assert "f" * 16 not in {line.strip("<>/ ") for line in text.splitlines()}


def test_a_refusal_says_why_and_what_to_do_next() -> None:
    problem = Problem(Code.TOOL_NOT_FOUND, "There is no tool named 'serch'.", {"nearest": ["search"]})
    text = for_model(seen(status=Status.REFUSED, error=problem, hint="Use a tool that you were given."), nonce=NONCE)
    assert text.splitlines() == [
        "search: refused",
        "TOOL_NOT_FOUND: There is no tool named 'serch'.",
        "nearest: ['search']",
        "Next: Use a tool that you were given.",
    ]


def test_a_repeat_and_a_shortened_result_say_so() -> None:
    text = for_model(seen(replayed=True, data_json=b"1", truncated=9_000), nonce=NONCE)
    assert "recorded earlier" in text
    assert "9000 bytes" in text


def test_a_long_result_names_its_handle_and_a_refusal_for_now_how_long_to_wait() -> None:
    assert "Handle: h1" in for_model(seen(data_json=b"1", truncated=9_000, handle="h1"), nonce=NONCE).splitlines()
    problem = Problem(Code.RATE_LIMITED, "Too many.")
    text = for_model(seen(status=Status.REFUSED, error=problem, retry_after_s=2.5), nonce=NONCE)
    assert "Wait: 2.5 seconds" in text.splitlines()
