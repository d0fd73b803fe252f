"""Probes: examples that are called on the real tools, as a principal of its own, to hold what they do against words.

Only reads are probed, only those that operators have published as probes, and only through the gate: policy has to let
the group `probe` call them, limits on the principal `probe` are its budget, and each call is on record like any other.
One that fails marks its tool degraded where the settings let it, and proposes quarantine; it never does more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
from interlock.core.canonical import canonical, decode
from interlock.core.catalogue import Tool
from interlock.core.decision import propose
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import DocumentChanged
from interlock.core.example import ToolExample
from interlock.core.example_names import example_name
from interlock.core.journal import EventKind
from interlock.core.observation import Observation
from interlock.core.operation import Operation
from interlock.core.probe import (
    EVERY_S,
    Probed,
    ProbeFinding,
    ProbeHistory,
    ProbeRecord,
    ProbeRule,
    every_s,
    is_due,
    judged,
)
from interlock.core.readiness import Readiness, Tally
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json
from interlock.runtime.acts import only_auditors, only_operators
from interlock.runtime.documents import held_in, standing
from interlock.runtime.gate import Gate
from interlock.runtime.health import HealthState
from interlock.runtime.library import examples_in, next_readiness
from interlock.runtime.look import Asked
from interlock.runtime.parts import Parts
from interlock.settings import ProbeActs, Settings

log = logging.getLogger("interlock.probes")

PROBE: Final = "probe"
"""The id of the principal, the one group that it is in, and the door that its calls come through."""

_MISPLACED: Final = frozenset({ProbeRule.REFUSED, ProbeRule.NO_READ})
"""Findings that are about the probe itself, and say nothing of its tool."""

TRIES_MAX: Final = 20
"""How often a result is written on top of what others write at the same time."""

PROBES_MAX: Final = 100
"""How many probes one pass makes at most; those that are left are as due at the next."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one probe came to. `degraded`: its tool was marked so; `proposes`: what a person may do about it."""

    example: ToolExample
    record: ProbeRecord
    degraded: bool = False
    proposes: str = ""


class ProbeDesk:
    """Runs probes. Owned by the gate's host, who says when."""

    def __init__(self, gate: Gate, parts: Parts, *, settings: Settings) -> None:
        self._gate = gate
        self._parts = parts
        self._acts = settings.probe_acts
        self._home = settings.tenant
        self._principal = Principal(settings.tenant, PROBE, PrincipalKind.SERVICE, frozenset({PROBE}))

    async def run_due(self) -> tuple[ProbeResult, ...]:
        """Make the probes whose time has come, each in one process at a time. For the host: from a timer, or a job.

        `Settings.probe_every_s` has the gate do it by itself.
        """
        found: list[ProbeResult] = []
        made = 0
        for example in await self._published(()):
            if made == PROBES_MAX:
                break
            if await self._take_on(example):
                found.append(await self._seen_through(example))
                made += bool(found[-1].record.digest)  # of one whose tool is not here nothing was made
        return tuple(found)

    async def run(self, tools: Collection[str] = (), *, by: Principal) -> tuple[ProbeResult, ...]:
        """Make the probes of these tools, or all, at once. Raises `ActRefused` unless `by` is an operator."""
        only_operators(by, "Probing", tenants={self._home}, home=self._home)
        return tuple([await self._made(each) for each in (await self._published(tools))[:PROBES_MAX]])

    async def history(self, tool: str, name: str, *, by: Principal) -> ProbeHistory | None:
        """The results of one probe, oldest first; None: it was never made.

        Raises `StoreError`, and `ActRefused` unless `by` may read the log of the installation's own tenant: it probes.
        """
        only_auditors(by, "Reading what probes have found", tenants={self._home})
        return _history_in(await self._document(tool, name))

    async def _history(self, example: ToolExample) -> ProbeHistory | None:
        return _history_in(await self._document(example.tool, example.name))

    async def _take_on(self, example: ToolExample) -> bool:
        """Whether it is due, and this process is the one that makes it: who writes that down first."""
        now_us, found = self._parts.world.clock.now_us(), await self._document(example.tool, example.name)
        before = _history_in(found)
        if not is_due(example, before, now_us=now_us):
            return False
        if self._parts.views.current.catalogue.find(self._home, example.tool) is None:
            return True  # which is told, and left to a process that has the code
        begun = (before or ProbeHistory(example.tool, example.name)).begun(now_us)
        record = {"subject": example.tool, "principal": PROBE, "probe": example.name}
        event = self._parts.records.act(EventKind.TOOL_PROBING, self._home, record)
        try:
            await self._parts.world.documents.save_documents((found.changed(canonical(spec_to_json(begun))),), event)
        except DocumentChanged:
            return False
        return True

    async def _seen_through(self, example: ToolExample) -> ProbeResult:
        """Make it; where the gate ends meanwhile it is as due at the next opening as it was."""
        try:
            return await self._made(example)
        except asyncio.CancelledError:
            await self._let_go(example)
            raise

    async def _let_go(self, example: ToolExample) -> None:
        found = await self._document(example.tool, example.name)
        before = _history_in(found)
        if before is None or not before.begun_us:
            return
        record = {"subject": example.tool, "principal": PROBE, "probe": example.name, "cut_off": True}
        event = self._parts.records.act(EventKind.TOOL_PROBING, self._home, record)
        with suppress(DocumentChanged):  # whoever was faster has a result, or has taken it on
            open_again = canonical(spec_to_json(before.begun(0)))
            await self._parts.world.documents.save_documents((found.changed(open_again),), event)

    async def _published(self, tools: Collection[str]) -> Sequence[ToolExample]:
        """Those that operators have published, whatever files say."""
        _, found = await self._parts.world.documents.documents(DocumentKind.EXAMPLE, tenant=self._home)
        return [each for each in examples_in(found) if each.probe and (not tools or each.tool in tools)]

    async def _made(self, example: ToolExample) -> ProbeResult:
        tool = self._parts.views.current.catalogue.find(self._home, example.tool)
        now_us = self._parts.world.clock.now_us()
        if tool is None:
            gone = ProbeFinding(ProbeRule.REFUSED, f"there is no {example.tool} here to be probed")
            return ProbeResult(example, ProbeRecord(now_us, "", (gone,)))
        strange = self._no_read(example, tool)
        if strange is not None:
            return await self._kept(example, tool, ProbeRecord(now_us, tool.digest, (strange,)))
        probed = await self._probed(example)
        findings = judged(example, tool, probed)
        return await self._kept(example, tool, ProbeRecord(now_us, tool.digest, findings, max(probed.took_ms)))

    def _no_read(self, example: ToolExample, tool: Tool) -> ProbeFinding | None:
        """Why nothing is called: an effect would be real."""
        catalogue = self._parts.views.current.catalogue
        watched = [catalogue.find(self._home, name) for name in example.watch]
        for each in (tool, *watched):
            if each is None or each.spec.effect.is_effect:
                name = "what it watches" if each is None else each.spec.name
                return ProbeFinding(ProbeRule.NO_READ, f"{name} is no read that there is, and only reads are probed")
        return None

    async def _probed(self, example: ToolExample) -> Probed:
        earlier, before = await self._watched(example), await self._version(example)
        first, first_ms = await self._called(example)
        second, second_ms = await self._called(example)
        after, later = await self._version(example), await self._watched(example)
        watched = {name: (earlier[name], later[name]) for name in earlier}
        return Probed(first, second, (first_ms, second_ms), (before, after), watched)

    async def _called(self, example: ToolExample) -> tuple[Observation, int]:
        clock = self._parts.world.clock
        started_s = clock.monotonic_s()
        seen = await self._gate.propose(self._call(example), self._caller(example))
        return seen, round((clock.monotonic_s() - started_s) * 1_000)

    async def _watched(self, example: ToolExample) -> dict[str, bytes | None]:
        """What other reads show that must be as before."""
        caller = self._caller(example)
        calls = {name: ToolCall(PROBE, name, arguments.text) for name, arguments in example.watch.items()}
        return {name: (await self._gate.propose(call, caller)).data_json for name, call in calls.items()}

    async def _version(self, example: ToolExample) -> str | None:
        """The version of the resource by the tool's resolver, where it has one."""
        view = self._parts.views.current
        operation = propose(self._call(example), self._caller(example), view.catalogue)
        if not isinstance(operation, Operation):
            return None
        rule = operation.spec.resource
        if rule is None or not rule.resolved:
            return None
        facts = await self._parts.looker.facts(operation, view, Asked(counted=True))
        return None if facts.resource is None else facts.resource.version

    def _call(self, example: ToolExample) -> ToolCall:
        return ToolCall(PROBE, example.tool, example.arguments.text if example.raw is None else example.raw)

    def _caller(self, example: ToolExample) -> Caller:
        """Its own principal, with the claims of the example: they fill arguments, and open nothing by themselves."""
        claims = example.caller.principal(self._home).claims
        return Caller(replace(self._principal, claims=claims), origin=Origin(door=PROBE))

    async def _kept(self, example: ToolExample, tool: Tool, record: ProbeRecord) -> ProbeResult:
        """Write the result down with what follows from it."""
        before = await self._history(example)
        failed_before = before is not None and bool(before.records) and not before.records[-1].passed
        says_something = any(each.rule not in _MISPLACED for each in record.findings)
        is_last = failed_before and all((await self._others(example, tool)).values())
        degraded = (record.passed or says_something) and self._act(example, tool, record, lifts=is_last)
        proposes = f"quarantine {tool.spec.name} {tool.spec.version}" if says_something else ""
        told = {
            "subject": example.tool,
            "principal": PROBE,
            "version": tool.spec.version,
            "spec": tool.digest,
            "probe": example.name,
            "passed": record.passed,
            "findings": [{"rule": each.rule.value, "says": each.says} for each in record.findings],
            "degraded": degraded,
            "proposes": proposes,
        }
        await self._written(example, record, tool=tool, told=told)
        return ProbeResult(example, record, degraded, proposes)

    async def _written(
        self, example: ToolExample, record: ProbeRecord, *, tool: Tool, told: Mapping[str, object]
    ) -> None:
        """Write it down, on top of what others have written meanwhile."""
        for _ in range(TRIES_MAX):
            documents = (await self._next_history(example, record), await self._next_readiness(example, tool, record))
            event = self._parts.records.act(EventKind.TOOL_PROBED, self._home, told)
            try:
                await self._parts.world.documents.save_documents(documents, event)
            except DocumentChanged:
                continue
            return
        log.warning("the probe %s of %s is not on record: others write at the same time", example.name, example.tool)

    def _act(self, example: ToolExample, tool: Tool, record: ProbeRecord, *, lifts: bool) -> bool:
        """Mark the tool, where it is let and nothing worse is known of it; take it back once none fails."""
        if self._acts is not ProbeActs.DEGRADE:
            return False
        health, spec = self._parts.health, tool.spec
        if not record.passed and health.state(spec) is HealthState.HEALTHY:
            for_s = 2.0 * (every_s(example) or EVERY_S)
            health.set(spec.tenant, spec.name, state=HealthState.DEGRADED, for_s=for_s)
            return True
        if record.passed and lifts and health.state(spec) is HealthState.DEGRADED:
            health.set(spec.tenant, spec.name, state=HealthState.HEALTHY)
        return False

    async def _next_history(self, example: ToolExample, record: ProbeRecord) -> Document:
        found = await self._document(example.tool, example.name)
        before = _history_in(found) or ProbeHistory(example.tool, example.name)
        return found.changed(canonical(spec_to_json(before.with_one(record))))

    async def _next_readiness(self, example: ToolExample, tool: Tool, record: ProbeRecord) -> Document:
        """How all probes of the version stand by now, for the gates of its moves."""
        documents = self._parts.world.documents
        found = await standing(documents, DocumentKind.READINESS, tenant=self._home, name=tool.digest)
        stands = {example.name: record.passed, **await self._others(example, tool)}
        passed = sum(stands.values())
        probes = Tally(passed, len(stands) - passed)
        plain = Readiness(tool=tool.spec.name, version=tool.spec.version, digest=tool.digest)
        return next_readiness(found, plain, lambda known: replace(known, probes=probes))

    async def _others(self, example: ToolExample, tool: Tool) -> dict[str, bool]:
        """Whether each other probe of the version, as far as it was made, passed when it was made last."""
        stands: dict[str, bool] = {}
        for each in await self._published([example.tool]):
            history = None if each.name == example.name else await self._history(each)
            if history is not None and history.records and history.records[-1].digest == tool.digest:
                stands[each.name] = history.records[-1].passed
        return stands

    async def _document(self, tool: str, name: str) -> Document:
        documents = self._parts.world.documents
        return await standing(documents, DocumentKind.PROBE, tenant=self._home, name=example_name(tool, name))


def _history_in(found: Document) -> ProbeHistory | None:
    what = f"the results of the probe {found.name!r}"
    return held_in(found, lambda body: from_json(ProbeHistory, decode(body)), what=what)
