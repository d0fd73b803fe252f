"""What a store needs to keep operations, results and questions unreadable to whoever has only its file."""

from __future__ import annotations

from typing import Protocol

from interlock.core.documents import Document, DocumentKind


class Seal(Protocol):
    """Encrypts what is kept whole. `context` names the row: what was sealed for one does not open for another."""

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """The sealed bytes."""

    def open(self, sealed: bytes, *, context: bytes) -> bytes:
        """The bytes that were sealed. Raises `StoreError` where they were changed, moved, or the key is another."""


class NoSeal:
    """Keeps everything as it is: the file's permissions are all that protects it."""

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """The same bytes."""
        return data

    def open(self, sealed: bytes, *, context: bytes) -> bytes:
        """The same bytes."""
        return sealed


# What binds sealed bytes to their row. Bytes move between stores as they are, so it is spelled here for all of them.


def of_call(tenant: str, operation_id: str) -> bytes:
    """The context of a call's operation and observation."""
    return _context("call", tenant, operation_id)


def of_approval(tenant: str, approval_id: str) -> bytes:
    """The context of a question and its votes."""
    return _context("approval", tenant, approval_id)


def of_waiting(tenant: str, approval_id: str) -> bytes:
    """The context of the operation that waits for an approval."""
    return _context("operation", tenant, approval_id)


def of_closing(tenant: str, operation_id: str) -> bytes:
    """The context of what is proposed of an unknown call."""
    return _context("closing", tenant, operation_id)


def of_plan(tenant: str, plan_id: str) -> bytes:
    """The context of a plan of compensations."""
    return _context("compensation", tenant, plan_id)


def of_part(tenant: str, artifact_id: str, number: int) -> bytes:
    """The context of one part of a kept result."""
    return _context("artifact", tenant, artifact_id, str(number))


def of_artifact(tenant: str, artifact_id: str) -> bytes:
    """The context of the operation that a kept result came of."""
    return of_part(tenant, artifact_id, -1)


def of_run_entry(tenant: str, run_id: str, sequence: int) -> bytes:
    """The context of what happened in a run."""
    return _context("run", tenant, run_id, str(sequence))


def of_document(tenant: str, kind: str, name: str, *, revision: int) -> bytes:
    """The context of one revision of a document of the control plane."""
    return _context("document", tenant, kind, name, str(revision))


def of_record(place: int) -> bytes:
    """The context of the payloads beside an audit record."""
    return b"audit\x00%d" % place


def sealed_document(document: Document, *, seal: Seal) -> bytes | None:
    """The body of a document as its row keeps it; None where it was removed."""
    if document.is_removed:
        return None
    return seal.seal(document.body, context=of_document(*document.place, revision=document.revision))


def opened_document(row: tuple[str, str, str, int, bytes | None], *, seal: Seal) -> Document:
    """The document of a row: tenant, kind, name, revision and the sealed body. Raises as `Seal.open` does."""
    tenant, kind, name, revision, sealed = row
    body = b"" if sealed is None else seal.open(sealed, context=of_document(tenant, kind, name, revision=revision))
    return Document(tenant, DocumentKind(kind), name, revision, body)


def _context(*parts: str) -> bytes:
    return "\x00".join(parts).encode()
