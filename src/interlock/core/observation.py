"""The structured observation: the one thing that goes back for a proposal, in whatever way it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import IntEnum, StrEnum
from typing import TypeVar

import orjson

from interlock.core.canonical import Json, canonical, decode, fitted
from interlock.core.chain import Head, Receipt
from interlock.core.errors import StoreError
from interlock.core.evidence import Evidence, EvidenceKind, Source
from interlock.core.frozen import fields_of, frozen, set_in_place
from interlock.core.items import Item, Items, ItemState
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.refusals import Code
from interlock.core.tool import fields_to_json

Level = TypeVar("Level", bound=IntEnum)


class Status(StrEnum):
    """How a proposal stands. WAITING, ACCEPTED and UNKNOWN are interim; so is COMPENSATING."""

    OK = "ok"
    PARTIAL = "partial"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WAITING = "waiting"
    FAILED = "failed"
    UNKNOWN = "unknown"
    COMPENSATING = "compensating"
    COMPENSATED = "compensated"
    COMPENSATION_FAILED = "compensation_failed"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing more will be said of the proposal."""
        return self not in (Status.WAITING, Status.ACCEPTED, Status.UNKNOWN, Status.COMPENSATING)


@frozen
class Problem:
    """What went wrong: a code of the closed set, a sentence, and details that are safe to show."""

    code: Code
    message: str
    details: Mapping[str, Json] = field(default_factory=dict)


@frozen
class Observation:
    """What is known of one proposal. `data_json` is the result as JSON bytes, `data` the same decoded afresh.

    `hint` is the next step for a model, `user_text` apart from it what a person may be told. `retry_after_s` is in
    seconds, `executed_at_us` in microseconds since 1970 UTC (of the first execution where it is `replayed`).
    `cached_s`: it was read so many seconds before, and is given again. `handle`: by it the whole result is read back,
    of which `truncated` is the size in bytes.
    """

    call_id: str
    tool: str
    version: str
    status: Status
    data_json: bytes | None = None
    error: Problem | None = None
    retryable: bool = False
    retry_after_s: float | None = None
    operation_id: str | None = None
    resource: str | None = None
    resource_version: str | None = None
    evidence: Evidence | None = None
    labels: Labels | None = None
    truncated: int | None = None
    replayed: bool = False
    executed_at_us: int | None = None
    approval_id: str | None = None
    expires_at_us: int | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    receipt: Receipt | None = None
    hint: str = ""
    user_text: str = ""
    invisible_removed: int = 0
    open_items: tuple[str, ...] = ()
    cached_s: float | None = None
    handle: str | None = None
    items: Items = ()

    @property
    def data(self) -> Json:
        """The result as a fresh Python value; None where there is none."""
        return None if self.data_json is None else decode(self.data_json)

    def to_json(self) -> dict[str, Json]:
        """Every field as JSON, `data` decoded: what the doors send."""
        return {**_told(self), "data": self.data}

    def changed(self, changes: Mapping[str, object]) -> Observation:
        """The same with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


_TOLD = tuple(name for name in Observation.__annotations__ if name != "data_json")


def released(observation: Observation, receipt: Receipt) -> Observation:
    """The observation with the proof that its record is durable.

    It is set in place: nobody has seen the draft, and copying two dozen fields would cost more than the chain's hash.
    """
    set_in_place(observation, "receipt", receipt)
    return observation


def to_bytes(observation: Observation) -> bytes:
    """What the store keeps of an observation, to be replayed; the result is kept as text, so as to stay to the byte."""
    fields, data = fields_of(observation), observation.data_json
    fields["data_json"] = None if data is None else data.decode()
    try:
        fields["evidence"], fields["labels"] = _kept(observation.evidence), _kept(observation.labels)
        return fitted(orjson.dumps(fields, default=_in_bytes))
    except TypeError:  # an integer past 64 bits
        return canonical({**_told(observation), "data_json": None if data is None else data.decode()})


_SHARED: dict[int, tuple[Evidence | Labels, orjson.Fragment]] = {}
"""Evidence and labels of tools as they are kept: what is held here cannot lend its identity to another."""

SHARED_MAX = 1_024
"""How many are remembered, before all are written anew."""


def _kept(part: Evidence | Labels | None) -> object:
    """A part of an observation for the encoder: what most results of a tool share is written once."""
    found = _SHARED.get(id(part))
    if found is None:
        if part is None or not _is_shared(part):
            return part
        if len(_SHARED) >= SHARED_MAX:
            _SHARED.clear()
        found = _SHARED[id(part)] = part, orjson.Fragment(orjson.dumps(part, default=_in_bytes))
    return found[1]


def _is_shared(part: Evidence | Labels) -> bool:
    """Whether it says nothing of one result."""
    if isinstance(part, Labels):
        return not part.origins
    return not part.sources and part.data_time_us is None and not part.data_version


def _in_bytes(value: object) -> object:
    """What the encoder does not know. Members of enums it writes as their values."""
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"an observation cannot hold a {type(value).__name__}")


def from_bytes(data: bytes) -> Observation:
    """The observation that `to_bytes` wrote. Raises `StoreError` where the bytes are not one."""
    try:
        return _read(decode(data))
    except (KeyError, TypeError, ValueError) as broken:
        raise StoreError("a stored observation cannot be read") from broken


def _told(observation: Observation) -> dict[str, Json]:
    return fields_to_json(observation, names=_TOLD)


def _read(value: Json) -> Observation:
    fields = _object(value)
    known: dict[str, object] = {name: fields[name] for name in _TOLD if name in fields}
    known["data_json"] = None if fields["data_json"] is None else _text(fields["data_json"]).encode()
    known["retry_after_s"] = None if fields["retry_after_s"] is None else float(_number(fields["retry_after_s"]))
    known["status"] = Status(_text(fields["status"]))
    known["error"] = None if fields["error"] is None else _problem(_object(fields["error"]))
    known["evidence"] = None if fields["evidence"] is None else _evidence(_object(fields["evidence"]))
    known["labels"] = None if fields["labels"] is None else _labels(_object(fields["labels"]))
    known["receipt"] = None if fields["receipt"] is None else Head(**_object(fields["receipt"]))  # type: ignore[arg-type]
    known["open_items"] = tuple(_list(fields["open_items"]))
    known["items"] = tuple(_item(_object(each)) for each in _list(fields.get("items", [])))
    return Observation(**known)  # type: ignore[arg-type]


def _item(fields: dict[str, Json]) -> Item:
    return Item(_text(fields["name"]), ItemState(_text(fields["state"])), _text(fields["says"]))


def _problem(fields: dict[str, Json]) -> Problem:
    return Problem(Code(_text(fields["code"])), _text(fields["message"]), _object(fields["details"]))


def _evidence(fields: dict[str, Json]) -> Evidence:
    sources = tuple(Source(**_object(each)) for each in _list(fields["sources"]))  # type: ignore[arg-type]
    return Evidence(**{**fields, "kind": EvidenceKind(_text(fields["kind"])), "sources": sources})  # type: ignore[arg-type]


def _labels(fields: dict[str, Json]) -> Labels:
    return Labels(
        _level(Confidentiality, fields["confidentiality"]),
        _level(Trust, fields["trust"]),
        frozenset(_text(each) for each in _list(fields["origins"])),
    )


def _level(kind: type[Level], value: Json) -> Level:
    """By name, as it is shown, or by number."""
    return kind[value.upper()] if isinstance(value, str) else kind(int(_number(value)))


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError("not an array")
    return value


def _number(value: Json) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("not a number")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value
