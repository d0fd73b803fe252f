"""The tables of what each provider takes as a tool's schema: keywords, formats, shapes and limits.

Sources: the providers' API references and SDK types of November 2026. A provider that lists no keywords takes a schema
as it is and enforces none of it; what it says about a schema's root holds nevertheless.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from interlock.models.names import GEMINI_NAMES, LONG_NAMES, PLAIN_NAMES, NameRules


class Dialect(StrEnum):
    """How a tool is declared: to whom, and whether the provider is to hold the model to the schema."""

    OPENAI_RESPONSES = "openai-responses"
    OPENAI_RESPONSES_STRICT = "openai-responses-strict"
    OPENAI_CHAT = "openai-chat"
    OPENAI_CHAT_STRICT = "openai-chat-strict"
    ANTHROPIC = "anthropic"
    ANTHROPIC_STRICT = "anthropic-strict"
    GEMINI = "gemini"
    GEMINI_OPENAPI = "gemini-openapi"
    BEDROCK = "bedrock"


@dataclass(frozen=True, slots=True)
class Rules:
    """One dialect. `typed`: every part needs its type, and alternatives stand alone. `relaxed` is declared instead of
    a strict dialect where a schema does not fit it.

    `closed`: objects take no other members than they name. `all_required`: what is optional is sent as null instead.
    `openapi`: types in capitals, `nullable` instead of null. `inline`: no references.
    `bare_root`: nothing but type, properties and required there. `members` is what the names of arguments must match.
    """

    keywords: frozenset[str]
    formats: frozenset[str] | None = None
    typed: bool = False
    closed: bool = False
    all_required: bool = False
    openapi: bool = False
    inline: bool = False
    recursive: bool = True
    bare_root: bool = False
    relaxed: Dialect | None = None
    names: NameRules = PLAIN_NAMES
    members: re.Pattern[str] = re.compile(r".*", re.DOTALL)
    tools_max: int = 10_000
    strict_tools_max: int | None = None
    optional_max: int | None = None
    unions_max: int | None = None
    properties_max: int = 5_000
    levels_max: int = 64
    enum_values_max: int = 10_000
    characters_max: int = 1_000_000


STRUCTURE: Final = frozenset("type properties required items enum anyOf additionalProperties".split())
ANNOTATIONS: Final = frozenset("title description examples deprecated readOnly writeOnly default".split())
BOUNDS: Final = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split())
SILENT: Final = frozenset(
    "$schema $id id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary $defs definitions "
    "contentEncoding contentMediaType contentSchema examples example deprecated readOnly writeOnly".split()
)
"""What constrains nothing: left out without a word."""

ALL_KEYWORDS: Final = (
    STRUCTURE
    | ANNOTATIONS
    | BOUNDS
    | frozenset(
        "const oneOf allOf not if then else prefixItems contains minContains maxContains minItems maxItems uniqueItems "
        "minLength maxLength pattern format minProperties maxProperties patternProperties propertyNames "
        "dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems dependencies additionalItems".split()
    )
)
_STRING_FORMATS: Final = frozenset("date-time time date duration email hostname uri ipv4 ipv6 uuid".split())

OPENAI: Final = Rules(keywords=ALL_KEYWORDS, tools_max=128)
OPENAI_STRICT: Final = Rules(
    keywords=STRUCTURE | BOUNDS | frozenset("title description const pattern format minItems maxItems".split()),
    formats=_STRING_FORMATS - {"uri"},
    typed=True,
    closed=True,
    all_required=True,
    tools_max=128,
    levels_max=10,
    enum_values_max=1_000,
    characters_max=120_000,
)
_ANTHROPIC_MEMBERS: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
ANTHROPIC: Final = Rules(keywords=ALL_KEYWORDS, names=LONG_NAMES, members=_ANTHROPIC_MEMBERS)
ANTHROPIC_STRICT: Final = Rules(
    keywords=STRUCTURE | frozenset("title description const format default".split()),
    formats=_STRING_FORMATS,
    typed=True,
    closed=True,
    recursive=False,
    relaxed=Dialect.ANTHROPIC,
    names=LONG_NAMES,
    members=_ANTHROPIC_MEMBERS,
    strict_tools_max=20,
    optional_max=24,
    unions_max=16,
)
_GEMINI_MEMBERS: Final = re.compile(r".{1,64}", re.DOTALL)
_GEMINI_SHARED: Final = STRUCTURE | frozenset("title description format minItems maxItems minimum maximum".split())
GEMINI: Final = Rules(
    keywords=_GEMINI_SHARED | {"prefixItems", "oneOf"},
    typed=True,
    names=GEMINI_NAMES,
    members=_GEMINI_MEMBERS,
    tools_max=128,
)
GEMINI_OPENAPI: Final = Rules(
    keywords=(_GEMINI_SHARED - {"additionalProperties"})
    | frozenset("minLength maxLength pattern minProperties maxProperties default".split()),
    formats=frozenset("date-time enum int32 int64 float double".split()),
    typed=True,
    openapi=True,
    inline=True,
    names=GEMINI_NAMES,
    members=_GEMINI_MEMBERS,
    tools_max=128,
)
BEDROCK: Final = Rules(keywords=ALL_KEYWORDS, inline=True, bare_root=True)

RULES: Final = {
    Dialect.OPENAI_RESPONSES: OPENAI,
    Dialect.OPENAI_RESPONSES_STRICT: replace(OPENAI_STRICT, relaxed=Dialect.OPENAI_RESPONSES),
    Dialect.OPENAI_CHAT: OPENAI,
    Dialect.OPENAI_CHAT_STRICT: replace(OPENAI_STRICT, relaxed=Dialect.OPENAI_CHAT),
    Dialect.ANTHROPIC: ANTHROPIC,
    Dialect.ANTHROPIC_STRICT: ANTHROPIC_STRICT,
    Dialect.GEMINI: GEMINI,
    Dialect.GEMINI_OPENAPI: GEMINI_OPENAPI,
    Dialect.BEDROCK: BEDROCK,
}
