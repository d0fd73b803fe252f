"""Documents of the control plane: what people save about tools and agents, counted by its revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from interlock.core.errors import DocumentChanged, DocumentInvalid
from interlock.core.frozen import frozen


class DocumentKind(StrEnum):
    """What a document is about. Its body is canonical JSON that whoever owns the kind reads and writes."""

    AGENT = "agent"
    DEFAULT = "default"
    SHADOW = "shadow"
    EXAMPLE = "example"
    EVIDENCE = "evidence"
    PROBE = "probe"
    READINESS = "readiness"
    CHOICES = "choices"
    STOP = "stop"
    SIGN_OFF = "sign_off"


DECIDING: Final = frozenset({DocumentKind.AGENT, DocumentKind.DEFAULT, DocumentKind.STOP})
"""Kinds that decisions read: a change of one raises the epoch, which every claim guards."""

TEXT_CHARS_MAX: Final = 512
BODY_BYTES_MAX: Final = 16 << 20

Place = tuple[str, DocumentKind, str]
"""Tenant, kind and name: what there is one document of."""


@frozen
class Document:
    """One document as it stands. `revision` counts its changes from 1; an empty `body` says that it was removed.

    What was removed keeps its revision, so that nobody who saw it before writes over what has come in its place.
    """

    tenant: str
    kind: DocumentKind
    name: str
    revision: int
    body: bytes

    @property
    def place(self) -> Place:
        """Which document it is."""
        return self.tenant, self.kind, self.name

    @property
    def is_removed(self) -> bool:
        """Whether there is none any more."""
        return not self.body

    def changed(self, body: bytes) -> Document:
        """Its next revision."""
        return Document(self.tenant, self.kind, self.name, self.revision + 1, body)


def changes(documents: Iterable[Document], *, stored: Mapping[Place, int]) -> dict[Place, Document]:
    """What stands in each place after these are written, where `stored` are the revisions that stand there now.

    Raises `DocumentChanged` where one does not follow on what is stored.
    """
    found: dict[Place, Document] = {}
    for each in documents:
        before = found[each.place].revision if each.place in found else stored.get(each.place, 0)
        if each.revision != before + 1:
            raise DocumentChanged(
                f"the {each.kind.value} {each.name!r} has been changed meanwhile: it is at revision {before}, and this "
                f"change was made to revision {each.revision - 1}; look at it again"
            )
        found[each.place] = each
    return found


def raises_epoch(documents: Iterable[Document]) -> bool:
    """Whether decisions read one of them."""
    return any(each.kind in DECIDING for each in documents)


def refuse_unkept(documents: Iterable[Document]) -> None:
    """Raise `DocumentInvalid` where a store cannot keep one of them; before a place is made of its name."""
    for each in documents:
        _refuse(each)


def _refuse(document: Document) -> None:
    for what, text in (("tenant", document.tenant), ("name", document.name)):
        if not text or len(text) > TEXT_CHARS_MAX:
            raise DocumentInvalid(f"the {what} of a document has 1 to {TEXT_CHARS_MAX} characters, not {len(text)}")
        if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
            raise DocumentInvalid(f"the {what} of a document holds a character that cannot be kept")
    if len(document.body) > BODY_BYTES_MAX:
        raise DocumentInvalid(f"the {document.kind.value} {document.name!r} is longer than {BODY_BYTES_MAX} bytes")
