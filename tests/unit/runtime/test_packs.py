"""The evidence of a version is one document, found by what the version is, to which each move adds."""

from dataclasses import replace

import pytest

from interlock.core.canonical import canonical
from interlock.core.documents import Document, DocumentKind, refuse_unkept
from interlock.core.errors import StoreError
from interlock.core.lifecycle import Lifecycle
from interlock.core.move_gates import Grounds
from interlock.core.tool import spec_to_json
from interlock.ports import Registered
from interlock.runtime.packs import NAME_CHARS_MAX, added, name_of, pack_of, packs_in, published, stood, submitter_of
from tests.gates import ALICE, OPERATOR
from tests.unit.core.call_cases import spec

pytestmark = pytest.mark.requirement("REG-2")


def found(name: str = "save", version: str = "1", source: str = "python") -> Registered:
    return Registered(
        "*", source, name, version, "d", Lifecycle.AVAILABLE, canonical(spec_to_json(spec(name, owner="eng")))
    )


def test_no_two_versions_have_one_document_and_every_name_can_be_kept() -> None:
    hostile = ["a b", 'a","b', "a\x1fb", "a", "", "*", "x" * 600, "x" * 601, "\n"]
    names = [name_of(found(name, version)) for name in hostile for version in hostile]
    assert len({*names}) == len(names)
    assert max(map(len, names)) <= NAME_CHARS_MAX
    for name in names:
        refuse_unkept([Document("*", DocumentKind.EVIDENCE, name, 1, b"{}")])


def test_moves_are_added_in_order_and_say_where_a_frozen_version_stood_and_who_published_it() -> None:
    document = published(found(), by=ALICE, at_us=1)
    assert submitter_of(packs_in(document)) == "alice"
    for at_us, (started, to) in enumerate(
        [(Lifecycle.AVAILABLE, Lifecycle.RESTRICTED), (Lifecycle.RESTRICTED, Lifecycle.FROZEN)], 2
    ):
        pack = pack_of(found(), to=to, by=OPERATOR, at_us=at_us, grounds=Grounds(reason="why"))
        document = added(document, replace(pack, started=started))
    packs = packs_in(document)
    assert ([each.to.value for each in packs], document.revision) == (["available", "restricted", "frozen"], 3)
    assert stood(packs, now=Lifecycle.FROZEN) is Lifecycle.RESTRICTED
    assert stood(packs, now=Lifecycle.QUARANTINED) is None
    assert stood(packs[:2], now=Lifecycle.FROZEN) is None
    assert submitter_of(packs[1:]) == ""


def test_evidence_that_cannot_be_read_is_a_fault_and_none_is_none() -> None:
    assert packs_in(Document("*", DocumentKind.EVIDENCE, "n", 1, b"")) == ()
    for body in (b"{", b'{"packs":[{}]}', b'{"packs":[{"id":1}]}', b"{}"):
        with pytest.raises(StoreError):
            packs_in(Document("*", DocumentKind.EVIDENCE, "n", 1, body))
