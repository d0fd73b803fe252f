"""What came of executing a call: a closed union, with UNKNOWN as an honest member."""

from __future__ import annotations

from interlock.core.budget import NOTHING, Amounts
from interlock.core.evidence import Source
from interlock.core.frozen import frozen
from interlock.core.items import Items
from interlock.core.labels import Labels
from interlock.core.refusals import Code


@frozen
class Whole:
    """A result that is kept whole beside what is shown of it: bytes that are to be kept, or parts that are already.

    `handle` names parts that were kept while they came; they are redacted.
    """

    media_type: str
    size_bytes: int
    data: bytes | None = None
    handle: str = ""


@frozen
class Produced:
    """What a handler gave back beside its value.

    `spent` is None where usage is not reported, `cost_reported` whether its cost is what was reported; `sources` become
    the evidence; `labels` of None means the tool's own; `items` say how each stands.
    """

    sources: tuple[Source, ...] = ()
    labels: Labels | None = None
    spent: Amounts | None = None
    resource_version: str | None = None
    data_version: str = ""
    data_time_us: int | None = None
    cost_reported: bool = True
    whole: Whole | None = None
    items: Items = ()


NOTHING_MORE = Produced()


@frozen
class Succeeded:
    """It ran. `data` is the result as JSON bytes."""

    data: bytes
    produced: Produced = NOTHING_MORE
    attempts: int = 1


@frozen
class Partial:
    """It ran for some items and not for others; `open_items` names those that are still open."""

    data: bytes
    open_items: tuple[str, ...]
    produced: Produced = NOTHING_MORE
    attempts: int = 1


@frozen
class Failed:
    """It did not work. `nothing_happened` only where the contract or the place of the failure proves it."""

    code: Code
    message: str
    tool_code: str = ""
    retryable: bool = False
    retry_after_s: float | None = None
    nothing_happened: bool = False
    spent: Amounts = NOTHING
    attempts: int = 1


@frozen
class Unknown:
    """It was dispatched, and whether it happened is not known. `items`: those of a call done in part before."""

    reason: str
    spent: Amounts | None = None
    attempts: int = 1
    items: Items = ()


Outcome = Succeeded | Partial | Failed | Unknown
