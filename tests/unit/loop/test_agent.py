"""An agent is a name with what a model is told; names are checked where a run is given them."""

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.loop.agent import Agent, by_name


def test_collections_are_kept_as_tuples() -> None:
    agent = Agent("a", tools=["search"], hand_offs=["b"])  # type: ignore[arg-type]
    assert (agent.tools, agent.hand_offs) == (("search",), ("b",))
    assert Agent("a").tools is None


@pytest.mark.parametrize("name", ["", "x" * 65, 7])
def test_a_name_that_is_none_is_refused(name: object) -> None:
    with pytest.raises(SettingsInvalid, match="an agent's name is 1 to 64 characters"):
        Agent(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["tools", "hand_offs"])
def test_one_text_is_not_a_collection_of_its_letters(part: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"{part} is a collection of names"):
        Agent("a", **{part: "search"})  # type: ignore[arg-type]


@pytest.mark.requirement("LOOP-10")
def test_agents_of_a_run_have_names_of_their_own_and_hand_off_to_each_other_only() -> None:
    one, two = Agent("one", hand_offs=("two",)), Agent("two")
    assert by_name((one, two)) == {"one": one, "two": two}
    with pytest.raises(SettingsInvalid, match="two agents have one name"):
        by_name((two, Agent("two", "other")))
    with pytest.raises(SettingsInvalid, match="agent one may hand off to two, which there is not"):
        by_name((one,))
