"""Names in their order: pages of a tenant's own and shared tools, and what is near a name, whatever changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.order import NEAR_MAX, Order
from interlock.core.tool import SHARED
from tests.steps import steps

PLACES = st.sets(st.tuples(st.sampled_from([SHARED, "acme", "globex"]), st.text("abc", min_size=1, max_size=3)))


def seen(places: set[tuple[str, str]], tenant: str) -> list[str]:
    return sorted({name for owner, name in places if owner in (tenant, SHARED)})


@given(PLACES, PLACES, st.text("abc", max_size=3))
def test_what_changed_step_by_step_is_what_is_sorted_anew(
    before: set[tuple[str, str]], after: set[tuple[str, str]], name: str
) -> None:
    order = Order(before)
    changed = order.changed(appeared=after - before, gone=before - after)
    for tenant in ("acme", "globex", "initech"):
        assert [*changed.after(tenant, name)] == [each for each in seen(after, tenant) if each > name]
        assert [*order.after(tenant, "")] == seen(before, tenant)
        assert changed.near(tenant, name) == seen(after, tenant)


def test_what_is_near_begins_or_ends_like_the_name_and_is_no_more_than_so_many() -> None:
    order = Order((SHARED, f"{verb}_thing_{number}") for verb in ("get", "put") for number in range(1_000))
    near = order.near("acme", "get_thing_77")
    assert "get_thing_77" in near
    assert len(near) <= 8 * NEAR_MAX
    assert "put_thing_77" in order.near("acme", "pet_thing_77")


@pytest.mark.requirement("SCALE-3")
def test_a_page_a_change_and_a_look_around_cost_the_same_among_few_and_among_many() -> None:
    def work(count: int) -> int:
        order = Order((SHARED, f"tool_{number:06}") for number in range(count))

        def some() -> None:
            page = order.after("acme", "tool_000100")
            assert [next(page) for _ in range(10)] == [f"tool_{number:06}" for number in range(101, 111)]
            order.changed(appeared=[(SHARED, "tool_x")], gone=[(SHARED, "tool_000007")])

        return steps(some)

    def around(count: int) -> int:
        order = Order((SHARED, f"tool_{number:06}") for number in range(count))
        return steps(lambda: order.near("acme", "tool_000150"))

    assert work(20_000) == work(300)
    assert around(20_000) <= 1.2 * around(2_000)
