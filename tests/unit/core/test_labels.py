"""Labels join one way only: more confidential, less trusted, from more places."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.core.labels import NO_LABELS, Confidentiality, Labels, Trust

LABELS = st.builds(
    Labels,
    st.sampled_from(Confidentiality),
    st.sampled_from(Trust),
    st.frozensets(st.sampled_from(["web", "mail", "crm"])),
)


@given(LABELS, LABELS, LABELS)
def test_the_order_in_which_labels_are_joined_does_not_matter(one: Labels, two: Labels, three: Labels) -> None:
    assert one.join(two) == two.join(one)
    assert one.join(two).join(three) == one.join(two.join(three))
    assert one.join(one) == one
    assert one.join(NO_LABELS) == NO_LABELS.join(one) == one


@given(LABELS, LABELS)
def test_a_join_never_forgets(one: Labels, two: Labels) -> None:
    both = one.join(two)
    assert both.confidentiality >= one.confidentiality
    assert both.trust <= one.trust
    assert both.origins >= one.origins


@given(LABELS, LABELS)
def test_a_join_is_within_a_ceiling_exactly_when_both_are(one: Labels, two: Labels) -> None:
    ceiling = Labels(Confidentiality.CONFIDENTIAL, Trust.INTERNAL)
    assert one.join(two).within(ceiling) == (one.within(ceiling) and two.within(ceiling))


def test_more_confidential_or_less_trusted_than_declared_is_above_the_ceiling() -> None:
    ceiling = Labels(Confidentiality.INTERNAL, Trust.INTERNAL)
    assert ceiling.within(ceiling)
    assert not Labels(Confidentiality.CONFIDENTIAL, Trust.INTERNAL).within(ceiling)
    assert not Labels(Confidentiality.INTERNAL, Trust.UNTRUSTED).within(ceiling)
