"""What must be true of runs when all are over, however often the processes died that drove them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import orjson

from interlock import Approval, ApprovalState, Gate, Observation, Status
from interlock.core.budget import NOTHING, ScopeKind
from interlock.core.chain import Break
from interlock.core.effect import CallState
from interlock.core.journal import AuditQuery, EventKind
from interlock.loop.entries import Entry, HandedOff, Observed, Responded, read
from interlock.loop.machine import State
from interlock.loop.view import Round, RunView
from interlock.ports import RunQuery, StoredRun
from interlock.store.memory import MemoryStore
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from tests.crash.run_worker import ERRANDS
from tests.crash.run_world import ONCE, Judging, Place
from tests.simulation.people import TENANT

Store = SqliteStore | PostgresStore | MemoryStore


@dataclass(frozen=True)
class Kept:
    """One run as the store has it."""

    head: StoredRun
    entries: tuple[Entry, ...]
    view: RunView

    @property
    def errand(self) -> str:
        """What it was started for."""
        return self.head.id.partition("-")[0]


async def kept_runs(store: Store) -> list[Kept]:
    """All of them, with their journals folded again by the table. Raises `IllegalStep`."""
    found = []
    for head in await store.runs.runs(RunQuery(TENANT, limit=100_000)):
        entries = tuple(map(read, await store.runs.run_entries(TENANT, head.id, limit=100_000)))
        view = RunView(TENANT, head.id)
        for each in entries:
            view.apply(each)
        found.append(Kept(head, entries, view))
    return found


async def wrong_with(
    gate: Gate, store: Store, judge: Judging, *, like: int, cancelled: Collection[str] = ()
) -> list[str]:
    """Every sentence about what is wrong.

    The runs of the life `like` were not killed: all others of their errands end as they did, but for those that were
    cancelled.
    """
    runs = await kept_runs(store)
    models = {each.errand: steps(each.view) for each in runs if each.head.id.endswith(f"-{like}")}
    wrong = []
    for each in runs:
        is_cancelled = each.head.id in cancelled
        wanted = State.CANCELLED if is_cancelled else ERRANDS[each.errand].ends
        wrong += [f"{each.head.id}: {said}" for said in (*_facts(each), *_ends(each, wanted))]
        if not is_cancelled and steps(each.view) != models[each.errand]:
            wrong.append(f"{each.head.id} took other steps: {steps(each.view)} instead of {models[each.errand]}")
    return [
        *wrong,
        *_asked_again(runs, judge),
        *_executed_again(runs, judge),
        *_effects(runs, judge),
        *await _left(gate, store, runs),
    ]


def steps(view: RunView) -> list[object]:
    """What happened in a run, up to times and ids."""
    taken: list[object] = []
    for each in view.history:
        if isinstance(each, Round):
            # What the calls of a cancelled run came to depends on when it heard of that.
            seen = {} if view.state is State.CANCELLED else each.observed
            taken.append((each.turn.text, [(call.name, call.arguments_raw) for call in each.calls]))
            taken.append({position: _plain(observed.seen) for position, observed in sorted(seen.items())})
        elif isinstance(each, HandedOff):
            taken.append(each)
    return [*taken, view.state, view.ended]


def _plain(seen: Observation) -> tuple[object, ...]:
    if seen.tool == "send" and seen.status in (Status.OK, Status.UNKNOWN):
        return ("send", "done, or nobody can tell")
    data = seen.data
    told = {name: value for name, value in data.items() if name != "at"} if isinstance(data, dict) else data
    return seen.tool, seen.status.value, told, None if seen.error is None else seen.error.code.value


def _facts(run: Kept) -> Iterator[str]:
    """Head and journal say the same."""
    head, view = run.head, run.view
    if [each.sequence for each in run.entries] != list(range(1, head.version + 1)):
        yield f"its entries are {[each.sequence for each in run.entries]}, its version {head.version}"
    if head.state != view.state or head.over != view.state.is_over:
        yield f"its head says {head.state} (over: {head.over}), its journal {view.state}"
    if head.held:
        yield "it is held still"


def _ends(run: Kept, wanted: State) -> Iterator[str]:
    """In the state in which its errand ends, with a reason."""
    ended = run.view.ended
    if run.view.state is not wanted or ended is None or not ended.reason:
        yield f"it is {run.view.state}: {ended}"


def _asked_again(runs: list[Kept], judge: Judging) -> Iterator[str]:
    """No turn that was recorded is asked for once more: what is recorded came of the last request for it."""
    asked = judge.asked()
    last = {turn: number for number, turn in sorted(asked.items())}
    answers = [each.body.raw for run in runs for each in run.entries if isinstance(each.body, Responded)]
    labels = [str(orjson.loads(raw).get("id", "turn_0")) for raw in answers]
    for number in [int(label.removeprefix("turn_")) for label in labels]:
        if number and last[asked[number]] != number:
            yield f"{asked[number]} was asked for again after its answer was recorded"


def _told(runs: list[Kept]) -> Iterator[tuple[Place, int]]:
    """Every call that is told to be done, and by which execution."""
    for run in runs:
        for seen in [each.body.seen for each in run.entries if isinstance(each.body, Observed)]:
            data = seen.data
            if seen.status is Status.OK and isinstance(data, dict) and "at" in data:
                yield (run.head.id, seen.tool, str(data["name"])), cast("int", data["at"])


def _executed_again(runs: list[Kept], judge: Judging) -> Iterator[str]:
    """No call whose observation is in the journal is executed once more."""
    starts = judge.starts()
    for place, start in _told(runs):
        if starts[place][-1] != start:
            yield f"{place} was executed again after its observation was recorded"


def _effects(runs: list[Kept], judge: Judging) -> Iterator[str]:
    """Nothing twice, and what is told to be done is done."""
    effects = judge.effects()
    for place, numbers in effects.items():
        if place[1] in ONCE and len(numbers) > 1:
            yield f"{place} took effect {len(numbers)} times"
    for place, start in _told(runs):
        if place[1] in ("put", *ONCE) and start not in effects.get(place, ()):
            yield f"{place} is told to be done, and is not"


async def _left(gate: Gate, store: Store, runs: list[Kept]) -> list[str]:
    """Nothing is held, open or asked any more, but for what nobody can tell; each beginning and end is on record."""
    wrong = []
    opened = await store.open_calls()
    wrong += [
        f"a call of {each.operation.tool} is {each.state}"
        for each in opened
        if each.state is not CallState.UNKNOWN or each.operation.tool != "send"
    ]
    for scope, usage in await store.usage(TENANT):
        unknown = usage.held._replace(calls=0) if hasattr(usage.held, "_replace") else usage.held
        if usage.held.calls > len(opened) or (unknown != NOTHING and not opened):
            wrong.append(f"{scope} holds {usage.held}")
    wrong += _questions(await store.approvals(TENANT))
    verified = await gate.audit.verify()
    if isinstance(verified, Break):
        wrong.append(f"the log is broken: {verified}")
    records = await store.records(AuditQuery(limit=1_000_000))
    for kind in (EventKind.RUN_STARTED, EventKind.RUN_ENDED):
        counts = Counter(each.subject for each in records if each.kind == kind)
        if counts != Counter(each.head.id for each in runs):
            wrong.append(f"{kind} is on record {counts}")
    return wrong + await _counted(store, runs)


def _questions(approvals: Sequence[Approval]) -> Iterator[str]:
    """Nothing is asked twice, but for what a grant was used up for in vain, and nothing is asked still."""
    by_call: dict[str, list[Approval]] = {}
    for each in sorted(approvals, key=lambda approval: approval.asked_at_us):
        by_call.setdefault(each.call_id, []).append(each)
    for call, asked in by_call.items():
        if any(each.state is not ApprovalState.USED for each in asked[:-1]):
            yield f"{call} asked while it had asked already: {[each.state for each in asked]}"
        if ApprovalState.PENDING in {each.state for each in asked}:
            yield f"the run of {call} is over, and it is asked still"


async def _counted(store: Store, runs: list[Kept]) -> list[str]:
    """What a run used is counted once; where requests hold budgets, those that were lost count too."""
    used: Mapping[str, int] = {
        scope.id: usage.used.rounds for scope, usage in await store.usage(TENANT) if scope.kind is ScopeKind.RUN
    }
    return [
        f"{each.head.id} had {each.view.spent.rounds} turns, and {used.get(each.head.id)} are counted"
        for each in runs
        if used.get(each.head.id, 0) < each.view.spent.rounds
    ]
