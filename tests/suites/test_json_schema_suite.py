"""The official JSON Schema 2020-12 test suite, run against the validator that checks arguments."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interlock.core.schema import FormatMode, compile_schema

SUITES = Path(os.environ.get("INTERLOCK_SUITES") or Path(__file__).resolve().parents[3] / "shared")
SUITE = SUITES / "json-schema-test-suite"
CASES = SUITE / "tests" / "draft2020-12"
pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason=f"INTERLOCK_SUITES names no folder with json-schema-test-suite ({SUITES})."
)


@dataclass(frozen=True)
class Case:
    """One value of the suite, with what the suite says of it."""

    name: str
    schema: Any
    value: Any
    valid: bool


@cache
def remotes() -> Mapping[str, Any]:
    files = (SUITE / "remotes").rglob("*.json")
    return {
        f"http://localhost:1234/{file.relative_to(SUITE / 'remotes').as_posix()}": json.loads(file.read_text("utf-8"))
        for file in files
    }


def cases(folder: Path) -> Iterator[Case]:
    for file in sorted(folder.glob("*.json")):
        for group in json.loads(file.read_text("utf-8")):
            for test in group["tests"]:
                name = f"{file.name}: {group['description']}: {test['description']}"
                yield Case(name, group["schema"], test["data"], test["valid"])


def failures(folder: Path, formats: FormatMode) -> tuple[list[str], int]:
    """What the suite says otherwise, and how many cases there are. A violation is told exactly where a value fails."""
    found, count = [], 0
    for case in cases(folder):
        count += 1
        schema = compile_schema(case.schema, formats=formats, documents=remotes())
        if schema.is_valid(case.value) is not case.valid or bool(schema.violations(case.value)) is case.valid:
            found.append(case.name)
    return found, count


@pytest.mark.requirement("CALL-5", "CALL-6")
def test_every_required_case_holds_with_formats_as_annotations() -> None:
    assert failures(CASES, FormatMode.ANNOTATE) == ([], 1299)


@pytest.mark.requirement("CALL-6")
def test_every_optional_case_holds_with_formats_as_annotations() -> None:
    assert failures(CASES / "optional", FormatMode.ANNOTATE) == ([], 162)


@pytest.mark.requirement("CALL-6")
def test_every_format_is_asserted_as_the_suite_says() -> None:
    assert failures(CASES / "optional" / "format", FormatMode.ASSERT) == ([], 764)
