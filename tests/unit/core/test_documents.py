"""Documents follow on each other by their revisions; what a store cannot keep is refused before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.documents import TEXT_CHARS_MAX, Document, DocumentKind, changes, raises_epoch, refuse_unkept
from interlock.core.errors import DocumentChanged, DocumentInvalid

REVISIONS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4)), max_size=6)


def document(name: str = "a", revision: int = 1, *, kind: DocumentKind = DocumentKind.AGENT) -> Document:
    return Document("acme", kind, name, revision, b"{}")


@given(REVISIONS, st.integers(0, 2))
def test_a_change_is_taken_only_where_every_document_follows_on_the_one_before(
    wanted: list[tuple[str, int]], stored: int
) -> None:
    given_ = [document(name, revision) for name, revision in wanted]
    follow = True
    last = {"a": stored, "b": 0}
    for name, revision in wanted:
        follow = follow and revision == last[name] + 1
        last[name] = revision
    before = {document("a").place: stored}
    if follow:
        found = changes(given_, stored=before)
        assert {place[2]: each.revision for place, each in found.items()} == {name: last[name] for name, _ in wanted}
    else:
        with pytest.raises(DocumentChanged):
            changes(given_, stored=before)


def test_who_was_overtaken_is_told_by_what() -> None:
    with pytest.raises(DocumentChanged, match=r"agent 'a'.*is at revision 3.*made to revision 1"):
        changes([document(revision=2)], stored={document().place: 3})


@pytest.mark.parametrize("text", ["", "a\x00", "\udfff", "x" * (TEXT_CHARS_MAX + 1)])
def test_a_name_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(DocumentInvalid):
        refuse_unkept([document(), document(text)])


def test_the_next_revision_of_a_document_is_at_the_same_place() -> None:
    one = document()
    two = one.changed(b"")
    assert (two.place, two.revision, two.is_removed, one.is_removed) == (one.place, 2, True, False)


def test_what_decisions_do_not_read_leaves_the_epoch() -> None:
    assert not raises_epoch([document(kind=DocumentKind.EXAMPLE)])
    assert raises_epoch([document(kind=DocumentKind.EXAMPLE), document(kind=DocumentKind.DEFAULT)])
