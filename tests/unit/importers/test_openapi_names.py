"""Names are legal, bounded and unique, and do not move when something else is added."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.errors import SpecInvalid
from interlock.importers.openapi_names import NAME_CHARS_MAX, argument_names, refuse_own, tool_names

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("key", "given_name", "wanted"),
    [
        ("GET /pets/{petId}", "getPet", "getPet"),
        ("GET /pets/{petId}", "", "get_pets_by_petId"),
        ("POST /v1/pets", "", "post_pets"),
        ("GET /", "", "get"),
        ("GET /a.b/c:d", "pets/get one!", "pets_get_one"),
    ],
)
def test_a_name_is_the_documents_own_or_that_of_its_place(key: str, given_name: str, wanted: str) -> None:
    assert tool_names([(key, given_name)]) == {key: wanted}


@pytest.mark.requirement("REG-9")
@pytest.mark.parametrize("name", ["find_tools", "hand_off", "read_result", "FIND_TOOLS"])
def test_nothing_imported_is_called_as_the_gates_own_tools_are(name: str) -> None:
    found = tool_names([("POST /a", name), ("POST /b", "b")])
    assert found["POST /a"].startswith(f"{name}_")
    assert found["POST /b"] == "b"
    with pytest.raises(SpecInvalid, match="the gate itself"):
        refuse_own(name)
    for each in found.values():
        refuse_own(each)


def test_two_of_one_name_get_a_mark_of_their_own_whatever_their_order() -> None:
    both = [("GET /a", "list"), ("GET /b", "List")]
    names = tool_names(both)
    assert names == tool_names(reversed(both))
    assert len({each.lower() for each in names.values()}) == 2
    assert tool_names([*both, ("GET /c", "other")])["GET /a"] == names["GET /a"]


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=8))
def test_whatever_a_document_says_names_are_legal_and_unique(operations: dict[str, str]) -> None:
    names = tool_names([(f"GET /{key}", each) for key, each in operations.items()])
    assert all(LEGAL.fullmatch(each) and len(each) <= NAME_CHARS_MAX for each in names.values())
    assert len({each.lower() for each in names.values()}) == len(operations)


@given(
    st.lists(
        st.tuples(st.sampled_from(["path", "query", "header", "cookie", "body"]), st.text(min_size=1)), unique=True
    )
)
def test_whatever_parameters_are_called_arguments_are_legal(parameters: list[tuple[str, str]]) -> None:
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", each) for each in argument_names(parameters))


def test_the_first_of_one_name_keeps_it() -> None:
    found = [("path", "id"), ("query", "id"), ("body", "id"), ("query", "filter[name]"), ("query", "名")]
    names = argument_names(found)
    assert names[:4] == ["id", "query_id", "body_id", "filter_name"]
    assert names[4].startswith("query_")
