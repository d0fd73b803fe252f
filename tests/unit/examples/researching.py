"""One research task at a real gate, with a model whose answers are written down, for the tests of the example."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from chat_model import ChatModel
from documents import Library, split
from main import HERE
from research_tools import research_tools
from screen import Screen
from session import Session, task_of

from interlock import Gate
from interlock.models.openai_chat import Options

QUESTION = "How are backups kept?"
DOCUMENT = (
    "# Backups\n\nBackups are kept.\n\n# Kept\n\nThey are kept for a year.\n\n# More\n\nBackups are kept twice.\n"
)
SEARCHES = ("search_documents", {"query": "backups kept"})


@asynccontextmanager
async def session_at(home: Path, *, document: str = DOCUMENT) -> AsyncIterator[Session]:
    """One start of the program over one document."""
    with Library(tuple(split("a.md", text=document))) as library:
        tools = research_tools(library, drafts=home / "drafts")
        async with Gate.open(home / "interlock.db", tools=tools, policies=HERE / "policies") as gate:
            yield Session(gate, Screen(plain=True), task_of(QUESTION, docs=home), QUESTION, home)


def saves(*numbers: int) -> tuple[str, dict[str, object]]:
    return "save_draft", {"draft_id": "backups-kept", "passages": [*numbers]}


def model_that_proposes(calls: Sequence[tuple[str, dict[str, object]]]) -> ChatModel:
    """It proposes these, one a turn; whoever asks once more has asked too often."""
    left = [_answer(name, json.dumps(arguments)) for name, arguments in calls]
    client = httpx.Client(
        base_url="https://model.test/v1",
        transport=httpx.MockTransport(lambda _: httpx.Response(200, content=left.pop(0))),
    )
    return ChatModel(Options(model="written-down", tokens_max=9, stream=True), place="model.test", client=client)


def _answer(name: str, arguments: str) -> bytes:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    chunk = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
