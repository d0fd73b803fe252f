"""An entry of a server's list is read by the members that anybody uses, and harms nothing where it is no tool."""

from typing import Any

import pytest

from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from tests.mcp_snapshots import entry

pytestmark = pytest.mark.requirement("REG-9")


def digest(given: Any) -> str:
    found = read_listed(given)
    assert isinstance(found, Listed)
    return found.digest


def test_the_order_of_keys_is_no_change_and_every_member_that_is_read_is() -> None:
    first = entry(annotations={"readOnlyHint": True, "title": "x"})
    assert digest(dict(reversed(first.items()))) == digest(first)
    schema = {"type": "object"}
    for member, value in (
        ("name", "other"),
        ("title", "T"),
        ("description", "Send a letter.\u200b"),
        ("inputSchema", schema),
        ("outputSchema", schema),
        ("annotations", {"readOnlyHint": True}),
        ("execution", {"taskSupport": "optional"}),
    ):
        assert digest({**first, member: value}) != digest(first), member


def test_what_nobody_reads_may_change_and_null_is_nothing() -> None:
    assert digest(entry(_meta={"at": 7}, icons=[], title=None)) == digest(entry())


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"not": value}
    return value


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (7, "no object"),
        ({}, "its name is no text"),
        (entry(""), "its name is no text"),
        (entry("x" * 129), "its name is no text"),
        (entry(description=7), "its description is not a text"),
        (entry(inputSchema=None), "no inputSchema"),
        (entry(inputSchema=[]), "its inputSchema is not an object"),
        (entry(annotations="all"), "its annotations is not an object"),
        (entry(description="x" * 600_000), "larger"),
        (entry(inputSchema={"enum": [1] * 600_000}), "larger"),
        (entry(inputSchema=nested(400)), "nests too deeply"),
        (entry(description="\ud800"), "no JSON"),
        (entry(inputSchema={"maximum": float("inf")}), "no JSON"),
    ],
)
def test_what_is_no_tool_says_why(given: Any, says: str) -> None:
    found = read_listed(given)
    assert isinstance(found, Unlisted)
    assert says in found.reason
