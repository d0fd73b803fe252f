"""Agents are shown with all that bears on a call, and without what decides who is in a share."""

from interlock.core.agents import AgentTools, Canary, Earlier, ShadowRule, ToolUse, Upgrade
from interlock.core.refusals import Code
from interlock.core.routing import Why
from interlock.core.routing_words import Explained
from interlock.doors.cli.agents_shown import document_of, explained_document, explained_text, listed, text_of

USE = ToolUse(
    "search", "1", canary=Canary("2", 50, frozenset({"b"}), "secret-salt"), shadow=ShadowRule("3"),
    earlier=Earlier("0", Upgrade.HELD, 1_000_000),
)  # fmt: skip
AGENT = AgentTools("clerk", "*", (USE, ToolUse("save", "", Upgrade.AUTOMATIC)), owner="eng", revision=4)


def test_the_salt_of_a_canary_is_shown_nowhere() -> None:
    assert "secret-salt" not in f"{document_of(AGENT)}{text_of(AGENT)}{listed([AGENT])}"


def test_each_tool_is_shown_with_what_stands_beside_it() -> None:
    text = text_of(AGENT)
    for part in ("clerk of *, revision 4", "2 for 50 of 1000, b", "the default", "automatic", "0 until 1970-01-01"):
        assert part in text
    assert "It lists no tool." in text_of(AgentTools("x", "acme"))


def test_a_refusal_is_explained_as_one() -> None:
    found = Explained("clerk", "search", "al\x1bice", "9", Why.MISSING, Code.TOOL_UNAVAILABLE, ("not here",))
    assert "search means nothing that may be called (TOOL_UNAVAILABLE)" in explained_text(found)
    assert "\x1b" not in explained_text(found)
    assert explained_document(found)["code"] == "TOOL_UNAVAILABLE"
