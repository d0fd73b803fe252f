"""Repairs a Gemini history before it is sent, so that every call in it is answered in the very next entry.

The API refuses a history whose responses are not as many as its calls. A call is told by its id where it has one, else
by its name and its place among others of that name. One that was interrupted may have taken effect: the response that
is put in says that nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interlock.models.pairing import INTERRUPTED
from interlock.models.strict import mapping, mappings, text

Entry = dict[str, object]
Part = Mapping[str, object]


def paired(entries: Sequence[Mapping[str, object]]) -> tuple[list[Entry], bool]:
    """The entries, with every call answered once and next. What was already right stays as it is.

    Also whether no call was left without a response at their end.
    """
    repaired: list[Entry] = []
    waiting: list[Mapping[str, object]] = []
    for entry in map(dict, entries):
        parts = mappings(entry.get("parts"))
        if entry.get("role") == "model":
            repaired += _interrupted(waiting)
            waiting = [mapping(part["functionCall"]) for part in parts if part.get("functionCall")]
            repaired.append(entry)
        else:
            repaired += _answered(entry, parts, waiting=waiting)
            waiting = []
    return [*repaired, *_interrupted(waiting)], not waiting


def _answered(entry: Entry, parts: Sequence[Part], *, waiting: Sequence[Mapping[str, object]]) -> list[Entry]:
    given = [part for part in parts if part.get("functionResponse")]
    answers = list(_in_order(given, waiting=waiting))
    if len(answers) == len(given) and all(answer in given for answer in answers):
        return [entry]
    rest = [part for part in parts if part not in given]
    return [entry | {"parts": [*answers, *rest]}] if answers or rest else []


def _in_order(given: Sequence[Part], *, waiting: Sequence[Mapping[str, object]]) -> Iterator[Part]:
    """The responses that answer each call; one of ours for a call that was left without."""
    left = list(given)
    for call in waiting:
        found = next((part for part in left if _answers(mapping(part["functionResponse"]), call)), None)
        if found is not None:
            left.remove(found)
        yield _response(call) if found is None else found


def _answers(response: Mapping[str, object], call: Mapping[str, object]) -> bool:
    wire_id, told = text(call.get("id")), text(response.get("id"))
    return wire_id == told if wire_id and told else response.get("name") == call.get("name")


def _response(call: Mapping[str, object]) -> Part:
    labelled = {"id": call["id"]} if text(call.get("id")) else {}
    return {"functionResponse": {**labelled, "name": call.get("name"), "response": {"error": INTERRUPTED}}}


def _interrupted(calls: Sequence[Mapping[str, object]]) -> list[Entry]:
    return [{"role": "user", "parts": [_response(call) for call in calls]}] if calls else []
