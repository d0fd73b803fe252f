"""The composition root, the only importer of adapters: wires stores, runners and keys to the runtime."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Never

from interlock.adapters import MEMORY, Outside, Store, open_store, ranker_for, runners_for
from interlock.core.budget import ScopeKey, Usage
from interlock.core.call import Caller, Principal, PrincipalKind, ToolCall
from interlock.core.errors import KeyInvalid, SettingsInvalid
from interlock.core.functions import Declaration
from interlock.core.key_mark import KeyMark, key_mark
from interlock.core.observation import Observation
from interlock.core.policy import Mode, PolicySource
from interlock.core.redaction import Redactor
from interlock.core.render import for_model
from interlock.core.signing import fingerprint
from interlock.core.tool import SHARED, ToolSpec
from interlock.declarations import CatalogueDesk
from interlock.declare.find_tools import find_tools
from interlock.declare.given import read_policies, refuse_unknown, refuse_unlike, tools_of
from interlock.declare.hand_off import hand_off
from interlock.declare.read_result import read_result
from interlock.keys import Keys, KeySigner, key_file, read_key_file
from interlock.ports import Clock, Entropy, FactSource, Lease, Onlooker, Principals, Ranker, Secrets, Signer, Wakes
from interlock.proving import provers_of
from interlock.runners.by_kind import RunnersByKind
from interlock.runners.spool import Spools
from interlock.runtime.acts import only_operators
from interlock.runtime.agents import AgentDesk
from interlock.runtime.approvals import ApprovalDesk
from interlock.runtime.audit import AuditDesk
from interlock.runtime.batch import call_many
from interlock.runtime.compensation import CompensationDesk
from interlock.runtime.finding import Finding
from interlock.runtime.gate import Gate as Walk
from interlock.runtime.library import LibraryDesk
from interlock.runtime.parts import Parts
from interlock.runtime.policies import PolicyDesk
from interlock.runtime.records import Records
from interlock.runtime.recovery import Recovered, RecoveryDesk
from interlock.runtime.results import ResultDesk
from interlock.runtime.shadows import Shadows
from interlock.runtime.sight import Sight, may_see_usage
from interlock.runtime.timers import SPREAD, Timers
from interlock.runtime.views import Views
from interlock.runtime.world import World, new_id
from interlock.settings import Publish, Settings
from interlock.store.memory import MemoryStore
from interlock.system import SystemClock, SystemEntropy

if TYPE_CHECKING:
    from ssl import SSLContext

    from interlock.driving import Driving
    from interlock.loop.desk import RunDesk
    from interlock.loop.model import Model
    from interlock.runners.egress import Resolver
    from interlock.runtime.probes import ProbeDesk
    from interlock.store.backup_file import Placed, Tell

log = logging.getLogger("interlock.gate")


@dataclass(frozen=True, slots=True)
class Host:
    """What the embedding program may bring of its own; each has a plain default.

    `models` are those that runs of this process may ask, by their names. `keys` sign the audit log and key its
    digests (default: a file beside the store, readable by its owner only, or in `key_folder`, which is the working
    directory for a database); a `signer` of its own replaces the first. `facts` are for policies (`fact_names` says
    which there are), `principals` say who a requester is today, `secrets` are credentials for handlers. `resolver`
    finds the addresses of HTTP, gRPC and MCP tools, and `tls` says which certificates they trust. `seal` is a
    32-byte key: with it operations, results and payloads are encrypted at rest. `runners` take the place of ours, such
    as stand-ins while examples run. `ranker` orders tools by how well they fit words, in the place of what the settings
    say. `onlooker` is told how far calls of MCP tools are, as their servers say it.
    """

    models: Sequence[Model] = ()
    keys: Keys | None = None
    key_folder: Path | None = None
    signer: Signer | None = None
    facts: FactSource | None = None
    fact_names: Collection[str] = frozenset()
    principals: Principals | None = None
    secrets: Secrets | None = None
    seal: bytes | None = None
    ranker: Ranker | None = None
    clock: Clock | None = None
    entropy: Entropy | None = None
    resolver: Resolver | None = None
    tls: SSLContext | None = None
    runners: RunnersByKind | None = None
    onlooker: Onlooker | None = None

    def __post_init__(self) -> None:
        given: object = self.fact_names
        if isinstance(given, str):
            raise SettingsInvalid("host: fact_names is a collection of names, not one text")
        object.__setattr__(self, "fact_names", frozenset(self.fact_names))
        object.__setattr__(self, "models", tuple(self.models))


PLAIN = Host()

HOMES = {"Settings": tuple(Settings.__dataclass_fields__), "Host": tuple(Host.__dataclass_fields__)}
"""Where what opening does not take itself is given."""


class Gate(Walk):
    """An open Interlock: the gate, with the desks around it. `async with Gate.open(...) as gate:`

    `recovered` counts what opening did about calls that earlier processes left behind. `published` are the versions
    that opening published. `changed` are tools whose code here is another than what is published under their version:
    they cannot be called.
    """

    def __init__(
        self,
        world: World,
        settings: Settings,
        *,
        views: Views,
        records: Records,
        runners: RunnersByKind,
        models: Iterable[Model] = (),
    ) -> None:
        super().__init__(world, settings, views=views, records=records)
        if world.wakes is not None:
            world.wakes.wake_with(self._queues.wake)
        self._runners = runners
        health, opens = self._executor.health, partial(ranker_for, settings, world.ranker)
        finding = Finding(views, health=health, tools_max=settings.tools_max, opens=opens)
        self._parts = Parts(world, views, records, health, self._looker, finding)
        self._loop = asyncio.get_running_loop()
        self._host = Principal(settings.tenant, "host", PrincipalKind.SERVICE, frozenset({"operator", "auditor"}))
        sight = Sight(self._looker, views=views, records=records)
        self.approvals = ApprovalDesk(self, world, records=records, sight=sight)
        self.health = health
        self.catalogue = CatalogueDesk(world, settings, views=views, records=records, health=health, finding=finding)
        self.catalogue.bind_with(self._bound)
        self.catalogue.find_runs_with(self._bound_runs)
        self.examples = LibraryDesk(world, views=views, records=records, home=settings.tenant)
        self.agents = AgentDesk(world, views=views, records=records, home=settings.tenant)
        self.policies = PolicyDesk(world, self._looker, views=views, records=records, home=settings.tenant)
        self.audit = AuditDesk(world, records, settings=settings)
        self.recovery = RecoveryDesk(self, self._parts, sight=sight, settings=settings)
        self.compensations = CompensationDesk(self, world, records=records, views=views)
        self.recovery.and_then(self.compensations.go_on)
        self.results = ResultDesk(world, sight=sight, records=records)
        self.shadows = Shadows(self, self._parts)
        self._shadow = self.shadows.note
        self._driving: Driving | None = None
        self._models = tuple(models)
        self._timers = Timers(redactor=records.redactor, entropy=world.entropy)
        self.recovered = Recovered()
        self.published: tuple[ToolSpec, ...] = ()
        self.changed: tuple[ToolSpec, ...] = ()

    @property
    def runs(self) -> RunDesk:
        """Runs of models: start, watch, say something, pause, hand over, cancel, replay."""
        if self._driving is None:
            from interlock.driving import Driving

            self._driving = Driving(
                self, self._parts, approvals=self.approvals, models=self._models, settings=self._settings
            )
        return self._driving.desk

    @property
    def probes(self) -> ProbeDesk:
        """Probes of real tools: `run_due` is for a timer of the host's."""
        from interlock.runtime.probes import ProbeDesk

        return ProbeDesk(self, self._parts, settings=self._settings)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: str | Path = MEMORY,
        *,
        tools: Iterable[Declaration] = (),
        policies: str | Path | Iterable[PolicySource] | None = None,
        settings: Settings | None = None,
        host: Host = PLAIN,
        **unknown: Never,
    ) -> AsyncIterator[Gate]:
        """Open a store (`:memory:`, a SQLite file, `postgresql://...`), publish `tools`, recover; then close.

        `policies` is a folder of `.cedar` files, or sources, put in force at once; None keeps what there is. Raises
        `SettingsInvalid`, `SpecInvalid`, `PolicyInvalid` or `StoreError` before anything can be called.
        `settings.publish` opens a store without publishing, to read it or to decide in it.
        """
        refuse_unknown(unknown, homes=HOMES)
        refuse_unlike({"settings": (settings, Settings | None), "host": (host, Host)})
        declared = tools_of(tools)
        sources = None if policies is None else read_policies(policies)
        store = await open_store(str(path), sealed_with=host.seal)
        try:
            gate = wired(cls, store, settings or Settings(), host=host, keys=await _keys(store, host))
            await gate.begin(declared, sources)
            try:
                yield gate
            finally:
                await gate.close()
        finally:
            await store.close()

    async def begin(self, tools: Sequence[Declaration], sources: tuple[PolicySource, ...] | None) -> None:
        """Publish, put in force, recover: what `open` does before it hands the gate out."""
        specs = [self._bound(tool) for tool in (*tools, *self._own_tools())]
        publish, settings = self._settings.publish, self._settings
        if publish is not Publish.ALL:
            self.changed = await self.catalogue.changed(specs)
        if publish is Publish.NOTHING:
            if sources is not None:
                raise SettingsInvalid("policies are put in force by a gate that publishes; leave one of the two out")
            await self.catalogue.know(specs)
            return
        wanted = [spec for spec in specs if spec not in self.changed]
        self.published = await self.catalogue.register(wanted, by=self._host, under=sources)
        if sources is not None:
            await self.policies.save(sources, by=self._host)
        self.recovered = await self.recovery.recover()
        self._timers.start("open calls could not be recovered", self.recovery.recover, every_s=settings.reap_every_s)
        if settings.probe_every_s:
            self._timers.start("no probe was made", self.probes.run_due, every_s=settings.probe_every_s, spread=SPREAD)
        if self._models:
            await self.runs.recover()
        if not any(each.mode is Mode.ENFORCE and each.text.strip() for each in await self.policies.sources()):
            log.warning("no policies are in force: every call will be refused; open the gate with policies=...")

    async def _bound_runs(self, digest: str, *, tenant: str | None) -> tuple[str, ...]:
        """The open runs that are bound to a version."""
        from interlock.loop.bound import BoundRuns

        return await BoundRuns(self._world.run_reads)(digest, tenant=tenant)

    def _own_tools(self) -> Iterator[Declaration]:
        """Tools of the gate itself, where an owner is named for them."""
        settings = self._settings
        if settings.results_owner:
            yield read_result(self.results, owner=settings.results_owner)
        if settings.hand_off_owner:
            yield hand_off(self.runs, owner=settings.hand_off_owner)
        if settings.finding_owner:
            yield find_tools(self.runs, owner=settings.finding_owner)

    def _bound(self, tool: Declaration) -> ToolSpec:
        spec = tool.spec()
        self._runners.bind(spec, code=tool.code)
        return spec

    async def call_many(
        self,
        calls: Sequence[ToolCall],
        *,
        principal: Principal,
        run: str | None = None,
        task: str | None = None,
        turn: int = 0,
    ) -> tuple[Observation, ...]:
        """Calls that a model proposed together, one observation each, in order: reads side by side, effects in turn."""
        return await self.propose_many(calls, Caller(principal, run=run, task=task, turn=turn))

    async def propose_many(self, calls: Sequence[ToolCall], caller: Caller) -> tuple[Observation, ...]:
        """The same, for a caller of whom more is known. The place in `calls` is the position in the turn."""
        return await call_many(self, calls, caller, view=self._views.current)

    def call_sync(
        self,
        call: ToolCall,
        *,
        principal: Principal,
        run: str | None = None,
        task: str | None = None,
        key: str | None = None,
    ) -> Observation:
        """`call`, for code on another thread than the event loop's."""
        calling = self.call(call, principal=principal, run=run, task=task, key=key)
        return asyncio.run_coroutine_threadsafe(calling, self._loop).result()

    def for_model(self, observation: Observation) -> str:
        """The observation as text for a model, its result fenced as data by markers that the result cannot know."""
        return for_model(observation, nonce=self._world.entropy.bytes(16).hex())

    async def usage(self, tenant: str, *, by: Principal | None = None) -> tuple[tuple[ScopeKey, Usage], ...]:
        """What was spent, by scope: all of it for the host itself, else what `by` may see (`sight.may_see_usage`)."""
        spent, home = await self._world.ledger.usage(tenant), self._settings.tenant
        return tuple(each for each in spent if by is None or may_see_usage(each[0], by, home=home))

    async def backup(self, path: str | Path, *, by: Principal, tell: Tell | None = None) -> Placed:
        """Copy the store, while it is used, to a new file; that is on record. The key is not in it.

        `tell` hears how much of how much is done, in a thread. Raises `ActRefused` unless `by` is an operator of the
        installation's own tenant, `StoreError` where it is no SQLite file, `NotWritten` with nothing left at `path`.
        """
        from interlock.copies import back_up_open

        only_operators(by, "Backing up", tenants={SHARED}, home=self._settings.tenant)
        return await back_up_open(self.audit, self._world.calls, Path(path), by=by, tell=tell)

    async def close(self) -> None:
        """Wait for calls on their way, then sign where the audit log stands."""
        if self._driving is not None:
            await self._driving.close()
        await self._timers.stop()
        await self.shadows.close()
        await super().close()
        await self._runners.close()
        await self.audit.sign()


def wired(kind: type[Gate], store: Store, settings: Settings, *, host: Host, keys: Keys) -> Gate:
    """A gate on a store that is open already, which whoever opened it closes. `begin` makes it ready for calls."""
    redactor = Redactor(settings.secrets)
    clock = host.clock or SystemClock()
    entropy = host.entropy or SystemEntropy()
    spools = Spools(store.artifacts, clock, lambda: new_id(clock.now_us(), entropy))
    runners = host.runners
    if runners is None:
        outside = Outside(host.resolver, host.tls, host.onlooker)
        runners = runners_for(settings, redactor=redactor, spools=spools, outside=outside)
    world = World(
        calls=store,
        approvals=store,
        recovery=store,
        look_ups=store,
        closings=store,
        compensations=store,
        catalogue=store,
        documents=store.documents,
        audit=store,
        ledger=store,
        retention=store,
        lease=store if isinstance(store, Lease) else None,
        wakes=store if isinstance(store, Wakes) else None,
        artifacts=store.artifacts,
        runs=store.runs,
        run_reads=store.runs,
        runners=runners,
        clock=clock,
        entropy=entropy,
        signer=host.signer or KeySigner(keys.signing),
        facts=host.facts,
        principals=host.principals,
        secrets=host.secrets,
        provers=provers_of(store.address, master=keys.master, seal=host.seal),
        ranker=host.ranker,
    )
    views = Views(store, documents=store.documents, environment=settings.environment, facts=frozenset(host.fact_names))
    records = Records(keys.master, clock=world.clock, entropy=world.entropy, redactor=redactor)
    return kind(world, settings, views=views, records=records, runners=runners, models=host.models)


async def _keys(store: Store, host: Host) -> Keys:
    """The keys of this store: those that it was first opened with, or none. Raises `KeyInvalid`."""
    if isinstance(store, MemoryStore):
        return host.keys or Keys.random()
    kept, file = await store.keys(), Path(f"{store.path}.key")
    if host.key_folder is not None:
        file = host.key_folder / file.name
    keys = host.keys or (key_file(file) if kept is None else _restored(file, kept))
    signer = host.signer or KeySigner(keys.signing)
    mark = key_mark(fingerprint(signer.public_key()), master=keys.master)
    _refuse_other(mark, kept or await store.keep_keys(mark), file=file)
    return keys


def _restored(file: Path, kept: KeyMark) -> Keys:
    """A new key in place of a lost one would make all that was signed before look forged."""
    if not file.exists():
        raise KeyInvalid(f"this store was signed by the key {kept.fingerprint}; {file} is missing: restore it")
    return read_key_file(file)


def _refuse_other(mark: KeyMark, kept: KeyMark, *, file: Path) -> None:
    if mark.fingerprint != kept.fingerprint:
        other = f"the one at hand is {mark.fingerprint}: restore {file}"
        raise KeyInvalid(f"this store was signed by the key {kept.fingerprint}; {other}")
    if mark != kept:
        raise KeyInvalid(f"this store was written with another master key than the one at hand: restore {file}")
