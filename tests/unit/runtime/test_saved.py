"""What was saved is read once, and what cannot be read allows nothing."""

from interlock.core.agents import AgentTools, ToolUse, agent_to_bytes
from interlock.core.default_versions import DefaultVersion, default_to_bytes
from interlock.core.documents import Document, DocumentKind
from interlock.runtime import saved
from interlock.runtime.saved import NO_VERSION, Saved

HELD = AgentTools("clerk", "acme", (ToolUse("search", "1"),), revision=2)
AGENT = Document("acme", DocumentKind.AGENT, "clerk", 2, agent_to_bytes(HELD))
DEFAULT = Document("acme", DocumentKind.DEFAULT, "search", 1, default_to_bytes(DefaultVersion("1")))


def test_a_document_is_read_once() -> None:
    read = Saved()
    assert read.agent(AGENT) == HELD
    assert read.agent(AGENT) is read.agent(AGENT)
    assert read.default(DEFAULT) == DefaultVersion("1")
    assert read.default(DEFAULT) is read.default(DEFAULT)


def test_what_cannot_be_read_allows_nothing() -> None:
    assert Saved().agent(Document("acme", DocumentKind.AGENT, "clerk", 7, b"?")) == AgentTools(
        "clerk", "acme", revision=7
    )
    assert Saved().default(Document("acme", DocumentKind.DEFAULT, "search", 1, b"?")) is NO_VERSION


def test_what_is_remembered_is_bounded(monkeypatch: object) -> None:
    read, most = Saved(), saved.REMEMBERED_MAX
    saved.REMEMBERED_MAX = 2  # type: ignore[misc]
    try:
        for revision in range(5):
            read.agent(AGENT.changed(b"?") if revision == 0 else Document("a", DocumentKind.AGENT, "c", revision, b"?"))
        assert len(read._agents) <= 2
    finally:
        saved.REMEMBERED_MAX = most  # type: ignore[misc]
