"""Who has signed for a version: the words of people who have looked at exactly that one, as gates of moves ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.core.canonical import canonical, decode
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json


@dataclass(frozen=True, slots=True)
class SignOff:
    """What one person says of the version with this digest. Whoever signs again takes back what they said before."""

    by: str
    why: str
    at_us: int
    digest: str


@dataclass(frozen=True, slots=True)
class _Kept:
    signed: tuple[SignOff, ...]


def signed_too(before: Iterable[SignOff], mine: SignOff) -> tuple[SignOff, ...]:
    """What stands once this is said too."""
    return (*(each for each in before if each.by != mine.by), mine)


def reviewers_of(signed: Iterable[SignOff], digest: str) -> tuple[str, ...]:
    """Who has signed for the version with this digest, and not for another of its name and number."""
    return tuple(each.by for each in signed if each.digest == digest)


def sign_offs_to_bytes(signed: Iterable[SignOff]) -> bytes:
    """The body of the document that keeps them."""
    return canonical(spec_to_json(_Kept(tuple(signed))))


def sign_offs_from_bytes(body: bytes) -> tuple[SignOff, ...]:
    """What `sign_offs_to_bytes` was made of. Raises `ValueError` where it is nothing of the kind."""
    return from_json(_Kept, decode(body)).signed
