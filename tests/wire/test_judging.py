"""The judge finds whatever is expected otherwise than it was read: a judge that finds nothing would prove nothing."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock.models.turn import Turn
from tests.wire.judging import JUDGED, JUDGED_OF_CALLS, OUTCOMES, differences
from tests.wire.providers import MODULES, codecs

pytestmark = pytest.mark.wire

CODECS = codecs()
# Words for people, and what says again what another field says.
NOT_ALONE = {"note", "args_raw", "finish_message", "text_head"}


@pytest.mark.parametrize("provider", sorted(MODULES))
def test_each_thing_that_is_expected_otherwise_is_found(wire_corpus: Path, provider: str) -> None:
    missed = []
    for case in _cases(wire_corpus, provider):
        body = (wire_corpus / case["file"]).read_bytes()
        model, status = CODECS[provider], case["http_status"]
        turn = (
            model.read_stream([body], status=status) if case["streaming"] else model.read_response(body, status=status)
        )
        missed += [
            f"{case['id']} {what}" for what, expected in _changed(case["expected"]) if not _found(turn, expected)
        ]
    assert missed == []


def _found(turn: Turn, expected: Mapping[str, Any]) -> bool:
    return bool(differences(turn, expected))


def _changed(expected: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The expectation with one thing in it changed, for each thing."""
    for name in (expected.keys() & JUDGED) - NOT_ALONE - {"calls", "provider_calls"}:
        yield name, {**expected, name: _other(name, expected[name])}
    for group in ("calls", "provider_calls"):
        listed = expected[group]
        yield f"{group}, one more", {**expected, group: [*listed, {"id": "x", "name": "x", "kind": "x"}]}
        for at, call in enumerate(listed):
            yield f"{group}, one less", {**expected, group: listed[:at] + listed[at + 1 :]}
            fields = (call.keys() & JUDGED_OF_CALLS if group == "calls" else call.keys()) - NOT_ALONE
            for name in fields:
                changed = {**call, name: _other(name, call[name])}
                yield f"{group} {name}", {**expected, group: [*listed[:at], changed, *listed[at + 1 :]]}


def _other(name: str, value: Any) -> Any:
    if name == "outcome":
        return next(one for one in OUTCOMES if OUTCOMES[one] is not OUTCOMES[value])
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict):
        return {key: _other("", one) for key, one in value.items()} or {"x": 1}
    return [*value, "x"] if isinstance(value, list) else f"another {value}"


def _cases(corpus: Path, provider: str) -> list[Mapping[str, Any]]:
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    return [case for case in index["cases"] if case["provider"] == provider]
