"""An index of tools finds those of a tenant by action, and one with a few changes does not touch the one before."""

from dataclasses import replace

from interlock.core.policy_index import Index
from interlock.core.tool import SHARED, ToolSpec
from tests.unit.core.policy_cases import CATALOGUE, SAVE, SEARCH, tool

MINE, THEIRS = replace(tool("mine"), tenant="acme"), replace(tool("theirs"), tenant="globex")


def names(index: Index, action: str, tenant: str) -> set[str]:
    return {spec.name for spec in index.tools(action, tenant)}


def test_a_tenant_finds_its_own_tools_and_the_shared_ones() -> None:
    index = Index([SEARCH, MINE, THEIRS])
    assert names(index, "read", "acme") == {"search", "mine"}
    assert names(index, "read", SHARED) == {"search", "mine", "theirs"}
    assert (index.has("mine", "acme"), index.has("theirs", "acme")) == (True, False)
    assert {"search", "mine"} <= set(index.actions("acme")) and "theirs" not in set(index.actions("acme"))  # noqa: PT018


def test_a_change_shows_in_the_new_index_alone() -> None:
    before = Index(CATALOGUE)
    later: ToolSpec = replace(SAVE, version="2", resource=None)
    after = before.changed([(SAVE, later), (None, MINE)])
    assert [spec.version for spec in after.tools("save_draft", SHARED)] == ["2"]
    assert [spec.version for spec in before.tools("save_draft", SHARED)] == ["1"]
    assert (before.resolved(SHARED), after.resolved(SHARED)) == ({"Draft"}, frozenset())
    assert before.types(SHARED) - after.types(SHARED) == {"Draft"}
    assert names(after, "any", "acme") - names(before, "any", "acme") == {"mine"}
