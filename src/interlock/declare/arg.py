"""What an annotation may say of one parameter beyond its type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.core.canonical import Json
from interlock.core.tool import ParameterSource

_KEYWORDS = {
    "description": "description",
    "pattern": "pattern",
    "format": "format",
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arg:
    """Constraints and meaning of a parameter: `Annotated[str, Arg(max_length=80, description="Its title.")]`.

    `min_length` and `max_length` bound characters, items or properties, whichever the type has. `inject` names the
    trusted value that fills the parameter (`tenant`, `principal`, `on_behalf_of`, `run`, `task`, `claims.NAME`): a
    model neither sees nor supplies it. `source` says who else may supply it.
    """

    description: str | None = None
    pattern: str | None = None
    format: str | None = None
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    unit: str = ""
    currency: str = ""
    sensitive: bool = False
    source: ParameterSource = ParameterSource.MODEL
    inject: str = ""

    def keywords(self, type_name: str) -> Iterator[tuple[str, Json]]:
        """The JSON Schema keywords that this adds to a schema of that type."""
        for name, keyword in _KEYWORDS.items():
            value = getattr(self, name)
            if value is not None:
                yield keyword, value
        suffix = _LENGTHS.get(type_name, "Length")
        if self.min_length is not None:
            yield f"min{suffix}", self.min_length
        if self.max_length is not None:
            yield f"max{suffix}", self.max_length
        if self.sensitive:
            yield "sensitive", True
