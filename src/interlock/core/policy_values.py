"""The types that policies see, and the one way in which a JSON value becomes a value of such a type.

Cedar holds `1 == "1"` for false, not for an error, so a value of the wrong type could switch a `forbid` off in silence.
Hence nothing reaches the engine but values of exactly the type that the policies were validated against; all others are
`Unfit`, which denies. The conversion also keeps Cedar's JSON escapes (`__entity`, `__extn`) out of reach of arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from interlock.core.canonical import Json
from interlock.core.frozen import frozen

LONG_MIN = -(2**63)
LONG_MAX = 2**63 - 1
_EXACT_FLOAT = 2**53
_DECIMAL_STEPS = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_1_US = -62_135_596_800_000_000
_YEAR_10000_US = 253_402_300_800_000_000


class Kind(StrEnum):
    """Cedar's types without parts. DECIMAL and DATETIME are extension types."""

    STRING = "String"
    LONG = "Long"
    BOOLEAN = "Boolean"
    DECIMAL = "decimal"
    DATETIME = "datetime"


@frozen
class Plain:
    """A type without parts."""

    kind: Kind


@frozen
class SetOf:
    """A JSON array, whose order and repetitions policies do not see."""

    element: CedarType


@frozen
class Field:
    """One attribute of a record."""

    name: str
    type: CedarType
    required: bool = True


@frozen
class Record:
    """A JSON object, of which only the named fields are seen."""

    fields: tuple[Field, ...] = ()

    def field(self, name: str) -> Field | None:
        """The field of this name."""
        return next((each for each in self.fields if each.name == name), None)


CedarType = Plain | SetOf | Record

STRING = Plain(Kind.STRING)
LONG = Plain(Kind.LONG)
BOOLEAN = Plain(Kind.BOOLEAN)
DECIMAL = Plain(Kind.DECIMAL)
DATETIME = Plain(Kind.DATETIME)
STRINGS = SetOf(STRING)


@frozen
class Unfit:
    """Why a request cannot be put to the engine, as a plain sentence."""

    reason: str


def record(**fields: CedarType) -> Record:
    """A record whose fields are all required."""
    return Record(tuple(Field(name, type_) for name, type_ in fields.items()))


def prune(whole: Record, *, paths: frozenset[tuple[str, ...]]) -> Record:
    """The record cut down to what `paths` read; the empty path reads all of it."""
    if () in paths:
        return whole
    fields = []
    for each in whole.fields:
        below = frozenset(path[1:] for path in paths if path[0] == each.name)
        if below:
            type_ = prune(each.type, paths=below) if isinstance(each.type, Record) else each.type
            fields.append(Field(each.name, type_, each.required))
    return Record(tuple(fields))


def type_schema(type_: CedarType) -> dict[str, Json]:
    """The type in Cedar's JSON schema format."""
    match type_:
        case Plain(Kind.DECIMAL | Kind.DATETIME as kind):
            return {"type": "Extension", "name": kind.value}
        case Plain(kind):
            return {"type": kind.value}
        case SetOf(element):
            return {"type": "Set", "element": type_schema(element)}
        case Record(fields):
            attributes: dict[str, Json] = {
                each.name: {**type_schema(each.type), "required": each.required} for each in fields
            }
            return {"type": "Record", "attributes": attributes}


def convert(value: Json, *, to: CedarType, at: str) -> Json | Unfit:
    """The value as the engine's JSON has it. `at` is the path that a reason names."""
    if isinstance(to, Plain):
        return _plain(value, to.kind, at)
    if isinstance(to, SetOf):
        return _set(value, to.element, at)
    if not isinstance(value, Mapping):
        return Unfit(f"{at} is not an object")
    return convert_fields(value, to=to, at=at)


def convert_fields(values: Mapping[str, Json], *, to: Record, at: str) -> dict[str, Json] | Unfit:
    """The named fields of an object. A null counts as absent."""
    converted: dict[str, Json] = {}
    for each in to.fields:
        value = values.get(each.name)
        if value is None:
            if each.required:
                return Unfit(f"{at}.{each.name} is missing")
            continue
        fit = convert(value, to=each.type, at=f"{at}.{each.name}")
        if isinstance(fit, Unfit):
            return fit
        converted[each.name] = fit
    return converted


def instant(now_us: int) -> Json | Unfit:
    """A moment in microseconds since 1970 UTC as Cedar's `datetime`, which counts milliseconds."""
    if not _YEAR_1_US <= now_us < _YEAR_10000_US:
        return Unfit("context.now is outside the years 1 to 9999")
    moment = _EPOCH + timedelta(milliseconds=now_us // 1000)
    return {"__extn": {"fn": "datetime", "arg": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")}}


def _plain(value: Json, kind: Kind, at: str) -> Json | Unfit:
    if kind is Kind.STRING and type(value) is str:
        return value
    if kind is Kind.BOOLEAN and type(value) is bool:
        return value
    if kind is Kind.LONG and type(value) in (int, float):
        return _long(value, at)
    if kind is Kind.DECIMAL and type(value) in (int, float):
        return _decimal(value, at)
    return Unfit(f"{at} is not a {kind.value}")


def _long(value: Json, at: str) -> Json | Unfit:
    # JSON Schema counts 1.0 as an integer; beyond 2**53 a float no longer says which one it is.
    if type(value) is float and value.is_integer() and abs(value) < _EXACT_FLOAT:
        return int(value)
    if type(value) is int and LONG_MIN <= value <= LONG_MAX:
        return value
    return Unfit(f"{at} is not a whole number of 64 bits")


def _decimal(value: Json, at: str) -> Json | Unfit:
    steps = Decimal(repr(value)) * _DECIMAL_STEPS
    if not steps.is_finite() or not LONG_MIN <= steps <= LONG_MAX or steps != int(steps):
        return Unfit(f"{at} has more than four decimals or is too large for a decimal")
    whole, fraction = divmod(abs(int(steps)), _DECIMAL_STEPS)
    return {"__extn": {"fn": "decimal", "arg": f"{'-' if steps < 0 else ''}{whole}.{fraction:04d}"}}


def _set(value: Json, element: CedarType, at: str) -> Json | Unfit:
    if not isinstance(value, list):
        return Unfit(f"{at} is not an array")
    converted: list[Json] = []
    for each in value:
        fit = convert(each, to=element, at=f"{at}[]")
        if isinstance(fit, Unfit):
            return fit
        converted.append(fit)
    return converted
