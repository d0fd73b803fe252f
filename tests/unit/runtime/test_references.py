"""What rests on a version is found wherever it is kept, of all tenants where all share the version."""

from dataclasses import replace
from typing import Any

import pytest

from interlock import Gate, PolicySource, tool
from interlock.core.canonical import canonical
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import MoveRefused
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.references import References
from interlock.core.retirement import Replacement
from interlock.runtime.retiring import Notice
from tests.gates import ALICE, ASKS, OPERATOR, Shelf, asked, opened, save

pytestmark = pytest.mark.requirement("REG-7")

POLICIES = (
    PolicySource("test", ASKS),
    PolicySource("own", '@id("mine") forbid (principal, action == Action::"save", resource);', tenant="globex"),
)


async def saved(gate: Gate, kind: DocumentKind, name: str, body: Any, *, tenant: str = "acme") -> None:
    document = Document(tenant, kind, name, 1, canonical(body))
    event = gate._records.act(EventKind.DOCUMENT_SAVED, tenant, {"subject": name})
    await gate._world.documents.save_documents((document,), event)


async def rests(gate: Gate, name: str = "save") -> References:
    _, versions = await gate._views.versions()
    (found,) = [each for each in versions if each.name == name]
    return await gate.catalogue._moving._common.referrers.of(found, versions)


async def test_agents_examples_policies_and_questions_that_name_a_version_are_found(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, POLICIES) as gate:
        held = {"tool": "save", "version": "1", "canary": {"version": "2"}}
        await saved(gate, DocumentKind.AGENT, "clerk", {"tools": [held, {"tool": "search", "version": "1"}]})
        await saved(gate, DocumentKind.AGENT, "bot", {"tools": [{"tool": "save"}]}, tenant="globex")
        await saved(gate, DocumentKind.AGENT, "other", {"tools": [{"tool": "save", "version": "9"}]})
        await saved(gate, DocumentKind.EXAMPLE, "save\x1ftypical", {})
        await saved(gate, DocumentKind.EXAMPLE, "save\x1f\x1f7", {})
        await saved(gate, DocumentKind.EXAMPLE, "saver\x1ftypical", {})
        waits = await asked(gate)
        found = await rests(gate)
        assert found.agents == ("acme/clerk: held", "globex/bot: follows the default")
        assert (found.examples, found.cases) == (("save: typical",), ("save: 7",))
        assert found.policies == ("globex:own/mine",)
        assert found.approvals == (f"acme/{waits}",)
        other = await rests(gate, "search")
        assert (other.agents, other.approvals, other.policies) == (("acme/clerk: held",), (), ())


async def test_questions_of_other_tenants_rest_on_what_all_share(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        waits = await asked(gate, save(), by=replace(ALICE, tenant="globex"))
        assert (await rests(gate)).approvals == (f"globex/{waits}",)


async def test_an_agent_that_cannot_be_read_is_passed_over(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        document = Document("acme", DocumentKind.AGENT, "broken", 1, b"{")
        event = gate._records.act(EventKind.DOCUMENT_SAVED, "acme", {"subject": "broken"})
        await gate._world.documents.save_documents((document,), event)
        await saved(gate, DocumentKind.AGENT, "odd", {"tools": [1, {"tool": 2}]})
        assert (await rests(gate)).agents == ()


async def test_what_another_tenant_has_under_the_same_name_is_neither_told_nor_in_the_way() -> None:
    theirs = PolicySource("own", '@id("mine") forbid (principal, action == Action::"save", resource);', tenant="acme")
    globex = replace(OPERATOR, tenant="globex")

    @tool(effect="write", owner="eng", name="keep", key=["note"], resource=("Note", "note"), fallback="save")
    async def keep(note: str, text: str) -> dict[str, str]:
        """Keep a note."""
        return {note: text}

    shelf = Shelf()
    async with opened(":memory:", [shelf.search], [PolicySource("test", ASKS)]) as gate:
        specs = [shelf.save.spec(tenant="globex"), shelf.save.spec(tenant="acme"), keep.spec(tenant="acme")]
        await gate.catalogue.register(specs, by=OPERATOR)
        await gate.policies.save([theirs], by=OPERATOR)
        await saved(gate, DocumentKind.AGENT, "clerk", {"tools": [{"tool": "save", "version": "1"}]})
        await saved(gate, DocumentKind.EXAMPLE, "save\x1fmerger with initech", {})
        instead = Notice(retires_on="2999-01-01", reason="one is enough", replacement=Replacement("save"))
        await gate.catalogue.announce("keep", by=OPERATOR, notice=instead)
        ((_, mine),) = await gate.catalogue.references("save", by=OPERATOR)
        assert all((mine.agents, mine.examples, mine.policies, mine.tools, mine.replaces))
        ((_, found),) = await gate.catalogue.references("save", by=globex)
        assert found == References(runs_looked=found.runs_looked)
        (gone,) = await gate.catalogue.retire("save", by=globex, reason="ours is not needed")
        assert (gone.tenant, gone.state) == ("globex", Lifecycle.RETIRED)
        with pytest.raises(MoveRefused):
            await gate.catalogue.retire("save", by=OPERATOR, reason="it is needed")
