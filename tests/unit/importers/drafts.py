"""Functions that the manifests of these tests name."""

from interlock.declare import tool


async def save_draft(draft_id: str, content: str = "") -> dict[str, str]:
    """Save a draft of the report under its id."""
    return {"id": draft_id}


async def find_draft(draft_id: str) -> object:
    return None


@tool(effect="read")
async def read_draft(draft_id: str) -> str:
    """Read a draft of the report by its id."""
    return draft_id


constant = 3
