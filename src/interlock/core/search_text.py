"""What a tool is found by: the words of its contract, field by field, each bounded so that none can push itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.search_words import name_words, words
from interlock.core.tool import ParameterSource, ToolSpec

WORDS_MAX: Final = 256
"""How many words of one field count."""

PROPERTIES_MAX: Final = 64
DEPTH_MAX: Final = 3

Words = tuple[str, ...]


@frozen
class SearchText:
    """The words of one tool. `not_for` are those that it says it is not for."""

    name: Words
    title: Words
    use_when: Words
    description: Words
    parameters: Words
    examples: Words
    not_for: Words


def search_text(spec: ToolSpec) -> SearchText:
    """What the spec says, in all languages that it speaks. What models are not shown is not found by either."""
    local = [*spec.localized.values()]
    return SearchText(
        name=name_words(spec.name)[:WORDS_MAX],
        title=_of([spec.title, *(each.title for each in local)]),
        use_when=_of([spec.use_when, *(each.use_when for each in local)]),
        description=_of([spec.description, *(each.description for each in local)]),
        parameters=_of(_parameters(spec)),
        examples=_of(_examples(spec)),
        not_for=_of([spec.not_for, *(each.not_for for each in local)]),
    )


def plain_text(spec: ToolSpec) -> str:
    """The tool in a few sentences, for rankers that read them. It changes only with the spec."""
    said = (f"{spec.name}: {spec.title}" if spec.title else spec.name, spec.description, spec.use_when)
    return ". ".join(each.strip().rstrip(".") for each in said if each.strip())


def _of(texts: Iterable[str]) -> Words:
    """Each language has its share, so that a long one leaves room for the others."""
    said = [found for text in texts if (found := words(text))]
    share = WORDS_MAX // max(len(said), 1)
    return tuple(word for found in said for word in found[:share])


def _parameters(spec: ToolSpec) -> Iterator[str]:
    hidden = {each.name for each in spec.parameters if each.source is ParameterSource.CONTEXT}
    schema = spec.input_schema.value
    yield " ".join(_properties(schema, hidden=frozenset(hidden), depth=0)) if isinstance(schema, dict) else ""


def _properties(schema: Mapping[str, Json], *, hidden: frozenset[str], depth: int) -> Iterator[str]:
    properties = schema.get("properties")
    if depth >= DEPTH_MAX or not isinstance(properties, dict):
        return
    for name, each in [*properties.items()][:PROPERTIES_MAX]:
        if name in hidden:
            continue
        yield name
        if isinstance(each, dict):
            yield from (str(each[word]) for word in ("title", "description") if isinstance(each.get(word), str))
            yield from _properties(each, hidden=frozenset(), depth=depth + 1)


def _examples(spec: ToolSpec) -> Iterator[str]:
    for each in spec.examples:
        yield f"{each.title} {each.arguments.text.decode(errors='replace')}"
