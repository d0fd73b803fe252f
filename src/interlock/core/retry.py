"""When a failed attempt is tried again, and after how long."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import ceil

from interlock.core.effect import Effect
from interlock.core.outcome import Failed, Outcome
from interlock.core.tool import RetryRule

RETRY_AFTER_MAX_S = 86_400.0
"""A longer wait than a day is told as a day."""

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DELTA = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?", re.ASCII)
_DATES = (
    re.compile(r"\w{3}, (?P<day>\d\d) (?P<month>\w{3}) (?P<year>\d{4}) (?P<time>\d\d:\d\d:\d\d) GMT", re.ASCII),
    re.compile(r"\w{6,9}, (?P<day>\d\d)-(?P<month>\w{3})-(?P<year>\d\d) (?P<time>\d\d:\d\d:\d\d) GMT", re.ASCII),
    re.compile(r"\w{3} (?P<month>\w{3}) (?P<day>[ \d]\d) (?P<time>\d\d:\d\d:\d\d) (?P<year>\d{4})", re.ASCII),
)


def may_retry(effect: Effect, outcome: Outcome, *, attempt: int, rule: RetryRule) -> bool:
    """Whether another attempt is allowed after attempt number `attempt` (from 1).

    Only for effects that may be repeated, and only after a fault that is known to pass: arguments, permission and
    business errors are never tried again.
    """
    transient = isinstance(outcome, Failed) and outcome.retryable
    return transient and effect.repeatable and attempt < rule.attempts


def wait_s(rule: RetryRule, failed: Failed, *, attempt: int, jitter: float) -> float:
    """Seconds until the next attempt: as the tool asked, and never less than the back-off. `jitter` is in [0, 1)."""
    return max(failed.retry_after_s or 0.0, backoff_s(rule, attempt=attempt, jitter=jitter))


def backoff_s(rule: RetryRule, *, attempt: int, jitter: float) -> float:
    """Exponential with full jitter above a floor of a tenth, so that no one hammers and no two keep step."""
    ceiling = min(rule.backoff_ms << min(attempt - 1, 30), rule.backoff_max_ms) / 1_000
    return ceiling * (0.1 + 0.9 * jitter)


def parse_retry_after(value: str, *, now_us: int) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3): whole seconds rounded up or an HTTP date, within [0, a day].

    Anything else is None, as if the header were absent.
    """
    text = value.strip()
    if len(text) > 64:
        return RETRY_AFTER_MAX_S if text.isascii() and text.isdigit() else None
    if _DELTA.fullmatch(text):
        return min(max(0.0, float(ceil(float(text)))), RETRY_AFTER_MAX_S)
    at_s = http_date_s(text, now_us=now_us)
    return None if at_s is None else min(max(0.0, at_s - now_us / 1_000_000), RETRY_AFTER_MAX_S)


def http_date_s(text: str, *, now_us: int) -> float | None:
    """Seconds since 1970 of the three forms of RFC 9110, 5.6.7; None for anything else."""
    found = next(filter(None, (form.fullmatch(text) for form in _DATES)), None)
    if found is None or found["month"] not in _MONTHS:
        return None
    hour, minute, second = map(int, found["time"].split(":"))
    year = int(found["year"])
    if len(found["year"]) == 2:
        year = _century(year, now_us=now_us)
    try:
        date = datetime(
            year, _MONTHS.index(found["month"]) + 1, int(found["day"]), hour, minute, min(second, 59), 0, UTC
        )
    except ValueError:
        return None
    return date.timestamp()


def _century(year: int, *, now_us: int) -> int:
    """A two-digit year that looks more than 50 years ahead lies in the past."""
    now = 1970 + now_us // 31_556_952_000_000
    full = now - now % 100 + year
    return full - 100 if full > now + 50 else full
