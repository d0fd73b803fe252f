"""What snapshots of every kind have in common: version numbers, options, names that are kept apart."""

from dataclasses import dataclass

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.importers.snapshots import (
    Form,
    names_apart,
    next_version,
    read_fields,
    refuse_same_names,
    written_options,
)

FORM = Form(format="box-1", of="a box", fields={"owner": str, "lids": int}, needed=("owner",))


@dataclass(frozen=True)
class Chosen:
    """A decision."""

    name: str
    digest: str = "0123456789"
    allow: bool = True


def test_a_plain_number_rises_and_any_other_is_raised_by_hand() -> None:
    assert [next_version(each) for each in ("1", "9", "1.2", "²", "")] == ["2", "10", "1.2", "²", ""]


def test_options_are_written_as_they_are_read() -> None:
    given = {"effect": Effect.READ, "resource": ("Pet", "id"), "locks": ("a",)}
    assert written_options(given) == {"effect": "read", "resource": {"type": "Pet", "id": "id"}, "locks": ["a"]}


def test_a_file_gives_the_fields_of_its_form() -> None:
    assert read_fields(b"{snapshot: box-1, owner: ann}", FORM) == {"owner": "ann"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"{snapshot: bag-1}", r"no snapshot of a box \(snapshot: box-1\)"),
        (b"{snapshot: box-1, lids: 1}", "owner is missing"),
        (b"{snapshot: box-1, owner: ann, lid: 1}", "lids"),
        (b"{snapshot: box-1, owner: ann, lids: many}", "lids"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_place(given: bytes, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        read_fields(given, FORM)


def test_what_comes_anew_gives_way_to_a_name_that_was_there() -> None:
    kept = {"a": Chosen("send"), "b": Chosen("Send"), "c": Chosen("read")}
    assert names_apart(kept, before={"a"}) == {"b": "Send_012345"}


def test_two_that_are_allowed_have_two_names() -> None:
    refuse_same_names([Chosen("send"), Chosen("Send", allow=False)], what="boxes")
    with pytest.raises(SpecInvalid, match="two boxes that are allowed have the name send"):
        refuse_same_names([Chosen("send"), Chosen("Send")], what="boxes")
