"""Finding a tool by its exact name, and what may have been meant by one that is none."""

from dataclasses import replace

import pytest

from interlock.core.catalogue import COMPARED_MAX, Catalogue, Tool, nearest
from interlock.core.lifecycle import CLOSED, Lifecycle
from interlock.core.stops import Stop, StopScope
from tests.unit.core.call_cases import catalogue, tool

SHARED_SAVE = tool()
OWN_SAVE = tool(tenant="acme", title="Ours")
OTHERS = tool("sell_shares", tenant="globex")
FOUND = catalogue(SHARED_SAVE, OWN_SAVE, OTHERS, tool("archive_draft"))


@pytest.mark.requirement("CALL-4")
def test_a_tenants_own_tool_stands_before_the_shared_one_of_its_name() -> None:
    assert FOUND.find("acme", "save_draft") is OWN_SAVE
    assert FOUND.find("globex", "save_draft") is SHARED_SAVE


@pytest.mark.requirement("CALL-4")
@pytest.mark.parametrize("name", ["Save_draft", "save_draft ", "save-draft", "save_draf", "", "sell_shares"])
def test_only_the_exact_name_of_a_tool_of_the_tenant_is_found(name: str) -> None:
    assert FOUND.find("acme", name) is None


def test_a_tenants_tools_are_its_own_and_the_shared_ones_each_name_once() -> None:
    assert [each.spec.name for each in FOUND.of("acme")] == ["archive_draft", "save_draft"]
    assert OWN_SAVE in FOUND.of("acme")
    assert [each.spec.name for each in FOUND.of("globex")] == ["archive_draft", "save_draft", "sell_shares"]
    assert list(Catalogue().of("acme")) == []


def test_what_a_name_means_is_remembered_for_its_tenant_and_for_one_catalogue_alone() -> None:
    found = catalogue(SHARED_SAVE)
    assert [found.find(tenant, "save_draft") for tenant in ("acme", "globex", "acme")] == [SHARED_SAVE] * 3
    stop = Stop(id="s", scope=StopScope(tenant="acme"), reason="why", by="olga", at_us=1)
    stopped = replace(found, stops=(stop,))
    states = [each.state for _ in range(2) if (each := stopped.find("acme", "save_draft")) is not None]
    assert states == [Lifecycle.FROZEN] * 2
    assert stopped.find("globex", "save_draft") is SHARED_SAVE
    assert found.find("acme", "save_draft") is SHARED_SAVE
    assert replace(found, tools={}).find("acme", "save_draft") is None


def test_the_states_that_take_no_calls_are_these() -> None:
    assert {state.value: code.value for state, code in CLOSED.items()} == {
        "candidate": "TOOL_NOT_FOUND",
        "frozen": "TOOL_FROZEN",
        "retired": "TOOL_RETIRED",
        "quarantined": "TOOL_QUARANTINED",
    }
    assert {*Lifecycle} - {*CLOSED} == {Lifecycle.AVAILABLE, Lifecycle.RESTRICTED}


@pytest.mark.requirement("CALL-4")
@pytest.mark.parametrize(
    ("name", "first"),
    [("save_drafts", "save_draft"), ("Save_Draft", "save_draft"), ("serch", "search"), ("zzz", None)],
)
def test_the_nearest_name_comes_first(name: str, first: str | None) -> None:
    found = nearest(name, ["save_draft", "search", "delete_file", "send_mail"])
    assert (found[0] if found else None) == first


@pytest.mark.requirement("CALL-4")
def test_among_many_names_those_that_share_words_are_compared() -> None:
    names = [f"get_report_{number}" for number in range(COMPARED_MAX * 4)]
    assert nearest("save_drafts", [*names, "save_draft"])[0] == "save_draft"
    assert nearest("get_report_7", names)[0] == "get_report_7"
    assert nearest("x" * 10_000, names) == ()


def test_what_is_derived_of_a_tool_is_there_when_it_is_asked_for_and_so_it_is_of_a_changed_copy() -> None:
    known = tool()
    fresh = Tool(known.spec, known.digest)
    assert type(fresh) is not Tool
    assert fresh.model_schema == known.model_schema
    assert type(fresh) is Tool
    assert replace(fresh, state=Lifecycle.FROZEN).model_schema == known.model_schema
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = Tool(known.spec, known.digest).nothing_of_the_kind  # type: ignore[attr-defined]
