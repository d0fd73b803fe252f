"""The one place where the validator library is called: offline, on a linear-time regex engine, its faults contained.

Measured with jsonschema-rs 0.61: integers of any size are compared exactly in every keyword; left to itself it opens
http and file references; a panic of its Rust code arrives as a BaseException; collecting its error objects takes
exponential time on recursive schemas, while `is_valid` does not. So only `is_valid` is used here.
"""

from __future__ import annotations

from collections.abc import Mapping

import jsonschema_rs

from interlock.core.canonical import Json
from interlock.core.errors import SchemaInvalid
from interlock.core.schema_references import ROOT_ADDRESS, Node, shown

# With the library's own cache, a pattern of 128 KiB falls off it and takes 50 times longer for the same text.
_MATCHER_BYTES_MAX = 16_777_216


class Library:
    """Compiles a schema, and parts that refer into it; references find the schema, its documents and nothing else."""

    __slots__ = ("_asserts_formats", "_dialect", "_documents", "_patterns")

    def __init__(
        self, schema: Json, documents: Mapping[str, Json], *, asserts_formats: bool, pattern_bytes_max: int
    ) -> None:
        self._dialect: Node = {}
        if isinstance(schema, dict) and "$schema" in schema:
            self._dialect = {"$schema": schema["$schema"]}
        self._asserts_formats = asserts_formats
        self._patterns = jsonschema_rs.RegexOptions(size_limit=pattern_bytes_max, dfa_size_limit=_MATCHER_BYTES_MAX)
        self._documents = {ROOT_ADDRESS: schema, **documents}

    def compile(self, schema: Node | bool) -> jsonschema_rs.Validator:
        """A validator; raises SchemaInvalid whatever the library makes of the schema."""
        try:
            return jsonschema_rs.validator_for(
                schema,
                validate_formats=self._asserts_formats,
                retriever=self._retrieve,
                pattern_options=self._patterns,
            )
        except BaseException as fault:  # noqa: BLE001 - a panic of the library is no Exception
            raise _invalid(fault) from None

    def part(self, part: Node) -> jsonschema_rs.Validator:
        """A validator for a few keywords that refer into the schema, in the schema's own dialect."""
        return self.compile({**self._dialect, **part})

    def _retrieve(self, uri: str) -> Json:
        """In the place of the library's own, which would open addresses and files."""
        return self._documents[uri]


def holds(validator: jsonschema_rs.Validator, value: Json) -> bool:
    """Whether the value fits; a value that the library cannot take, or a fault in it, is a value that does not."""
    try:
        return validator.is_valid(value)
    except BaseException as fault:  # noqa: BLE001 - a panic of the library is no Exception
        _pass_on(fault)
        return False


def _invalid(fault: BaseException) -> SchemaInvalid:
    _pass_on(fault)
    if not isinstance(fault, jsonschema_rs.ValidationError):
        return SchemaInvalid("The schema cannot be compiled.")
    kind = fault.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Referencing):
        return SchemaInvalid("The schema has a reference that leads to nothing known; nothing is fetched.")
    place = "/".join(map(str, fault.instance_path))
    where = f" at {shown(place)}" if place else ""
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Format):
        return SchemaInvalid(
            f"The schema{where} is not a valid {kind.format}; patterns run on a linear-time engine, "
            "without look-around and back-references, and may compile to a bounded size."
        )
    return SchemaInvalid(f"The schema is malformed{where}: it breaks {shown(kind.name)} of its meta-schema.")


def _pass_on(fault: BaseException) -> None:
    """An interrupt that happens to arrive during a call of the library is not the library's fault."""
    if isinstance(fault, KeyboardInterrupt | SystemExit | MemoryError):
        raise fault
