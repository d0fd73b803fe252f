"""A change of an agent keeps the way back for its window, and who has a canary's version keeps it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.agent_changes import Moment, evaluated, pinned, revised, rolled_back
from interlock.core.agents import AgentTools, Canary, Earlier, ToolUse, Upgrade, refuse_invalid
from interlock.core.errors import AgentInvalid
from tests.unit.core.test_agents import AGENTS

SECOND_US = 1_000_000


def moment(now_us: int = 0, *, default: str = "1") -> Moment:
    salts: Iterator[int] = count(1)
    return Moment({"search": default}, now_us, lambda: f"salt-{next(salts)}")


def agent(use: ToolUse, *, window_s: int = 10) -> AgentTools:
    return AgentTools("clerk", "acme", (use,), window_s=window_s)


def changed(use: ToolUse, before: ToolUse | None, at: Moment) -> ToolUse:
    return revised(agent(use), stored=None if before is None else agent(before), at=at).tools[0]


def test_a_version_that_is_left_out_is_the_default_of_the_moment() -> None:
    assert changed(ToolUse("search"), None, moment(default="7")) == ToolUse("search", "7")
    automatic = ToolUse("search", "", Upgrade.AUTOMATIC)
    assert changed(automatic, None, moment()) == automatic
    assert changed(ToolUse("unknown"), None, moment()) == ToolUse("unknown")


def test_the_version_before_a_change_is_one_act_away_while_the_window_lasts() -> None:
    now = changed(ToolUse("search", "2"), ToolUse("search", "1"), moment(5 * SECOND_US))
    assert now.earlier == Earlier("1", Upgrade.HELD, 15 * SECOND_US)
    assert rolled_back(now, now_us=15 * SECOND_US) == ToolUse("search", "1")
    with pytest.raises(AgentInvalid, match="has passed"):
        rolled_back(now, now_us=15 * SECOND_US + 1)
    with pytest.raises(AgentInvalid, match="no version before"):
        rolled_back(ToolUse("search", "1"), now_us=0)


def test_who_follows_the_default_and_goes_back_is_held_there() -> None:
    automatic = ToolUse("search", "", Upgrade.AUTOMATIC)
    now = changed(ToolUse("search", "2"), automatic, moment(default="1"))
    assert now.earlier is not None
    assert rolled_back(now, now_us=0) == ToolUse("search", "1", Upgrade.HELD)


def test_nothing_leads_forward_again_to_what_was_gone_back_from() -> None:
    stored = agent(changed(ToolUse("search", "2"), ToolUse("search", "1"), moment()))
    wanted = stored.using(rolled_back(stored.tools[0], now_us=0))
    assert revised(wanted, stored=stored, at=moment(), gone_back="search").tools == (ToolUse("search", "1"),)


def test_a_change_that_leaves_the_version_leaves_the_way_back() -> None:
    earlier = Earlier("1", Upgrade.HELD, 9)
    before = ToolUse("search", "2", earlier=earlier)
    assert changed(replace(before, canary=Canary("3", 5), earlier=None), before, moment(3)).earlier == earlier
    forged = replace(before, earlier=Earlier("666", Upgrade.HELD, 2**60))
    assert changed(forged, before, moment()).earlier == earlier
    assert changed(forged, None, moment()).earlier is None
    held = changed(ToolUse("search", "1"), ToolUse("search", "", Upgrade.AUTOMATIC), moment(default="1"))
    assert held.earlier is None


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_canary_keeps_its_salt_while_it_keeps_its_version(first: int, second: int) -> None:
    at = moment()
    one = changed(ToolUse("search", "1", canary=Canary("2", first, salt="chosen")), None, at)
    assert one.canary is not None
    assert one.canary.salt == "salt-1"
    two = changed(replace(one, canary=Canary("2", second)), one, at)
    three = changed(replace(one, canary=Canary("3", second)), two, at)
    assert [each.canary.salt for each in (two, three) if each.canary] == ["salt-1", "salt-2"]


def test_going_back_ends_a_canary_first() -> None:
    use = ToolUse("search", "2", canary=Canary("3", 5, salt="s"), earlier=Earlier("1", Upgrade.HELD, 9))
    assert rolled_back(use, now_us=99) == replace(use, canary=None)


def test_a_pin_ends_a_canary() -> None:
    use = ToolUse("search", "1", canary=Canary("2", 5))
    assert pinned(use, "2", Upgrade.HELD) == ToolUse("search", "2")


def test_only_what_waits_for_an_evaluation_moves_by_one() -> None:
    waits = ToolUse("search", "1", Upgrade.EVALUATED)
    assert evaluated(waits, "2") == ToolUse("search", "2", Upgrade.EVALUATED)
    for mode in (Upgrade.HELD, Upgrade.AUTOMATIC):
        with pytest.raises(AgentInvalid, match="does not wait"):
            evaluated(replace(waits, upgrade=mode), "2")


@given(AGENTS, AGENTS)
def test_what_could_be_meant_can_be_kept(wanted: AgentTools, stored: AgentTools) -> None:
    tenants = {each.canary.tenants for each in wanted.tools if each.canary is not None}
    kept = revised(wanted, stored=stored, at=moment())
    if wanted.tenant == "*" or tenants <= {frozenset()}:
        refuse_invalid(replace(kept, name="a"))
    assert [(each.tool, each.version, each.upgrade) for each in kept.tools] == [
        (each.tool, each.version, each.upgrade) for each in wanted.tools
    ]
