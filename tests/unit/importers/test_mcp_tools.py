"""Every entry of a list makes a tool or is left out alone with the reason, and a review shows all of it."""

from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.importers.mcp_tools import read_entries, suggested
from tests.mcp_snapshots import entry, of_schema, taken

pytestmark = pytest.mark.requirement("REG-9")

BAD: list[Any] = [
    7,
    entry("no_schema", inputSchema=None),
    entry("remote", inputSchema={"$ref": "file:///etc/passwd"}),
    entry("broken", inputSchema={"type": "objekt"}),
    entry("huge", description="x" * 600_000),
    entry("task", execution={"taskSupport": "required"}),
    entry("sеcret"),
    entry("twice"),
    entry("twice", description="Another."),
    entry("Case"),
    entry("case"),
    entry("hid\u200bden"),
]


def test_what_is_no_tool_is_left_out_alone_with_the_reason() -> None:
    reading = read_entries([entry("good"), *BAD, entry("fine")])
    assert [*reading.tools] == ["good", "fine"]
    assert len(reading.unmade) == len(BAD) - 1  # `twice` is one name
    assert reading.unmade["twice"] == "two tools that are not the same have this name"
    assert reading.unmade["sе⟨U+0435⟩cret"] == "its name holds letters that pass for others"
    assert all(reading.unmade.values())


def test_one_that_is_listed_twice_in_the_same_words_is_one() -> None:
    assert [*read_entries([entry(), entry()]).tools] == ["send"]


def test_one_that_is_listed_once_well_and_once_not_is_none() -> None:
    assert not read_entries([entry(), entry(inputSchema=7)]).tools


def test_a_model_sees_clean_words_and_a_reviewer_sees_what_was_hidden() -> None:
    given = of_schema(to={"type": "string", "description": "Whom.\x1b[2J"})
    hidden = "Send.\u200b\u202e\U000e0041\U000e0042 \x1b[31mred"
    (read,) = read_entries([{**given, "description": hidden, "title": "T\u200b"}]).tools.values()
    assert (read.description, read.title) == ("Send. [31mred", "T")
    assert read.shown["description"] == ("Send.⟨U+200B⟩⟨U+202E⟩⟨hidden text: AB⟩ ⟨U+001B⟩[31mred ⟨5 hidden characters⟩")
    assert "Whom.⟨U+001B⟩[2J" in read.shown["argument to"]


def test_a_long_text_is_bounded_and_its_end_is_still_compared() -> None:
    one, other = (read_entries([entry(description="x" * 9_000 + end)]).tools["send"] for end in "ab")
    assert len(one.description) == 4_096
    assert one.shown["description"] != other.shown["description"]


def test_one_without_words_says_so() -> None:
    assert "says nothing of it" in read_entries([entry(description=None)]).tools["send"].description


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ({}, (Effect.DESTRUCTIVE, True)),
        ({"readOnlyHint": True}, (Effect.READ, True)),
        ({"destructiveHint": False}, (Effect.WRITE, True)),
        ({"destructiveHint": False, "idempotentHint": True, "openWorldHint": False}, (Effect.IDEMPOTENT_WRITE, False)),
        ({"readOnlyHint": "yes"}, (Effect.DESTRUCTIVE, True)),
    ],
)
def test_hints_suggest_and_what_is_not_said_is_the_worst(hints: Any, expected: tuple[Effect, bool]) -> None:
    assert suggested(hints) == expected


def test_a_schema_that_says_nothing_is_one_of_an_object_and_one_of_something_else_is_none() -> None:
    (read,) = read_entries([entry(inputSchema={})]).tools.values()
    assert read.input_schema == {"type": "object"}
    snapshot = taken(entry(inputSchema={"type": "string"}), entry("good"))
    assert [*snapshot.tools] == ["good"]
    assert "must be an object schema" in snapshot.not_tools["send"]
