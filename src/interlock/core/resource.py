"""The resource that a call touches, in canonical form, with what a resolver knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from interlock.core.canonical import Json
from interlock.core.frozen import frozen


@frozen
class Resource:
    """A typed id (`Draft`, `r1`), its version where the resolver gives one, and its attributes for policy."""

    type: str
    id: str
    version: str | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`type/id`, unique within a tenant."""
        return f"{self.type}/{self.id}"
