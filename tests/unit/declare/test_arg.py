"""What is said of a parameter becomes the keywords of its schema's type."""

import pytest

from interlock.core.canonical import Json
from interlock.declare.arg import Arg


@pytest.mark.parametrize(
    ("type_name", "keywords"),
    [
        ("string", {"minLength": 1, "maxLength": 5}),
        ("array", {"minItems": 1, "maxItems": 5}),
        ("object", {"minProperties": 1, "maxProperties": 5}),
    ],
)
def test_lengths_count_what_the_type_has(type_name: str, keywords: dict[str, Json]) -> None:
    assert dict(Arg(min_length=1, max_length=5).keywords(type_name)) == keywords


def test_zero_is_a_bound_and_meaning_is_no_keyword_except_sensitivity() -> None:
    assert dict(Arg(ge=0, unit="kg", inject="tenant").keywords("integer")) == {"minimum": 0}
    assert dict(Arg(sensitive=True).keywords("string")) == {"sensitive": True}
