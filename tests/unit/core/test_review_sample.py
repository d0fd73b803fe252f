"""A sample of bounded size holds the same keys, and all that was said of them, whatever order that came in."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from interlock.core.review_sample import Sample, hash_of

KEYS = st.lists(st.text(max_size=3), max_size=60)


def sampled(keys: list[str], size: int = 8) -> Sample[Counter[str]]:
    sample: Sample[Counter[str]] = Sample(size, Counter)
    for key in keys:
        kept = sample.of(key)
        if kept is not None:
            kept["times"] += 1
    return sample


def shown(sample: Sample[Counter[str]]) -> tuple[object, ...]:
    return dict(sample.items()), sample.is_whole, sample.estimate


@given(KEYS, st.integers(0, 60))
def test_a_sample_does_not_depend_on_order_or_on_parts(keys: list[str], cut: int) -> None:
    whole = sampled(keys)
    shuffled = sorted(keys, key=lambda key: hash_of(key) % 7)
    joined = sampled(shuffled[:cut])
    joined.join(sampled(shuffled[cut:]), Counter.update)
    assert shown(joined) == shown(whole) == shown(sampled(shuffled))


@given(KEYS)
def test_what_is_kept_of_a_key_is_all_that_was_said_of_it(keys: list[str]) -> None:
    times = Counter(keys)
    assert all(kept["times"] == times[key] for key, kept in sampled(keys).items())


def test_a_sample_knows_about_how_many_keys_there_were() -> None:
    sample = sampled([f"key {number}" for number in range(20_000)], size=1_024)
    assert len(sample) == 1_024
    assert 18_000 < sample.estimate < 22_000
    assert not sample.is_whole
