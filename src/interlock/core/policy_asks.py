"""What a policy's annotations say: its stable id, the approval that it asks for, the fields that must be redacted.

A misspelled or malformed annotation would turn an ask into a plain permit. So what is not understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.core.approval import Requirement
from interlock.core.catalogue import nearest
from interlock.core.errors import PolicyInvalid
from interlock.core.frozen import frozen

_KNOWN = ("id", "description", "reason", "approval", "quorum", "lifetime", "self_approval", "redact")
_OF_AN_ASK = ("quorum", "lifetime", "self_approval")
_OF_A_PERMIT = ("approval", "redact")
_LIFETIME = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LIFETIME_MAX_S = 90 * 86_400
_QUORUM = re.compile(r"[1-9][0-9]?\Z")
_NAME = re.compile(r"\w[\w.:@/-]*\Z")


@frozen
class Terms:
    """`requirement` is None for a policy that does not ask."""

    id: str = ""
    reason: str = ""
    requirement: Requirement | None = None
    redact: frozenset[str] = frozenset()


def terms_of(annotations: Mapping[str, str], *, permit: bool) -> Terms:
    """The terms that the annotations set. Raises `PolicyInvalid` with the annotation and what to write instead."""
    for name in annotations:
        _known(name, annotations, permit=permit)
    identity = annotations.get("id", "")
    if "id" in annotations and not _NAME.match(identity):
        raise PolicyInvalid(f'@id("{identity}"): an id is letters, digits and ._:@/-')
    return Terms(
        identity,
        annotations.get("reason", ""),
        _requirement(annotations) if "approval" in annotations else None,
        _names("redact", annotations["redact"]) if "redact" in annotations else frozenset(),
    )


def _known(name: str, annotations: Mapping[str, str], *, permit: bool) -> None:
    if name not in _KNOWN:
        hint = nearest(name, _KNOWN)
        meant = f"did you mean @{hint[0]}?" if hint else f"known are @{', @'.join(_KNOWN)}"
        raise PolicyInvalid(f"@{name} is not known; {meant}")
    if name in _OF_AN_ASK and "approval" not in annotations:
        raise PolicyInvalid(f'@{name} says how to approve, but nothing asks: add @approval("role")')
    if name in _OF_A_PERMIT and not permit:
        raise PolicyInvalid(f"@{name} belongs to a permit: a forbid ends the matter")


def _requirement(annotations: Mapping[str, str]) -> Requirement:
    roles = annotations["approval"].strip()
    allowed = annotations.get("self_approval")
    if allowed not in (None, "allowed"):
        raise PolicyInvalid(f'@self_approval("{allowed}"): the only value is "allowed"')
    reason = annotations.get("reason", "")
    plain = Requirement()
    return Requirement(
        roles=_names("approval", roles) if roles else frozenset(),
        quorum=_quorum(annotations["quorum"]) if "quorum" in annotations else plain.quorum,
        lifetime_s=_lifetime_s(annotations["lifetime"]) if "lifetime" in annotations else plain.lifetime_s,
        reasons=(reason,) if reason else (),
        distinct=allowed is None,
    )


def _quorum(text: str) -> int:
    if not _QUORUM.match(text):
        raise PolicyInvalid(f'@quorum("{text}"): a number of people from 1 to 99')
    return int(text)


def _lifetime_s(text: str) -> int:
    found = _LIFETIME.match(text)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 0 < seconds <= _LIFETIME_MAX_S:
        raise PolicyInvalid(f'@lifetime("{text}"): a time such as 30m, 8h or 2d, at most 90d')
    return seconds


def _names(annotation: str, text: str) -> frozenset[str]:
    names = [each.strip() for each in text.split(",")]
    for name in names:
        if not _NAME.match(name):
            raise PolicyInvalid(f'@{annotation}("{text}"): names with commas between them')
    return frozenset(names)
