"""Every recorded response of a corpus reads as the corpus says it must, whole, in pieces, and cut off.

`INTERLOCK_WIRE_CORPUS=DIR scripts/test wire` judges any folder of that layout: `index.json` with its `cases`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interlock.models.codec import Codec
from interlock.models.turn import Turn
from tests.wire.judging import differences, unjudged
from tests.wire.providers import MODULES, codecs

pytestmark = pytest.mark.wire

CODECS = codecs()
TOLD_MAX = 25
PROVIDERS = sorted(MODULES)
Case = Mapping[str, Any]


@pytest.mark.requirement("LOOP-2")
@pytest.mark.requirement("LOOP-3")
@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_response_reads_as_the_corpus_says(wire_corpus: Path, provider: str) -> None:
    codec = CODECS[provider]
    cases = list(_cases(wire_corpus, provider))
    _judge(cases, lambda case: differences(_read(codec, case, _body(wire_corpus, case)), case["expected"]))


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("size", [1, 7, 0])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_size_of_the_pieces_changes_nothing(wire_corpus: Path, provider: str, size: int) -> None:
    codec = CODECS[provider]

    def judge(case: Case) -> object:
        body = _body(wire_corpus, case)
        turn = codec.read_stream(_pieces(body, size), status=case["http_status"])
        return differences(turn, case["expected"]) or (
            [] if turn == _read(codec, case, body) else ["not the same turn"]
        )

    _judge([case for case in _cases(wire_corpus, provider) if case["streaming"]], judge)


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_stream_that_is_cut_runs_all_of_its_calls_or_none(wire_corpus: Path, provider: str) -> None:
    codec = CODECS[provider]

    def judge(case: Case) -> object:
        body = _body(wire_corpus, case)
        whole = _runnable(codec.read_stream([body]))
        cuts = range(0, len(body), max(1, len(body) // 150))
        return [end for end in cuts if _runnable(codec.read_stream([body[:end]])) not in ([], whole)]

    _judge([case for case in _cases(wire_corpus, provider) if case["streaming"]], judge)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_whole_body_that_is_cut_runs_nothing(wire_corpus: Path, provider: str) -> None:
    codec = CODECS[provider]

    def judge(case: Case) -> object:
        body = _body(wire_corpus, case).rstrip()
        cuts = range(0, len(body), max(1, len(body) // 50))
        return [end for end in cuts if codec.read_response(body[:end]).runnable]

    _judge([case for case in _cases(wire_corpus, provider) if not case["streaming"]], judge)


def test_every_provider_of_the_corpus_has_a_codec(wire_corpus: Path) -> None:
    providers = {case["provider"] for case in _index(wire_corpus)["cases"]}
    assert sorted(providers - set(CODECS)) == []


def test_every_field_that_the_corpus_expects_is_judged(wire_corpus: Path) -> None:
    assert {name for case in _index(wire_corpus)["cases"] for name in unjudged(case["expected"])} == set()


def _judge(cases: Sequence[Case], judge: Callable[[Case], object]) -> None:
    """Fail with the cases that differ and how, as short as a person can read them."""
    if not cases:
        pytest.skip("The corpus holds no such case.")
    wrong = {case["id"]: told for case in cases if (told := judge(case))}
    lines = [f"{case_id}: {str(told)[:400]}" for case_id, told in sorted(wrong.items())]
    left_out = [f"and {len(lines) - TOLD_MAX} more"] if len(lines) > TOLD_MAX else []
    head = f"{len(wrong)} of {len(cases)} differ (what, read, expected):"
    assert not wrong, "\n".join([head, *lines[:TOLD_MAX], *left_out])


def _index(corpus: Path) -> Mapping[str, Any]:
    index: Mapping[str, Any] = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    return index


def _cases(corpus: Path, provider: str) -> Iterator[Case]:
    return (case for case in _index(corpus)["cases"] if case["provider"] == provider)


def _body(corpus: Path, case: Case) -> bytes:
    file = corpus / str(case["file"])
    return file.read_bytes()


def _read(codec: Codec, case: Case, body: bytes) -> Turn:
    if case["streaming"]:
        return codec.read_stream([body], status=case["http_status"])
    return codec.read_response(body, status=case["http_status"])


def _pieces(body: bytes, size: int) -> Iterator[bytes]:
    """Pieces of one size, or of random ones that are the same in every run."""
    dice = Random(f"{len(body)}")
    start = 0
    while start < len(body):
        end = start + (size or dice.randint(1, 200))
        yield body[start:end]
        start = end


def _runnable(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, call.arguments_raw) for call in turn.runnable]
