"""The library behind its wall: nothing is opened, and its faults become ours."""

from pathlib import Path
from typing import Any

import pytest

from interlock.core.schema import SchemaInvalid
from interlock.core.schema_library import Library, holds


class Faulty:
    """A validator that ends as a panic of the library does: with an exception that is no Exception."""

    def __init__(self, fault: BaseException) -> None:
        self._fault = fault

    def is_valid(self, _: Any) -> bool:
        raise self._fault


class Panic(BaseException):
    """Stands for pyo3's PanicException, which cannot be imported."""


@pytest.mark.requirement("CALL-6")
def test_a_file_is_not_opened_even_where_the_library_meets_the_reference_itself(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text("{}")
    library = Library(True, {}, asserts_formats=True, pattern_bytes_max=1000)
    with pytest.raises(SchemaInvalid, match="nothing is fetched"):
        library.compile({"$ref": file.as_uri()})


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize("fault", [Panic(), ValueError(), RecursionError()])
def test_a_fault_of_the_library_is_a_value_that_does_not_fit(fault: BaseException) -> None:
    assert not holds(Faulty(fault), 1)  # type: ignore[arg-type]


def test_an_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        holds(Faulty(KeyboardInterrupt()), 1)  # type: ignore[arg-type]
