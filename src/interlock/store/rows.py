"""Turns values into what a row holds, and back; the row ends here."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import fields
from typing import Final, TypeAlias

import orjson

from interlock.core.approval import Approval, ApprovalState, Binding, Requirement, Vote
from interlock.core.budget import Amounts, Reservation, ScopeKey, ScopeKind, Taken
from interlock.core.chain import Head
from interlock.core.checkpoint import Checkpoint
from interlock.core.journal import Payload
from interlock.core.labels import NO_LABELS, Confidentiality, Labels, Trust
from interlock.core.run import RunFacts
from interlock.ports import StoredOperation

Cell: TypeAlias = int | float | bytes | str | None
"""What SQLite gives and takes."""


_PART: Final = struct.Struct(">HHI")
_PART_BYTES = _PART.size


# --- payloads ---------------------------------------------------------------------------------------------------------


def frame(payloads: Iterable[Payload]) -> bytes | None:
    """Payloads as one blob that retention can delete at once: for each its three lengths, name, salt and data."""
    return b"".join([framed(each) for each in payloads]) or None


def framed(payload: Payload) -> bytes:
    """The same of one."""
    name, salt, data = payload.name.encode(), payload.salt, payload.data
    return _PART.pack(len(name), len(salt), len(data)) + name + salt + data


def unframe(blob: bytes | None) -> tuple[Payload, ...]:
    """The payloads of such a blob."""
    if blob is None:
        return ()
    found: list[Payload] = []
    start, end = 0, len(blob)
    while start < end:
        name_bytes, salt_bytes, data_bytes = _PART.unpack_from(blob, start)
        name_end = start + _PART_BYTES + name_bytes
        salt_end = name_end + salt_bytes
        name = blob[start + _PART_BYTES : name_end].decode()
        start = salt_end + data_bytes
        found.append(Payload(name, blob[name_end:salt_end], blob[salt_end:start]))
    return tuple(found)


# --- calls ------------------------------------------------------------------------------------------------------------


def write_holds(holds: tuple[Reservation, ...]) -> bytes | None:
    """What a call holds, without the limits that it was held under; remembered with what many calls hold alike."""
    if not holds:
        return None
    if type(holds) is not Taken:
        return _written(holds)
    if holds.written is None:
        holds.written = _written(holds)
    return holds.written


def _written(holds: tuple[Reservation, ...]) -> bytes:
    return orjson.dumps([[*scope, *amounts] for scope, amounts, _ in holds])


def read_holds(blob: bytes | None) -> tuple[Reservation, ...]:
    """What a call holds."""
    return tuple(
        Reservation(ScopeKey(tenant, ScopeKind(kind), name, window_us), Amounts._make(amounts))
        for tenant, kind, name, window_us, *amounts in (orjson.loads(blob) if blob else ())
    )


def write_labels(labels: Labels) -> bytes | None:
    """Labels; nothing where there are none."""
    return None if labels is NO_LABELS or labels == NO_LABELS else orjson.dumps(_labels(labels))


def read_labels(blob: bytes | None) -> Labels:
    """Labels as they were written."""
    if blob is None:
        return NO_LABELS
    confidentiality, trust, origins = orjson.loads(blob)
    return Labels(Confidentiality(confidentiality), Trust(trust), frozenset(origins))


def write_run(run: RunFacts) -> bytes:
    """What a run has read, called and was denied; id, version and end are columns."""
    return orjson.dumps([*_labels(run.labels), sorted(run.tools), sorted(run.denied)])


def read_run(run: str, *, version: int, facts: bytes, ended: str | None) -> RunFacts:
    """A run as it was written."""
    confidentiality, trust, origins, tools, denied = orjson.loads(facts)
    labels = Labels(Confidentiality(confidentiality), Trust(trust), frozenset(origins))
    return RunFacts(run, version, labels, frozenset(tools), frozenset(denied), ended)


def _labels(labels: Labels) -> list[object]:
    return [int(labels.confidentiality), int(labels.trust), sorted(labels.origins)]


# --- approvals --------------------------------------------------------------------------------------------------------


def write_approval(approval: Approval) -> bytes:
    """An approval; its state is a column."""
    return orjson.dumps(approval, default=_sorted)


def read_approval(data: bytes, *, state: str) -> Approval:
    """An approval as it was written, in the state of its row; void where it cannot have come there.

    A claim changes the row alone, and the row is not sealed: whatever else it says is not believed.
    """
    found = orjson.loads(data)
    written, stands = ApprovalState(found["state"]), ApprovalState(state)
    believed = stands is written or (written, stands) in _BY_A_CLAIM
    found["binding"] = Binding(**found["binding"])
    requirement = found["requirement"]
    found["requirement"] = Requirement(
        **{**requirement, "roles": frozenset(requirement["roles"]), "reasons": tuple(requirement["reasons"])}
    )
    found["votes"] = tuple(Vote(**{**vote, "roles": frozenset(vote["roles"])}) for vote in found["votes"])
    for name in ("requesters", "editors"):
        found[name] = frozenset(found.get(name, ()))
    return Approval(**{**found, "state": stands if believed else ApprovalState.VOID})


_BY_A_CLAIM: Final = frozenset(
    {(ApprovalState.GRANTED, ApprovalState.USED), (ApprovalState.PENDING, ApprovalState.VOID)}
)


def write_operation(operation: StoredOperation) -> bytes:
    """An operation that waits: its indexes as JSON after their length, then its sealed bytes."""
    head = orjson.dumps({name: getattr(operation, name) for name in _INDEXES})
    return len(head).to_bytes(4, "big") + head + operation.sealed


def read_operation(data: bytes) -> StoredOperation:
    """An operation as it was written."""
    end = 4 + int.from_bytes(data[:4], "big")
    return StoredOperation(sealed=data[end:], **orjson.loads(data[4:end]))


_INDEXES: Final = tuple(field.name for field in fields(StoredOperation) if field.name != "sealed")


def _sorted(value: object) -> list[object]:
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"a row cannot hold {type(value).__name__}")


# --- checkpoints ------------------------------------------------------------------------------------------------------


def write_checkpoint(checkpoint: Checkpoint) -> bytes:
    """A checkpoint with its signature."""
    return orjson.dumps(
        {
            "number": checkpoint.number,
            "time_us": checkpoint.time_us,
            "heads": [[head.chain, head.sequence, head.hash] for head in checkpoint.heads],
            "root": checkpoint.root,
            "previous": checkpoint.previous,
            "key_fingerprint": checkpoint.key_fingerprint,
            "signature": checkpoint.signature.hex(),
        }
    )


def read_checkpoint(body: bytes) -> Checkpoint:
    """A checkpoint as it was written."""
    found = orjson.loads(body)
    found["heads"] = tuple(Head(*head) for head in found["heads"])
    found["signature"] = bytes.fromhex(found["signature"])
    return Checkpoint(**found)
