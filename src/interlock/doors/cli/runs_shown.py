"""Shows runs at the command line, redacted: how one stands, what happened in it, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from interlock.core.redaction import Redactor
from interlock.doors.cli.answer import DONE, REFUSED, Answer
from interlock.doors.cli.observed import FAILED, WAITING
from interlock.doors.cli.shown import as_document, counted, fields, moment, rows, visible
from interlock.loop.machine import RESTING, State

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.loop.events import RunEvent
    from interlock.loop.replay import Redecided
    from interlock.loop.report import RunReport
    from interlock.ports import StoredRun

EXIT_CODES: Final[Mapping[State, int]] = {
    State.COMPLETE: DONE,
    State.STOPPED: REFUSED,
    State.FAILED: FAILED,
    State.CANCELLED: FAILED,
    State.ABORTED: FAILED,
}


MODEL_FAILED: Final = "model"
_LOOK_AT_MODEL: Final = "Look at the model's address and key ([[models]] in interlock.toml), then start the run again."


def answer_of(report: RunReport) -> Answer:
    """How a run stands, as a verb's answer. One whose check found the task not done has not come to its end well."""
    step = next_step(report)
    document = _redacted(as_document(report))
    text = "\n".join([text_of(document), *([f"Next: {visible(step)}"] if step else [])])
    code = EXIT_CODES.get(report.state, WAITING)
    return Answer({**document, "next": step}, text, FAILED if report.success is False and code == DONE else code)


def next_step(report: RunReport) -> str:
    """What a person may do about a run now; empty where it is over."""
    run = report.id
    if report.state.is_over:
        is_unanswered = report.state is State.FAILED and report.reason == MODEL_FAILED
        return _LOOK_AT_MODEL if is_unanswered else ""
    if report.waiting and report.state is State.WAITING_APPROVAL:
        return (
            f"`interlock approvals approve {report.waiting[0]} --as ID`, then `interlock runs resume {run}`, "
            "unless a program with an open gate drives it."
        )
    if report.state is State.WAITING_HUMAN:
        return f"`interlock runs hand-back {run} --text WORDS` gives it back to the model."
    return f"`interlock runs resume {run}` goes on with it; `interlock runs events {run} --follow` watches it."


def text_of(document: Mapping[str, Json]) -> str:
    """A run for people."""
    success = {True: "yes", False: "no"}.get(document["success"] is True) if document["success"] is not None else None
    started_us = document["started_us"]
    return fields(
        [
            ("Run", f"{document['id']} ({document['state']})"),
            ("Task", document["task"]),
            ("For", document["principal"]),
            ("Agent", document["agent"]),
            ("Model", document["model"]),
            ("Started", moment(started_us) if isinstance(started_us, int) else None),
            ("Spent", spent_of(document["spent"])),
            ("Waits for", document["waiting"]),
            ("Trouble", document["fault"]),
            ("Unknown", document["unknown"]),
            ("Ended", document["reason"]),
            ("Because", document["why"]),
            ("Done", success),
            ("Answer", document["answer"]),
        ]
    )


def spent_of(spent: Json) -> str:
    """What a run has used up, in a line."""
    if not isinstance(spent, dict):
        return ""
    counts = [counted(int(str(spent[name])), name[:-1]) for name in ("rounds", "calls", "tokens")]
    cost = int(str(spent["cost_micros"]))
    return ", ".join([*counts, *([f"{cost / 1_000_000:g} of currency"] if cost else [])])


def list_of(found: tuple[StoredRun, ...], *, over: int = 0) -> Answer:
    """Runs as a table. Where it is empty: how many are over, and were not asked for."""
    header = ("Run", "State", "Agent", "For", "Started", "Last moved", "Driven")
    values = [
        (
            each.id,
            each.state,
            each.agent,
            each.principal,
            moment(each.started_us),
            moment(each.changed_us),
            "yes" if each.held else "",
        )
        for each in found
    ]
    others = f"None is under way; --all shows {over} that {'is' if over == 1 else 'are'} over."
    text = rows(header, values, empty=others if over else "There is no run.")
    return Answer({"runs": [head_document(each) for each in found]}, text)


def head_document(found: StoredRun) -> dict[str, Json]:
    """Where a run stands, without what is the store's alone."""
    document = as_document(found)
    return {name: value for name, value in document.items() if name not in ("fence", "wake_us", "tenant")}


def event_line(event: RunEvent) -> str:
    """One thing that happened, in a line. Events come redacted."""
    return visible(f"{event.cursor:>4}  {event.kind:<10}  {_said(event)}".rstrip()).replace("\n", "\n" + " " * 18)


def _said(event: RunEvent) -> str:
    data = event.data
    match event.kind:
        case "begun":
            return f"{data['task']} (agent {data['agent']}, model {data['model']}, {data['tools']} tools)"
        case "responded":
            return _responded(data)
        case "observed":
            again = " (replayed)" if data["replayed"] else ""
            waits = f" approval {data['approval_id']}" if data["status"] == "waiting" else ""
            words = " ".join(str(data[each]) for each in ("tool_code", "code", "says") if data[each])
            return f"{data['tool']}: {data['status']}{again}{waits} {words}"
        case "faulted":
            until_us = data["until_us"]
            return f"{str(data['why']).rstrip('.')}; again at {moment(until_us if isinstance(until_us, int) else None)}"
        case "said":
            return f"{data['by']}: {data['text']}"
        case "wished":
            return f"{data['by']} wants it to {str(data['what']).replace('_', ' ')}. {data['text']}"
        case "handed_off":
            return f"to {data['agent']}: {data['message']}"
        case "ended":
            words = " ".join(str(data[each]) for each in ("why", "answer") if data[each])
            return f"{event.state.value}, {data['reason']}: {words}"
        case _:
            return f"{event.state.value.replace('_', ' ')}. {data.get('why', '')}"


def _responded(data: Mapping[str, Json]) -> str:
    calls = data["calls"]
    names = [str(each["name"]) for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []
    words = [f"{data['agent']} calls {', '.join(names)}."] if names else []
    words += [str(data[each]) for each in ("text", "why") if data[each]]
    return " ".join(words)


def replayed(run_id: str, found: tuple[Redecided, ...]) -> tuple[dict[str, Json], str]:
    """What would be decided otherwise, as a document and in words."""
    differ = [each for each in found if each.differs]
    header = ("Turn", "Call", "Tool", "Then", "Now", "Because")
    values = [(each.turn, each.call_id, each.tool, each.then, each.now, each.because) for each in differ]
    calls: list[Json] = [{**as_document(each), "differs": each.differs} for each in found]
    of = f"{len(differ)} of {counted(len(found), 'call')} would be decided otherwise."
    text = rows(header, values, empty="") + f"\n{of}"
    redactor = Redactor()
    document = _redacted({"run": run_id, "differ": len(differ), "calls": calls})
    return document, redactor.text(text.lstrip("\n"))


def rests(head: StoredRun) -> bool:
    """Whether a run waits for people, and nobody is at it."""
    return not head.held and State(head.state) in RESTING


def _redacted(document: dict[str, Json]) -> dict[str, Json]:
    found = Redactor().json(document)
    return found if isinstance(found, dict) else {}
