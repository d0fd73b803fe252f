"""A tool is found by what its contract says, in every language of it, and not by what models are never shown."""

from typing import Any

import pytest

from interlock.core.search_text import WORDS_MAX, plain_text, search_text
from interlock.core.tool import Document, Example, Localized, Parameter, ParameterSource, ToolSpec
from tests.retrieval import made

pytestmark = pytest.mark.requirement("REG-10")

SCHEMA = Document.of({
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "where it rains", "enum": ["x"]},
        "days": {"type": "object", "properties": {"horizon": {"type": "string"}}},
        "tenant": {"type": "string", "description": "whose secret"},
    },
})  # fmt: skip


def spec(**more: Any) -> ToolSpec:
    return made(more.pop("name", "get_weather"), more.pop("description", "Tells rain."), **more).spec


def test_each_field_has_its_own_words() -> None:
    found = search_text(
        spec(
            title="Weather report",
            use_when="somebody travels",
            not_for="climate statistics",
            input_schema=SCHEMA,
            examples=(Example("for Oslo", Document.of({"city": "Oslo"})),),
        )
    )
    assert found.name == ("get", "weather")
    assert found.title == ("weather", "report")
    assert found.use_when == ("somebody", "travels")
    assert found.not_for == ("climate", "statistics")
    assert {"city", "rains", "days", "horizon"} <= {*found.parameters}
    assert {"oslo", "city"} <= {*found.examples}


def test_what_is_injected_is_not_found_by() -> None:
    hidden = Parameter("tenant", source=ParameterSource.CONTEXT, inject="tenant")
    found = search_text(spec(input_schema=SCHEMA, parameters=(hidden,)))
    assert not {"tenant", "secret"} & {*found.parameters}


def test_every_language_has_its_share_however_long_another_is() -> None:
    long = " ".join(f"word{at}" for at in range(2_000))
    found = search_text(spec(description=long, localized={"zh": Localized(description="查询天气")}))
    assert "天气" in found.description
    assert len(found.description) <= WORDS_MAX


def test_a_tool_in_a_few_sentences_begins_with_its_name() -> None:
    assert plain_text(spec(use_when="it rains")) == "get_weather. Tells rain. it rains"
    assert plain_text(spec(title="Weather", use_when="it rains")) == "get_weather: Weather. Tells rain. it rains"
