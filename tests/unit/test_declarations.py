"""A session's tools in every provider's dialect: what this caller may see, told in words, with what is lost."""

import json
from typing import Annotated

import pytest

from interlock import Arg, Caller, Gate, SettingsInvalid, tool
from interlock.declarations import CatalogueDesk
from interlock.models.dialects import Dialect
from interlock.runtime.held import Held
from tests.gates import ALICE, BOB, AnyTool, opened

pytestmark = [pytest.mark.requirement("TOOL-7")]

ONLY_ALICE_SENDS = """
@id("a") permit (principal, action, resource);
@id("b") forbid (principal == User::"bob", action == Action::"mail.send", resource);
"""


def tools() -> tuple[AnyTool, ...]:
    @tool(effect="write", owner="eng", name="mail.send", key=["to"], not_for="secrets")
    async def send(
        to: Annotated[str, Arg(pattern="^[^@]+@[^@]+$")],
        tenant: Annotated[str, Arg(inject="tenant")],
        copies: int = 1,
    ) -> None:
        """Send a mail."""

    @tool(effect="read", owner="eng")
    async def look(what: str) -> str:
        """Look something up."""
        return what

    return (send, look)


@pytest.mark.parametrize("dialect", Dialect)
async def test_every_dialect_gets_the_tools_that_the_caller_may_see(dialect: Dialect) -> None:
    async with opened(":memory:", tools(), ONLY_ALICE_SENDS) as gate:
        mine = gate.catalogue.declarations(Caller(ALICE), dialect=dialect)
        theirs = gate.catalogue.declarations(Caller(BOB), dialect=dialect.value)
        assert set(mine.projections) == {"mail.send", "look"}
        assert set(theirs.projections) == {"look"}
        text = json.dumps(list(mine.tools))
        assert "Not for: secrets" in text
        assert "tenant" not in text  # injected: no model sees it
        assert mine.names.original(mine.names.to_wire["mail.send"]) == "mail.send"


async def test_what_a_strict_dialect_changed_is_undone_before_the_gate_sees_it() -> None:
    async with opened(":memory:", tools()) as gate:
        told = gate.catalogue.declarations(Caller(ALICE), dialect="openai-chat-strict")
        projection = told.projections["mail.send"]
        assert projection.back({"to": "a@b.c", "copies": None}) == {"to": "a@b.c"}
        assert isinstance(projection.losses, tuple)


async def test_a_dialect_that_there_is_not_is_refused() -> None:
    async with opened(":memory:", tools()) as gate:
        with pytest.raises(SettingsInvalid, match="openai-chat"):
            gate.catalogue.declarations(Caller(ALICE), dialect="klingon")


async def test_each_act_of_the_catalogue_is_that_of_the_desk_that_does_it() -> None:
    held = {name: each for name, each in vars(CatalogueDesk).items() if isinstance(each, Held)}
    async with Gate.open() as gate:
        desks = {each.desk: getattr(gate.catalogue, each.desk) for each in held.values()}
        for name, each in held.items():
            assert vars(type(desks[each.desk]))[name] is each.method
    own = [{name for name in vars(type(desk)) if not name.startswith("_")} for desk in desks.values()]
    assert set().union(*own) - held.keys() == {"carry"}  # what retiring has moving do
    assert sum(map(len, own)) == len(held) + 1
