"""Reads what a handler says beside its value: of the promised types and within bounds, or not at all.

It is said once the effect may have happened. What cannot be used must not get into a record, a label or a budget, and
must not get in the way of saying that the call was executed.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.budget import AMOUNT_MAX, NOTHING, Amounts
from interlock.core.evidence import Source
from interlock.core.frozen import frozen
from interlock.core.functions import Result
from interlock.core.items import Item, Items, ItemState, marked, open_names, rejoined
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.outcome import Produced

ITEMS_MAX = 1_000
"""How many sources, origins or open items one result may name."""

TEXT_CHARS_MAX = 65_536
LINE_MAX = 2**31
TIME_MAX_US = 2**62


@frozen
class Said:
    """What a result says beside its value."""

    produced: Produced
    open_items: tuple[str, ...]


@frozen
class Misstated:
    """Which part of a result cannot be used, and what it cost as far as that is known."""

    part: str
    spent: Amounts = NOTHING


class _Unusable(Exception):
    """Carries the name of a part out of the depth of a result."""


def read_result(result: Result) -> Said | Misstated:
    """What a result says, checked. Total, whatever its parts are."""
    spent: Amounts | None = None
    try:
        spent = _spent(result)
        items = tuple([_item(each) for each in _items(result.items, part="items")]) if result.items else ()
        left = _texts(result.open_items, part="open_items")
        return Said(
            _produced(result, spent, items=rejoined(marked(left), items, still_open=left)),
            (*left, *[name for name in open_names(items) if name not in left]),
        )
    except _Unusable as unusable:
        return Misstated(str(unusable), spent or NOTHING)
    except Exception:  # noqa: BLE001 - a part of a handler's own making may raise anything when it is looked at
        return Misstated("something beside its value", spent or NOTHING)


def _produced(result: Result, spent: Amounts | None, *, items: Items) -> Produced:
    version, time_us = result.resource_version, result.data_time_us
    return Produced(
        sources=tuple([_source(each) for each in _items(result.sources, part="sources")]) if result.sources else (),
        labels=None if result.labels is None else _labels(result.labels),
        spent=spent,
        resource_version=None if version is None else _text(version, part="resource_version"),
        data_version=_text(result.data_version, part="data_version"),
        data_time_us=None if time_us is None else _whole(time_us, part="data_time_us", most=TIME_MAX_US),
        cost_reported=result.cost_micros is not None,
        items=items,
    )


def _spent(result: Result) -> Amounts | None:
    """What is reported; None where nothing is."""
    tokens, cost = result.tokens, result.cost_micros
    if tokens is None and cost is None:
        return None
    return Amounts(
        tokens=0 if tokens is None else _whole(tokens, part="tokens", most=AMOUNT_MAX),
        cost_micros=0 if cost is None else _whole(cost, part="cost_micros", most=AMOUNT_MAX),
    )


def _source(given: object) -> Source:
    if not isinstance(given, Source):
        raise _Unusable("sources")
    first, last = given.line_first, given.line_last
    return Source(
        _text(given.uri, part="sources"),
        _text(given.title, part="sources"),
        None if first is None else _whole(first, part="sources", most=LINE_MAX),
        None if last is None else _whole(last, part="sources", most=LINE_MAX),
    )


def _item(given: object) -> Item:
    if not isinstance(given, Item) or not isinstance(given.state, ItemState):
        raise _Unusable("items")
    return Item(_text(given.name, part="items"), given.state, _text(given.says, part="items"))


def _labels(given: object) -> Labels:
    """The labels as given, where they are sound: who declared the same ones finds them the same."""
    if not isinstance(given, Labels):
        raise _Unusable("labels")
    parts: tuple[object, ...] = (given.confidentiality, given.trust, given.origins)
    if not all(map(isinstance, parts, (Confidentiality, Trust, frozenset))):
        raise _Unusable("labels")
    _texts(given.origins, part="labels")
    return given


def _texts(given: Iterable[object], *, part: str) -> tuple[str, ...]:
    return tuple([_text(each, part=part) for each in _items(given, part=part)]) if given else ()


def _items(given: object, *, part: str) -> Iterable[object]:
    if not isinstance(given, tuple | list | set | frozenset) or len(given) > ITEMS_MAX:
        raise _Unusable(part)
    return given


def _text(given: object, *, part: str) -> str:
    if not isinstance(given, str) or len(given) > TEXT_CHARS_MAX:
        raise _Unusable(part)
    return given if type(given) is str else str.__str__(given)


def _whole(given: object, *, part: str, most: int) -> int:
    if type(given) is not int or not 0 <= given <= most:
        raise _Unusable(part)
    return given
