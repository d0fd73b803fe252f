"""A response that came in another form, under other names or from an odder server says the same."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.wire.judging import differences
from tests.wire.providers import codecs
from tests.wire.variations import VARIATIONS, Case

pytestmark = pytest.mark.wire

CODECS = codecs()


@pytest.mark.requirement("LOOP-2")
@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("name", VARIATIONS)
def test_a_response_in_another_form_says_the_same(wire_corpus: Path, name: str) -> None:
    varied = list(_varied(wire_corpus, name))
    wrong = {case["id"]: told for case, body in varied if (told := _told(case, body))}
    if not varied:
        pytest.skip("The corpus holds no response that this can be done to.")
    assert not wrong, "\n".join(f"{case_id}: {str(told)[:400]}" for case_id, told in wrong.items())


def _told(case: Case, body: bytes) -> Sequence[object]:
    codec, status = CODECS[case["provider"]], case["http_status"]
    if not case["streaming"]:
        return differences(codec.read_response(body, status=status), case["expected"])
    whole = codec.read_stream([body], status=status)
    pieces = codec.read_stream([body[at : at + 7] for at in range(0, len(body), 7)], status=status)
    return differences(whole, case["expected"]) or ([] if pieces == whole else ["another turn in pieces"])


def _varied(corpus: Path, name: str) -> Iterator[tuple[Case, bytes]]:
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    for case in index["cases"]:
        found = VARIATIONS[name](case, (corpus / case["file"]).read_bytes())
        if found is not None:
            yield found
