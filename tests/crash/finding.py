"""What a process that searches for tools and the one that takes over from it have in common."""

from contextlib import AbstractAsyncContextManager

from interlock import Gate, Host, PolicySource, Settings, tool
from interlock.testing.models import ScriptedModel
from tests.gates import AnyTool

TASK = "Send the invoice of March."
POLICIES = (PolicySource("all", '@id("all") permit (principal, action, resource);'),)


def _made(name: str, words: str) -> AnyTool:
    @tool(effect="read", owner="eng", name=name, description=words)
    async def handler(what: str) -> str:
        return what

    return handler


TOOLS = tuple(
    _made(f"{word}_{at}", f"Reads {word} data of region {at}.")
    for word in ("invoice", "garden", "music", "travel")
    for at in range(10)
)


def opened(store: str, model: ScriptedModel, *, tools_max: int) -> AbstractAsyncContextManager[Gate]:
    """The gate of one process on the store."""
    settings = Settings(tenant="acme", finding_owner="eng", tools_max=tools_max, runs_every_s=0.05, reap_every_s=0.05)
    return Gate.open(store, tools=TOOLS, policies=POLICIES, settings=settings, host=Host(models=(model,)))
