"""Budgets of others that a run's requests to models use up: agent, principal, tenant, and what is shared.

Where such a limit counts rounds, tokens or cost, each request holds the most that it can use before it is sent, as a
call does: durably, all or nothing, let go by recovery where its process dies. So runs side by side never oversell. The
run's own limits need none of it: nobody else counts in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import orjson

from interlock.core.budget import Amounts, Exhausted, Reservation, Taken, Unit, exhausted
from interlock.core.call import Caller
from interlock.core.effect import CallEvent
from interlock.core.frozen import frozen
from interlock.core.journal import EventKind
from interlock.core.unreported import MODELS
from interlock.loop.model import Model, Reply
from interlock.models.turn import Turn
from interlock.ports import Claim, Intent, Look, NotClaimed, Settlement, StoredOperation
from interlock.runtime.gate import Gate
from interlock.runtime.parts import Parts

TRIES = 8
LIFETIME_US = 60_000_000
TOKENS_MAX = 2**40
COUNTED = frozenset({Unit.ROUNDS, Unit.TOKENS, Unit.COST_MICROS})


@frozen
class Used:
    """What one request has used, and whether the provider said so; else it is the most that it can have been."""

    tokens: int = 0
    cost_micros: int = 0
    reported: bool = True


@dataclass(frozen=True, slots=True)
class Held:
    """What one request holds of the budgets of others."""

    claim: Claim
    caller: Caller
    model: str


class Contended(Exception):
    """What budgets depend on kept changing, or others hold what is left of them for now."""


class Holding:
    """Holds and settles for the requests of runs. `is_needed`: whether anybody's limit counts them at all."""

    def __init__(self, gate: Gate, parts: Parts) -> None:
        self._gate = gate
        self._reach = parts
        self.is_needed = parts.looker.limits.counts(COUNTED)

    async def hold(self, model: Model, caller: Caller, body: Mapping[str, object]) -> Held | Exhausted | None:
        """Hold the most that a request can use. None: no limit of others counts it. Raises `Contended`."""
        reach, most = self._reach, most_of(model, body)
        for _ in range(TRIES):
            now_us = reach.world.clock.now_us()
            taken = reach.looker.limits.reservations(caller, None, now_us=now_us)
            if not any(limit.unit in COUNTED for each in taken for limit in each.limits):
                return None
            wanted = Taken.of(_counted(each, most) for each in taken)
            tenant = caller.principal.tenant
            seen = await reach.world.calls.look(Look(tenant, None, caller.run, wanted.scopes, now_us))
            full = [pair for pair in zip(wanted, seen.usage, strict=True) if exhausted(*pair) is not None]
            used_up = next((found for each, usage in full if (found := exhausted(each, (usage[0], 0)))), None)
            if used_up is not None:
                return _for_good(used_up, most)
            if full:  # others hold it, and may use less
                raise Contended
            intent = self._intent(model, caller, wanted, most=most, at_us=now_us)
            claimed = await reach.world.calls.claim(intent)
            if isinstance(claimed, Claim):
                return Held(claimed, caller, model.name)
            if claimed is NotClaimed.EPOCH:
                await reach.views.refresh()
        raise Contended

    async def settle(self, held: Held, used: Used, *, working_ms: int) -> None:
        """Put what was used in place of what was held."""
        reach, caller = self._reach, held.caller
        record = {
            "subject": caller.run or "",
            "principal": caller.principal.id,
            "agent": caller.origin.agent,
            "model": held.model,
            "tokens": used.tokens,
            "cost_micros": used.cost_micros,
            "reported": used.reported,
        }
        spent = Amounts(tokens=used.tokens, cost_micros=used.cost_micros, working_ms=working_ms)
        settlement = Settlement(
            held.claim,
            CallEvent.SUCCEED,
            reach.records.act(EventKind.MODEL_ASKED, caller.principal.tenant, record),
            reach.world.clock.now_us(),
            None,
            spent,
        )
        await self._gate.see_through(_settled(reach, settlement))

    def _intent(self, model: Model, caller: Caller, wanted: Taken, *, most: Amounts, at_us: int) -> Intent:
        reach = self._reach
        amounts = orjson.dumps({"tokens": most.tokens, "cost_micros": most.cost_micros})
        operation = StoredOperation(
            reach.world.new_id(),
            caller.principal.tenant,
            model.name,
            MODELS,
            "",
            "",
            "",
            "",
            caller.principal.id,
            f"{caller.run}.{caller.turn}",
            amounts,
            run=caller.run,
            task=caller.task,
        )
        record = {"subject": caller.run or "", "principal": caller.principal.id, "model": model.name, "held": True}
        event = reach.records.act(EventKind.MODEL_ASKED, caller.principal.tenant, record)
        return Intent(operation, event, wanted, reach.views.current.epoch, at_us, LIFETIME_US)


async def _settled(reach: Parts, settlement: Settlement) -> None:
    await reach.world.calls.settle(settlement)


def _for_good(full: Exhausted, most: Amounts) -> Exhausted:
    """The same without the end of its window where the request would not fit into an empty one either."""
    return replace(full, resets_us=None) if most[full.limit.unit.place] > full.limit.amount else full


def _counted(each: Reservation, most: Amounts) -> Reservation:
    limits = tuple(limit for limit in each.limits if limit.unit in COUNTED)
    return Reservation(each.scope, most, limits)


def most_of(model: Model, body: Mapping[str, object]) -> Amounts:
    """The most that a request can use: a token is a byte at least, and the answer is as long as it may be."""
    inside, outside = len(json.dumps(body, default=str)), model.options.tokens_max
    return Amounts(rounds=1, tokens=inside + outside, cost_micros=cost_of(model, inside, outside))


def cost_of(model: Model, inside: int, outside: int) -> int:
    """What so many tokens in and out cost, rounded up."""
    price = model.price
    return 0 if price is None else -(-(inside * price.input_micros + outside * price.output_micros) // 1_000_000)


def most_used(model: Model, body: Mapping[str, object]) -> Used:
    """What a request is charged of which nobody knows what came."""
    most = most_of(model, body)
    return Used(most.tokens, most.cost_micros, reported=False)


def used_by(model: Model, turn: Turn, body: Mapping[str, object]) -> Used:
    """What an answer is charged: as the provider reports it, else the most that it can have been.

    A number that no answer can have used is no report: below zero, or too large to be counted.
    """
    inside, outside = turn.usage.input_tokens, turn.usage.output_tokens
    if inside is not None and outside is not None and 0 <= inside <= TOKENS_MAX and 0 <= outside <= TOKENS_MAX:
        return Used(inside + outside, 0 if model.price is None else cost_of(model, inside, outside))
    inside = inside if inside is not None and 0 <= inside <= TOKENS_MAX else None
    outside = outside if outside is not None and 0 <= outside <= TOKENS_MAX else None
    if inside is None:
        inside = len(json.dumps(body, default=str))
    if outside is None:
        outside = model.options.tokens_max
    return Used(inside + outside, cost_of(model, inside, outside), reported=False)


def used_in_vain(model: Model, reply: Reply, body: Mapping[str, object]) -> Used:
    """What a request is charged that gave nothing: nothing where it was refused, all where an answer had begun."""
    return used_by(model, reply.turn, body) if reply.status == 200 and reply.turn.raw else Used()
