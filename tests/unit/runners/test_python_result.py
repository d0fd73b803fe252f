"""What a handler says beside its value is believed where it has the promised type, and told apart where it has not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from interlock.core.budget import AMOUNT_MAX, Amounts
from interlock.core.evidence import Source
from interlock.core.functions import Result
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.runners.python_result import ITEMS_MAX, TEXT_CHARS_MAX, Misstated, Said, read_result

PLAIN = Result("x")


class Shady(str):
    """A text that cannot be looked at."""

    def __str__(self) -> str:
        raise RuntimeError


class Endless(list[str]):
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError


@pytest.mark.requirement("EXEC-5", "OBS-2")
@pytest.mark.parametrize(
    ("part", "given"),
    [
        ("cost_micros", 1.5), ("cost_micros", float("nan")), ("cost_micros", "5"), ("cost_micros", -1),
        ("cost_micros", AMOUNT_MAX + 1), ("cost_micros", True), ("tokens", 2**63), ("tokens", 1.0),
        ("labels", "public"), ("labels", Labels(2)), ("labels", Labels(trust="trusted")),
        ("labels", Labels(origins={"a"})), ("labels", Labels(origins=frozenset({5}))),
        ("labels", Labels(origins=frozenset(map(str, range(ITEMS_MAX + 1))))),
        ("sources", ("http://x",)), ("sources", "http://x"), ("sources", (Source(5, None),)), ("sources", 7),
        ("sources", (Source("x", line_first="1"),)), ("sources", (Source("x"),) * (ITEMS_MAX + 1)),
        ("open_items", (1, 2)), ("open_items", "abc"), ("open_items", {"a": 1}),
        ("resource_version", 5), ("resource_version", "v" * (TEXT_CHARS_MAX + 1)),
        ("data_version", object()), ("data_version", None), ("data_time_us", "now"), ("data_time_us", float("nan")),
        ("data_time_us", 2**63),
    ],
)  # fmt: skip
def test_a_part_that_is_not_what_it_must_be_is_named(part: str, given: Any) -> None:
    assert read_result(replace(PLAIN, **{part: given})) == Misstated(part)


@pytest.mark.requirement("EXEC-5", "BUD-3")
def test_what_it_cost_is_known_whatever_else_is_misstated() -> None:
    assert read_result(Result("x", tokens=4, data_time_us="now")) == Misstated("data_time_us", Amounts(tokens=4))  # type: ignore[arg-type]
    assert read_result(Result("x", tokens=4, open_items=Endless("a"))) == Misstated(  # type: ignore[arg-type]
        "something beside its value", Amounts(tokens=4)
    )


def test_what_is_as_promised_is_kept() -> None:
    labels = Labels(Confidentiality.INTERNAL, Trust.UNTRUSTED, frozenset({"web"}))
    source = Source("http://x", "X", 1, 2)
    said = read_result(
        Result("x", (source,), labels, 5, 7, "v1", "d1", 9, open_items=["b"]),  # type: ignore[arg-type]
    )
    assert isinstance(said, Said)
    assert said.open_items == ("b",)
    assert said.produced.labels is labels
    assert (said.produced.sources, said.produced.spent) == ((source,), Amounts(tokens=7, cost_micros=5))
    assert (said.produced.resource_version, said.produced.data_version, said.produced.data_time_us) == ("v1", "d1", 9)


def test_a_text_of_another_kind_becomes_a_plain_one() -> None:
    said = read_result(Result("x", data_version=Shady("d1")))
    assert isinstance(said, Said)
    assert type(said.produced.data_version) is str
