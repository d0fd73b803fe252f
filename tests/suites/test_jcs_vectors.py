"""The published vectors of RFC 8785: whole documents, and ten thousand doubles."""

import os
import struct
from pathlib import Path

import pytest

from interlock.core.arguments import parse_arguments
from interlock.core.canonical import Json, canonical, decode

SUITES = Path(os.environ.get("INTERLOCK_SUITES") or Path(__file__).resolve().parents[3] / "shared")
VECTORS = SUITES / "vectors" / "jcs"
pytestmark = pytest.mark.skipif(
    not VECTORS.is_dir(), reason=f"INTERLOCK_SUITES names no folder with vectors/jcs ({SUITES})."
)


@pytest.mark.requirement("CALL-7")
@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_a_document_has_the_published_bytes(name: str) -> None:
    data = (VECTORS / "input" / f"{name}.json").read_bytes()
    expected = bytes.fromhex((VECTORS / "outhex" / f"{name}.txt").read_text())
    parsed = parse_arguments(data)
    value: Json = parsed if isinstance(parsed, dict) else decode(data)  # one document is a list
    assert canonical(value) == expected
    assert canonical(decode(expected)) == expected


@pytest.mark.requirement("CALL-7")
def test_every_number_has_the_published_digits() -> None:
    lines = (VECTORS / "es6testfile-first10000.txt").read_text().split()
    pairs = [line.split(",") for line in lines]
    wrong = [(bits, text) for bits, text in pairs if canonical(_double(bits)) != text.encode()]
    assert (wrong, len(pairs)) == ([], 10_000)


def _double(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0])
