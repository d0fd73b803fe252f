"""What if: proposals that a clumsy or hostile model might make next, with what the gate says to each and why.

The program makes them itself, so that they are the same in every demonstration. None of them runs anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from documents import RESULTS_MAX
from prompts import SAVE_NAME, SEARCH_NAME
from session import Session

from interlock import Observation
from interlock.core.canonical import Json

# A repeat is known by what a model supplies, so what is attested beside it makes no difference here.
NOT_SEARCHED: Final = "Nothing was searched for this proposal."


async def what_if(session: Session, saved: Observation) -> None:
    """Propose each after the draft was saved, and show what comes of it."""
    session.screen.heading("What if a model goes on like this? (proposed by this program, one by one)")
    for name, arguments, why in _attempts(saved.data):
        session.screen.say("PROPOSED", f"{name} {arguments}")
        caller = session.caller(proposer="what-if", found=NOT_SEARCHED)
        seen = await session.gate.propose(session.call(name, arguments), caller)
        session.turn += 1
        session.take(seen, why=why)


def _attempts(data: Json) -> Iterator[tuple[str, str, str]]:
    saved = data if isinstance(data, dict) else {}
    draft_id, passages = saved.get("draft_id"), saved.get("passages")
    same = json.dumps({"draft_id": draft_id, "passages": passages})
    other = json.dumps({"draft_id": draft_id, "passages": _others(passages)})
    yield SAVE_NAME, same, "the same call again: the recorded result comes back, nothing is saved twice"
    yield SAVE_NAME, other, "the same draft with other passages: one key, two contents, so the second is refused"
    yield "delete_draft", json.dumps({"draft_id": draft_id}), "the tool exists, but policy gives it to nobody"
    yield "save_everything", "{}", "a tool that does not exist looks the same to who may not know"
    yield SAVE_NAME, '{"draft_id": "half-', "cut off in the middle: never completed, never guessed"
    yield SEARCH_NAME, '{"query": ["a", "list"]}', "arguments that do not fit the schema never reach the tool"


def _others(passages: Json) -> list[int]:
    taken = passages if isinstance(passages, list) else []
    return [number for number in range(1, RESULTS_MAX + 1) if number not in taken][:2]
