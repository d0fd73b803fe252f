"""Advice on tools: what is allowed but unwise."""

import pytest

from interlock import tool
from interlock.core.effect import Effect
from interlock.core.tool import Document, Entrypoint, ToolSpec
from interlock.doors.cli.advice import advice

WORDS = "Save one draft under its id, whole or not at all."


def spec(
    *, name: str = "save_draft", description: str = WORDS, effect: Effect = Effect.WRITE, **properties: object
) -> ToolSpec:
    schema = Document.of({"type": "object", "properties": properties})  # type: ignore[dict-item]
    return ToolSpec(
        name=name,
        description=description,
        input_schema=schema,
        handler=Entrypoint("python", "m:f", "0"),
        effect=effect,
        owner="o",
    )


def test_a_good_tool_gets_none() -> None:
    assert advice(spec(title={"type": "string", "maxLength": 9, "description": "It."})) == ()


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize("name", ["run", "execute", "get_data", "do-action"])
def test_a_name_that_says_nothing_is_named(name: str) -> None:
    assert advice(spec(name=name))[0].startswith(f"the name {name} says nothing")


@pytest.mark.requirement("TOOL-5")
def test_a_vague_or_overlong_description_is_named() -> None:
    assert advice(spec(description="Saves it."))[0].startswith("its description is vague")
    assert "1100 characters" in advice(spec(description="word " * 220))[0]


def test_a_description_in_chinese_is_measured_by_what_it_says() -> None:
    assert advice(spec(description="按编号保存一份草稿。")) == ()
    assert advice(spec(description="保存"))[0].startswith("its description is vague")


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "integer", "minimum": 0},
        {"anyOf": [{"type": "null"}, {"type": "number"}]},
    ],
)
def test_a_write_without_bounds_is_named_and_a_read_is_not(schema: dict[str, object]) -> None:
    described = {**schema, "description": "It."}
    assert advice(spec(amount=described))[0].startswith("the parameter amount of a write has no bound")
    assert advice(spec(effect=Effect.READ, amount=described)) == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"]},
        {"type": "boolean"},
        {"anyOf": [{"type": "null"}, {"type": "integer", "maximum": 3}]},
    ],
)
def test_what_bounds_itself_is_not_named(schema: dict[str, object]) -> None:
    assert advice(spec(amount={**schema, "description": "It."})) == ()


def test_missing_owners_and_parameter_descriptions_are_named() -> None:
    @tool(effect="read")
    def read_draft(draft_id: str) -> str:
        """Read one draft by its id, whole."""
        return draft_id

    found = advice(read_draft.spec())
    assert [each.split(":")[0] for each in found] == ["it has no owner", "the parameter draft_id has no description"]
