"""The half of a run's work in which its model is asked, and what its answer does to the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from interlock.core.budget import Amounts, Exhausted, Reservation, charged
from interlock.core.call import Caller, Principal, ToolCall, storable
from interlock.core.frozen import frozen
from interlock.core.limits import Rows
from interlock.core.observation import Status
from interlock.core.view import View
from interlock.loop.agent import Agent
from interlock.loop.entries import Bound, Check, Ended, Faulted, Responded, Step
from interlock.loop.holding import Contended, Held, Used, most_used, used_by, used_in_vain
from interlock.loop.interrupted import Interrupted
from interlock.loop.machine import Cause, State
from interlock.loop.model import Model, ModelUnknown, Reply
from interlock.loop.offer import Offer, Role, checking
from interlock.loop.reach import caller_for
from interlock.loop.transcript import Transcript
from interlock.loop.verdict import LastTurn, judged, last_turn
from interlock.models.codec import Choice
from interlock.models.dialects import Dialect
from interlock.models.turn import Ended as TurnEnded

if TYPE_CHECKING:
    from interlock.loop.drive import Drive

INLINE_WAIT_S: Final = 2.0
"""A shorter pause before a model is asked again is waited for here; for a longer one the run is let go of."""

PAUSE_S: Final = 0.5
PAUSE_MAX_S: Final = 60.0
ELSEWHERE_S: Final = 2.0
"""When a run is looked at again whose model, or a tool's version, this process does not have: another may."""

ELSEWHERE_MAX_S: Final = 60.0
"""For how long this process lets others have a run that it cannot go on with for want of a version."""


RequestBody = Mapping[str, object]
_ENDS: Final = {
    Cause.ANSWERED: "answered",
    Cause.REFUSED: "refused",
    Cause.GAVE_UP: "model",
}


@frozen
class Heard:
    """What came of one request, and what it used; `is_settled`: that is counted already where others count it.

    `is_passing`: the fault is the server's or the network's, and nothing came that could be used.
    """

    model: Model
    caller: Caller
    reply: Reply
    used: Used
    working_ms: int
    is_settled: bool
    is_passing: bool


@frozen
class _Offered:
    """What was offered last, and what it was worked out from: most turns are offered the same. `lasts`: whatever the
    time is."""

    view: View
    agent: Agent
    dialect: Dialect
    names: tuple[str, ...] | None
    principal: Principal
    offer: Offer
    lasts: bool


# What every turn is compared with: looking a member up in its class costs as much as a call.
_RESPONDED, _CALLED, _NOTHING_RAN = Cause.RESPONDED, Cause.CALLED, Cause.NOTHING_RAN
_RETRY, _AUTO = State.MODEL_RETRY, Choice.AUTO
_DROPPED, _HTTP_ERROR = TurnEnded.DROPPED, TurnEnded.HTTP_ERROR


class Asking:
    """Asks the model of one run."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._transcripts: dict[str, Transcript] = {}
        self._offered: _Offered | None = None
        self._whole_in: View | None = None
        self._counted: tuple[Agent, Principal, Rows] | None = None

    async def step(self) -> bool:
        """Ask for one turn, and write down what came. False: the run rests or is over."""
        drive, view = self._drive, self._drive.view
        if view.state is _RETRY and view.until_us is not None and view.until_us > drive.now_us():
            return await self._wait(view.until_us)
        reach, begun = drive.reach, view.begun
        principal = await reach.today(begun)
        if principal is None:
            await drive.end(Cause.STOPPED, Ended("principal", "Who this run is for is no longer known."))
            return False
        current = reach.views.current
        if current is not self._whole_in:
            gone = reach.offers.missing(current, begun.bound, tenant=view.tenant)
            if gone:
                return await self._without(gone[0])
            self._whole_in = current
        try:
            model = reach.models.named(view.agent.model or begun.model)
        except ModelUnknown:
            return not await drive.rest(until_us=drive.now_us() + int(ELSEWHERE_S * 1_000_000))
        caller = caller_for(view, principal, turn=view.spent.rounds + 1, model=model.name)
        return await self._ask(model, caller)

    async def _without(self, gone: Bound) -> bool:
        """A version to which the run is bound is not here. Where there are other processes, one of them may have it."""
        drive, reach = self._drive, self._drive.reach
        since_us = reach.missed.setdefault((drive.view.tenant, drive.view.id), drive.now_us())
        if reach.world.lease is not None and drive.now_us() - since_us < ELSEWHERE_MAX_S * 1_000_000:
            return not await drive.rest(until_us=drive.now_us() + int(ELSEWHERE_S * 1_000_000))
        reach.missed.pop((drive.view.tenant, drive.view.id))
        why = f"{gone.name} {gone.version}, to which the run is bound, is not here any more."
        await drive.end(Cause.GAVE_UP, Ended("bound_version", why))
        return False

    async def finish(self) -> bool:
        """A turn is recorded, and not yet what it means: the process died, or the task is to be checked first."""
        drive, view = self._drive, self._drive.view
        turn, responded = view.round.turn, view.round.responded
        last = last_turn(view, view.spent.before(responded)) if responded.why else None
        cause, why = judged(turn, last=last)
        success = None
        if cause is Cause.ANSWERED:
            success, missed = await self._checked(responded.model)
            why = " ".join(filter(None, (why, missed)))
        await drive.end(cause, Ended(_reason(cause, last), why, storable(turn.text), success))
        return False

    def offer(self, dialect: Dialect, caller: Caller) -> Offer:
        """The tools of the turn that this caller is at."""
        view, reach, known = self._drive.view, self._drive.reach, self._offered
        agent, current, names, who = view.agent, reach.views.current, view.offered(caller.turn), caller.principal
        if (
            known is not None
            and known.view is current
            and known.agent is agent
            and known.dialect is dialect
            and known.names == names
            and known.principal is who
            and known.lasts
            and reach.health.is_quiet
        ):
            return known.offer
        role = Role(agent, view.agents, dialect, names)
        found = reach.offers.of(current, caller, view.begun.bound, role=role, now_us=self._drive.now_us())
        self._offered = _Offered(current, agent, dialect, names, who, found, found.until_us is None)
        return found

    def offered(self, dialect: str, caller: Caller) -> Offer:
        """The tools of the turn whose calls came: as they were offered, where that is known here."""
        known = self._offered
        if known is not None and known.dialect == dialect and known.agent is self._drive.view.agent:
            return known.offer
        return self.offer(Dialect(dialect), caller)

    # --- one request --------------------------------------------------------------------------------------------------

    async def _ask(self, model: Model, caller: Caller) -> bool:
        drive, view = self._drive, self._drive.view
        last = last_turn(view)
        note = "" if last is None else last.note
        found = self.offer(model.dialect, caller)
        if (said := self._transcripts.get(model.name)) is None:
            said = self._transcripts[model.name] = Transcript(view, model.codec)
        body = model.codec.request(
            said.messages(note=note),
            options=model.options,
            tools=found.declarations.tools,
            choice=_AUTO if last is None else Choice.NONE,
        )
        await drive.sure()
        held = await self._held(model, caller, body) if drive.reach.holding.is_needed else None
        if isinstance(held, Exhausted) and held.resets_us is not None:  # a rate: the run goes on in the next window
            return not await drive.rest(until_us=held.resets_us)
        if isinstance(held, Exhausted):
            await drive.end(Cause.OVER_LIMIT, Ended("budget", _says(held)))
            return False
        return await self._take_in(await self._sent(model, caller, body, held=held), last=last)

    async def _held(self, model: Model, caller: Caller, body: RequestBody) -> Held | Exhausted | None:
        try:
            return await self._drive.reach.holding.hold(model, caller, body)
        except Contended:
            await self._drive.ask(self._drive.reach.world.clock.sleep(PAUSE_S))
            raise Interrupted from None

    async def _sent(self, model: Model, caller: Caller, body: RequestBody, *, held: Held | None) -> Heard:
        """Send one request; what it held is settled whatever becomes of it."""
        drive, clock = self._drive, self._drive.clock
        began_s, used = clock.monotonic_s(), None
        try:
            reply = await drive.ask(model.ask(body))
            is_passing = reply.may_repeat or reply.turn.ended is _DROPPED
            is_in_vain = is_passing or reply.turn.ended is _HTTP_ERROR
            used = used_in_vain(model, reply, body) if is_in_vain else used_by(model, reply.turn, body)
            working_ms = int((clock.monotonic_s() - began_s) * 1_000)
            return Heard(model, caller, reply, used, working_ms, held is not None, is_passing)
        finally:
            if held is not None:
                working_ms = int((clock.monotonic_s() - began_s) * 1_000)
                await drive.reach.holding.settle(held, used or most_used(model, body), working_ms=working_ms)

    async def _take_in(self, heard: Heard, *, last: LastTurn | None) -> bool:
        drive, view, turn, used = self._drive, self._drive.view, heard.reply.turn, heard.used
        if heard.is_passing:
            return await self._fault(heard)
        cause, why = judged(turn, last=last)
        responded = Responded(  # by position, as every turn comes by
            heard.model.name,
            str(heard.model.dialect),
            view.agent.name,
            turn.raw,
            heard.reply.status,
            heard.reply.streamed,
            used.tokens,
            used.cost_micros,
            used.reported,
            heard.working_ms,
            why if cause is _NOTHING_RAN else "" if last is None else last.note,
        )
        first, charges = (*self._again(), _RESPONDED), self._charges(heard, rounds=1)
        if cause is _CALLED:
            await drive.move(Step(responded, (*first, cause)), turn=turn, charges=charges)
            return True
        match cause:
            case Cause.NOTHING_RAN:
                await drive.move(Step(responded, (*first, cause, Cause.RETURNED)), turn=turn, charges=charges)
                return True
            case Cause.ANSWERED if view.begun.check is not None:
                await drive.move(Step(responded, first), turn=turn, charges=charges)
                return await self.finish()
            case _:
                ended = Ended(_reason(cause, last), why, storable(turn.text))
                await drive.move(Step(responded, first), Step(ended, (cause,)), turn=turn, charges=charges)
                return False

    def _again(self) -> tuple[Cause, ...]:
        return (Cause.RETRIED,) if self._drive.view.state is _RETRY else ()

    async def _fault(self, heard: Heard) -> bool:
        """It may work later: the run asks again after a pause, so many times."""
        drive, view, reply = self._drive, self._drive.view, heard.reply
        why = storable(reply.turn.reason) or "the model's server did not answer"
        pause_s = min(PAUSE_S * 2**view.trouble.faults, PAUSE_MAX_S)
        jitter = int.from_bytes(drive.reach.world.entropy.bytes(2), "big") / 65_536
        wait_s = max(reply.retry_after_s or 0.0, pause_s * (0.5 + jitter / 2))
        until_us = drive.now_us() + int(wait_s * 1_000_000)
        faulted = Faulted(
            why[:500], reply.status, until_us, heard.working_ms, heard.used.tokens, heard.used.cost_micros
        )
        step, charges = Step(faulted, (*self._again(), Cause.FAULTED)), self._charges(heard, rounds=0)
        if view.trouble.faults + 1 > view.begun.limits.faults:
            ended = Ended("model", f"{why} ({view.trouble.faults + 1} times in a row)")
            await drive.move(step, Step(ended, (Cause.GAVE_UP,)), charges=charges)
            return False
        await drive.move(step, charges=charges)
        return True

    async def _wait(self, until_us: int) -> bool:
        """Wait for a short pause; let go of the run for a long one."""
        drive = self._drive
        left_s = (until_us - drive.now_us()) / 1_000_000
        if left_s > INLINE_WAIT_S:
            return not await drive.rest(until_us=until_us)
        await drive.ask(drive.reach.world.clock.sleep(left_s))
        return True

    async def _checked(self, model: str) -> tuple[bool | None, str]:
        """Whether the task is done, by the word of the tool that the run was given for that; None where it has none.
        One that cannot be asked says of no task that it is done: then also why it could not."""
        drive, view = self._drive, self._drive.view
        check = view.begun.check
        if check is None:
            return None, ""
        principal = await drive.reach.today(view.begun)
        if principal is None:
            return False, _not_asked(check, "who this run is for is no longer known.")
        caller = caller_for(view, principal, turn=view.spent.rounds + 1, model=model)
        tool = checking(drive.reach.views.current, caller, check.tool, bound=view.begun.bound)
        if tool is None:
            return False, _not_asked(check, "there is no such tool any more that only reads.")
        call = ToolCall(f"{view.id}.check", check.tool, check.arguments)
        seen = await drive.see(drive.reach.gate.propose(call, caller.pinned(tool.digest)))
        if seen.status is Status.OK:
            return seen.data is True, ""
        said = "" if seen.error is None else f" ({seen.error.code.value}: {storable(seen.error.message).rstrip('.')})"
        return False, _not_asked(check, f"its call is {seen.status.value}{said}.")

    def _charges(self, heard: Heard, *, rounds: int) -> tuple[Reservation, ...]:
        """What the request is charged that held nothing."""
        if heard.is_settled:
            return ()
        used = heard.used
        amounts = Amounts(rounds, 0, used.tokens, used.cost_micros, heard.working_ms)
        return charged(self._rows(heard.caller).scopes, amounts)

    def _rows(self, caller: Caller) -> Rows:
        """Where requests of whoever is at the run are counted."""
        agent, now_us, known = self._drive.view.agent, self._drive.now_us(), self._counted
        if known is not None and known[0] is agent and known[1] is caller.principal and known[2].holds(now_us):
            return known[2]
        rows = self._drive.reach.limits.rows(caller, now_us=now_us)
        self._counted = agent, caller.principal, rows
        return rows


def _reason(cause: Cause, last: LastTurn | None) -> str:
    """The word for an end: the limit, where that made a turn the last."""
    return last.limit if last is not None and cause is Cause.OVER_LIMIT else _ENDS.get(cause, "model")


def _not_asked(check: Check, why: str) -> str:
    return f"Its check {check.tool} did not say: {why}"


def _says(full: Exhausted) -> str:
    limit = full.limit
    return f"The budget of {limit.amount} {limit.unit.value} on {limit.scope.value} leaves no room for another request."
