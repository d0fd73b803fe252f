"""A model chooses among declared tools for a user's words, and nothing of what it proposes is called."""

from interlock.core.selection import NO_TOOL
from interlock.core.tool_compile import compile_tool
from interlock.loop.choosing import ModelChooser
from interlock.loop.model import Reply
from interlock.models.turn import Ended, Turn
from interlock.testing.models import ScriptedModel
from tests.library import spec

TOOLS = (compile_tool(spec(name="notes.read")), compile_tool(spec(name="send_mail")))


async def test_the_first_call_is_the_choice_by_its_own_name() -> None:
    model = ScriptedModel([[("send_mail", {}), ("notes_read", {})], "I would rather not."])
    chooser = ModelChooser(model, instructions="Choose.")
    assert await chooser.choose("mail it", TOOLS) == "send_mail"
    assert await chooser.choose("hello", TOOLS) == NO_TOOL
    assert chooser.name == "scripted"
    body = model.requests[0]
    assert [each["content"] for each in body["messages"]] == ["Choose.", "mail it"]  # type: ignore[index,attr-defined]


async def test_a_name_that_the_wire_spells_otherwise_leads_back_and_an_invented_one_to_none_of_ours() -> None:
    probe = ScriptedModel(["x"])
    await ModelChooser(probe).choose("x", TOOLS)
    wire = probe.requests[0]["tools"][0]["function"]["name"]  # type: ignore[index]
    model = ScriptedModel([(wire, {}), ("drop_all", {})])
    assert wire != "notes.read"
    assert await ModelChooser(model).choose("read", TOOLS) == "notes.read"
    invented = await ModelChooser(model).choose("read", TOOLS)
    assert invented not in {None, NO_TOOL, "notes.read", "send_mail"}


async def test_a_model_that_cannot_be_reached_has_chosen_nothing() -> None:
    model = ScriptedModel([Reply(Turn("", (), Ended.DROPPED), status=0)])
    assert await ModelChooser(model).choose("read", TOOLS) is None
