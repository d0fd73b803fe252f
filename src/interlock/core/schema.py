"""JSON Schema 2020-12 for arguments and results: compiled once, never fetching, bounded in size and work.

Schemas come from anyone (servers, imports), values from a model. So no reference leads outside the schema and the
documents given with it, patterns run on a linear-time engine, formats are asserted, and what a value fails is told in
the schema's words, never the value's. `with_defaults` follows the rule stated in `schema_defaults`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import cast

import jsonschema_rs

from interlock.core.canonical import Json, canonical, decode
from interlock.core.errors import SchemaInvalid
from interlock.core.schema_bounds import SchemaLimits, check_size, check_work
from interlock.core.schema_defaults import Defaults
from interlock.core.schema_library import Library, holds
from interlock.core.schema_references import Node, References, shown
from interlock.core.schema_violations import Explainer, Violation

__all__ = ["CompiledSchema", "FormatMode", "SchemaInvalid", "SchemaLimits", "Violation", "compile_schema"]

DEFAULT_LIMITS = SchemaLimits()
_NO_DOCUMENTS: Mapping[str, Json] = MappingProxyType({})
_FORMAT_ASSERTION = "https://json-schema.org/draft/2020-12/vocab/format-assertion"


class FormatMode(StrEnum):
    """ASSERT holds values to `format` and refuses a schema whose defaults do not fit it.

    ANNOTATE is the letter of the specification, where both are remarks, unless the meta-schema asserts formats.
    """

    ASSERT = "assert"
    ANNOTATE = "annotate"


class CompiledSchema:
    """A schema ready to check values. Holds its own copy; later changes of the original do not reach it."""

    __slots__ = ("_defaults", "_explainer", "_validator", "schema")

    def __init__(
        self, schema: Json, *, validator: jsonschema_rs.Validator, explainer: Explainer, defaults: Defaults
    ) -> None:
        self.schema: Mapping[str, Json] | bool = (
            MappingProxyType(schema) if isinstance(schema, dict) else cast(bool, schema)
        )
        self._validator = validator
        self._explainer = explainer
        self._defaults = None if defaults.empty else defaults

    def is_valid(self, value: Json) -> bool:
        """Whether the value fits. Integers are compared exactly, of any size."""
        return holds(self._validator, value)

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """What the value fails, at most 16, in the order of the schema's keywords; empty if it fits."""
        return () if self.is_valid(value) else self._explainer.explain(value)

    def with_defaults(self, value: dict[str, Json]) -> dict[str, Json]:
        """The value with the schema's defaults; the same object where nothing is missing, the input never changed."""
        return value if self._defaults is None else self._defaults.apply(value)


def compile_schema(
    schema: Mapping[str, Json] | bool,
    *,
    formats: FormatMode = FormatMode.ASSERT,
    documents: Mapping[str, Json] = _NO_DOCUMENTS,
    limits: SchemaLimits = DEFAULT_LIMITS,
) -> CompiledSchema:
    """The schema, checked against its meta-schema and bounded. `documents` are what references may lead to, by URI.

    Raises SchemaInvalid for a schema that is malformed, over a limit, or refers to anything else.
    """
    try:
        return _compiled(_own_copy(schema, limits), formats=formats, documents=documents, limits=limits)
    except RecursionError:  # within the limits, but called from deep inside another program
        raise SchemaInvalid("The schema nests too deeply to compile here.") from None


def _compiled(
    own: dict[str, Json] | bool, *, formats: FormatMode, documents: Mapping[str, Json], limits: SchemaLimits
) -> CompiledSchema:
    references = References(own, documents, levels_max=limits.depth_max)
    for node in references.nodes():
        references.targets(node)  # refuses what leads outside, in unused definitions as well
    check_work(references, limits)
    asserts = formats is FormatMode.ASSERT or _asserts_formats(own, documents)
    library = Library(own, documents, asserts_formats=asserts, pattern_bytes_max=limits.pattern_bytes_max)
    validator = library.compile(own)
    defaults = Defaults(references)
    if formats is FormatMode.ASSERT:
        _check_defaults(defaults, references, library)
    return CompiledSchema(own, validator=validator, explainer=Explainer(references, library), defaults=defaults)


def _own_copy(schema: Mapping[str, Json] | bool, limits: SchemaLimits) -> dict[str, Json] | bool:
    check_size(schema, limits=limits)
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, Mapping):
        raise SchemaInvalid("A schema is a JSON object or a boolean.")
    try:
        data = canonical(dict(schema))
    except ValueError as error:
        raise SchemaInvalid(f"The schema is not JSON: {error}.") from None
    if len(data) > limits.bytes_max:
        raise SchemaInvalid(f"The schema is larger than {limits.bytes_max} bytes.")
    return cast("dict[str, Json]", decode(data))


def _asserts_formats(schema: Json, documents: Mapping[str, Json]) -> bool:
    """A meta-schema that names the format-assertion vocabulary, required or not, asserts formats (Core 8.1.2)."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    meta = documents.get(named) if isinstance(named, str) else None
    vocabulary = meta.get("$vocabulary") if isinstance(meta, dict) else None
    return isinstance(vocabulary, dict) and _FORMAT_ASSERTION in vocabulary


def _check_defaults(defaults: Defaults, references: References, library: Library) -> None:
    """One validator for all of them, since each would compile anew whatever their schemas share."""
    stated = {str(index): each for index, each in enumerate(defaults.complete())}
    schemas: Node = {key: {"$ref": references.address(declared.schema)} for key, (declared, _) in stated.items()}
    validator = library.part({"properties": schemas})
    for key, (declared, value) in stated.items():
        if not holds(validator, {key: value}):
            raise SchemaInvalid(f"The default of {shown(declared.name)} does not fit its own schema.")
