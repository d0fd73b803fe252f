"""Says which faults of a model's server are worth the same request again, and how long the server asks to wait.

Sources: the retry rules of the providers' own SDKs (OpenAI, Anthropic, google-genai, botocore; November 2026) and
RFC 9110, section 10.2.3. Nothing here reads the words of an error message: they are for people.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

RETRY_AFTER_S_MAX: Final = 3_600.0

REPEATABLE: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses that say: not now. 520 to 524 are those of a proxy in front of the server that did not reach it."""

REPEATABLE_AND_CONFLICT: Final = REPEATABLE | {409}
"""Where 409 means that a lock was not had in time, which OpenAI's and Anthropic's own clients repeat."""

_TRANSIENT: Final = frozenset(
    """
    overloaded overloadederror engineoverloaded slowdown servererror internalerror internalservererror internal apierror
    unavailable serviceunavailable serviceunavailableerror serviceunavailableexception internalserverexception
    internalfailure modelstreamerrorexception modeltimeoutexception modelnotreadyexception throttlingexception
    throttlingerror ratelimit ratelimiterror ratelimitexceeded resourceexhausted toomanyrequests
    toomanyrequestsexception deadlineexceeded timeout timeouterror requesttimeout aborted
    """.split()
)
_LASTING: Final = frozenset("insufficientquota billinghardlimitreached billingnotactive accessterminated".split())
"""A quota that is used up is told as 429 too, and stays used up."""
_NAMED_BY: Final = frozenset({"type", "code", "status", "__type", "reason"})
_SECONDS: Final = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{0,9})?)\s*", re.ASCII)
_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?)s", re.ASCII)


def may_repeat_status(status: int, *, headers: Mapping[str, str], error: str, repeatable: frozenset[int]) -> bool:
    """Whether an answer with this status, of 300 or more, may be asked for again. `error` is `Turn.error`."""
    if headers.get("x-should-retry") == "false" or not _LASTING.isdisjoint(_names(error)):
        return False
    return status in repeatable


def may_repeat_error(error: str) -> bool:
    """Whether an error inside of an answer of status 200 is the server's trouble and not the request's."""
    names = frozenset(_names(error))
    return _LASTING.isdisjoint(names) and not _TRANSIENT.isdisjoint(names)


def retry_after_s(headers: Mapping[str, str], *, error: str = "", now_s: float) -> float | None:
    """The seconds that the server asks to wait, at most an hour; None where it asks nothing that can be read.

    `headers` has lower-case names. A date is held against the server's own, where it tells it, else against `now_s`.
    """
    asked = (
        _number(headers.get("retry-after-ms"), scale=0.001),
        _number(headers.get("retry-after")),
        _until(headers.get("retry-after"), now_s=_moment(headers.get("date")) or now_s),
        _delay_told(error),
    )
    found = next((seconds for seconds in asked if seconds is not None), None)
    return None if found is None else min(found, RETRY_AFTER_S_MAX)


def _number(said: str | None, *, scale: float = 1.0) -> float | None:
    found = _SECONDS.fullmatch(said or "")
    return float(found[1]) * scale if found else None


def _until(said: str | None, *, now_s: float) -> float | None:
    moment = _moment(said)
    return None if moment is None else max(0.0, moment - now_s)


def _moment(said: str | None) -> float | None:
    """An HTTP date as seconds since 1970; None for anything else."""
    try:
        moment = parsedate_to_datetime(said or "").timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return moment if math.isfinite(moment) else None


def _delay_told(error: str) -> float | None:
    """Google tells the delay in the error itself: `details: [{"@type": ".../google.rpc.RetryInfo", ...}]`."""
    told = (text for name, text in _members(_parsed(error)) if name == "retryDelay")
    found = (_DURATION.fullmatch(text) for text in told)
    return next((float(match[1]) for match in found if match), None)


def _names(error: str) -> Iterator[str]:
    """What the error calls itself, in small letters without signs. Bedrock's exceptions are named by their member."""
    parsed = _parsed(error)
    said = [text for name, text in _members(parsed) if name in _NAMED_BY]
    return map(_plain, [*said, *(parsed if isinstance(parsed, dict) else ())])


def _plain(name: str) -> str:
    number = name if name.isdecimal() else ""
    if number:
        return "servererror" if int(number[:4]) in REPEATABLE else number
    return "".join(letter for letter in name.rpartition("#")[2].lower() if letter.isalnum())


def _members(value: object, *, depth: int = 4) -> Iterable[tuple[str, str]]:
    """The members that hold text or a whole number, at any place that is not nested too deep."""
    if depth and isinstance(value, list):
        for held in value:
            yield from _members(held, depth=depth - 1)
    if depth and isinstance(value, dict):
        for name, held in value.items():
            if isinstance(held, str | int):
                yield name, str(held)
            yield from _members(held, depth=depth - 1)


def _parsed(error: str) -> object:
    try:
        return json.loads(error) if error else None
    except (ValueError, RecursionError):
        return None
