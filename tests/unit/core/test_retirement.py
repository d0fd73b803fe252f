"""How a call of a retired version maps to its replacement, and what is wrong with one that does not map."""

from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from interlock import tool
from interlock.core.retirement import Replacement, Retirement, day, how_to, mapped, notice, read, written, wrong_with
from interlock.core.tool import Document, ErrorContract, ToolSpec
from interlock.declare import Arg

pytestmark = pytest.mark.requirement("REG-7")

DAY_US = 86_400_000_000


@tool(effect="read", owner="eng", name="find", errors=[ErrorContract("NO_INDEX")])
async def find(query: str, limit: int = 5, fuzzy: bool = False) -> list[str]:
    """Find notes."""
    return []


@tool(effect="read", owner="eng", name="search_notes", errors=[ErrorContract("INDEX_GONE")])
async def search_notes(text: str, folder: str, limit: int = 5) -> list[str]:
    """Search notes."""
    return []


OLD, NEW = find.spec(), search_notes.spec()
RIGHT: Mapping[str, Any] = {
    "renames": {"query": "text"},
    "dropped": ("fuzzy",),
    "added": Document.of({"folder": "inbox"}),
    "errors": {"NO_INDEX": "INDEX_GONE"},
}


def test_a_replacement_that_says_of_each_argument_what_becomes_of_it_maps() -> None:
    replacement = Replacement("search_notes", **RIGHT)
    assert wrong_with(OLD, NEW, replacement) == ()
    assert mapped({"query": "x", "fuzzy": True}, replacement) == {"text": "x", "folder": "inbox"}
    assert how_to(replacement) == (
        "Call search_notes instead: query is called text, fuzzy is not taken, folder is 'inbox'."
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"renames": {}}, "nothing says what becomes of query: rename or drop it"),
        ({"renames": {"query": "text", "words": "folder"}}, "find takes no argument words"),
        ({"renames": {"query": "words"}}, "search_notes takes no argument words"),
        ({"dropped": ()}, "nothing says what becomes of fuzzy: rename or drop it"),
        ({"dropped": ("fuzzy", "depth")}, "find takes no argument depth"),
        ({"added": Document.of({})}, "search_notes needs folder, which nothing gives"),
        ({"added": Document.of({"folder": "a", "depth": 1})}, "search_notes takes no argument depth"),
        ({"added": Document.of({"folder": "a", "limit": 1})}, "two arguments become limit"),
        ({"errors": {"NONE": "INDEX_GONE"}}, "find has no error NONE"),
        ({"errors": {"NO_INDEX": "NONE"}}, "search_notes has no error NONE"),
    ],
)
def test_one_that_does_not_map_is_wrong_and_says_why(changed: Mapping[str, Any], says: str) -> None:
    assert says in wrong_with(OLD, NEW, Replacement("search_notes", **{**RIGHT, **changed}))


def test_a_version_with_the_same_arguments_needs_no_words() -> None:
    same = Replacement("find", "2")
    assert wrong_with(OLD, OLD, same) == ()
    assert (how_to(same), same.told) == ("Call find instead.", {"replacement": "find", "version": "2"})


def test_what_is_kept_is_read_again_and_nothing_is_kept_where_nothing_was_said() -> None:
    going = Retirement(1, 2 * DAY_US, "olga", "replaced", Replacement("search_notes", **RIGHT))
    assert read(written(going)) == going
    assert read("") is None


def test_callers_are_told_the_day_and_not_what_takes_its_place() -> None:
    going = Retirement(0, 20_000 * DAY_US, replacement=Replacement("secret_tool"))
    assert day(going.retires_us) == "2024-10-04"
    assert notice(OLD, going) == "find is to be retired on 2024-10-04."


def test_what_the_session_adds_is_no_argument_that_has_to_map() -> None:
    @tool(effect="read", owner="eng", name="find2")
    async def find2(query: str, tenant: Annotated[str, Arg(inject="tenant")]) -> str:
        """Find."""
        return query

    with_tenant: ToolSpec = find2.spec()
    assert wrong_with(with_tenant, with_tenant, Replacement("find2")) == ()
    assert wrong_with(OLD, with_tenant, Replacement("find2", dropped=("limit", "fuzzy"))) == ()
