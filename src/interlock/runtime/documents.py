"""Reads documents as they stand: one that there is not yet is one without a body, of which a change makes the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from interlock.core.errors import StoreError
from interlock.ports import Document, DocumentKind, DocumentStore

T = TypeVar("T")


def unwritten(kind: DocumentKind, *, tenant: str, name: str) -> Document:
    """In place of one that there is not yet; `changed` makes its first revision."""
    return Document(tenant, kind, name, 0, b"")


async def standing(documents: DocumentStore, kind: DocumentKind, *, tenant: str, name: str) -> Document:
    """The document, which `is_removed` where there is none now, whether there ever was or not."""
    found = await documents.document(kind, tenant=tenant, name=name)
    return unwritten(kind, tenant=tenant, name=name) if found is None else found


def held_in(document: Document, read: Callable[[bytes], T], *, what: str) -> T | None:
    """What its body holds; None: there is none. Raises `StoreError` that says of `what` that it cannot be read."""
    if document.is_removed:
        return None
    try:
        return read(document.body)
    except ValueError as broken:
        raise StoreError(f"{what} cannot be read") from broken
