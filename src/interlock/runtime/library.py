"""The library of examples in a store: published, reviewed, tried; and what that says of each version of a tool.

What is published carries what a model saw of its tool then: once that is another, the example is stale until somebody
accepts it anew. Nothing that decides about a call reads any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from interlock.core.call import Principal, PrincipalKind
from interlock.core.canonical import canonical, decode
from interlock.core.catalogue import Tool
from interlock.core.decision import Deny
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import ActRefused, SpecInvalid, StoreError, ToolUnknown
from interlock.core.example import Reviewed, ToolExample, domain_of, plain
from interlock.core.example_names import can_be_kept, case_name, example_name, is_case, tool_of
from interlock.core.example_stale import surface_digest
from interlock.core.journal import EventKind
from interlock.core.readiness import Readiness, readiness_from_json, readiness_to_bytes
from interlock.core.selection import Choice, SelectionCase
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json
from interlock.ports.documents import DocumentStore
from interlock.runtime.acts import only_auditors, only_operators, signed_by
from interlock.runtime.documents import held_in, standing
from interlock.runtime.example_from import CallReader
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.world import World

CHOICES_MAX = 20_000
"""How many choices of one chooser are kept, the newest."""


class LibraryDesk:
    """What people do with examples. Those of shared tools belong to the installation's own tenant, `home`."""

    def __init__(self, world: World, *, views: Views, records: Records, home: str) -> None:
        self._world = world
        self._views = views
        self._records = records
        self._home = home
        self._reader = CallReader(world, views=views, records=records)

    async def example_of(self, call_or_operation: str, *, by: Principal) -> ToolExample | Deny:
        """The example that a real call makes, by its id or its operation's. Reading it is authorized, and on record."""
        return await self._reader.example_of(call_or_operation, by=by)

    async def publish(
        self, examples: Iterable[ToolExample], cases: Iterable[SelectionCase] = (), *, by: Principal
    ) -> tuple[ToolExample, ...]:
        """Keep these examples, and these words for tools, in place of all that there were of the tools they are of.

        Those that say what a model saw of their tool keep it; the others are of what it sees today. The examples as
        they are kept. Raises `ActRefused`, or `ToolUnknown` for an example of a tool that there is not.
        """
        wanted = tuple(self._stamped(each, by) for each in examples)
        words = tuple(cases)
        names = {each.tool for each in wanted} | {each.tool for each in words}
        only_operators(by, "Publishing examples", tenants={self._home}, home=self._home)
        kept = {document.name: document for document in await self._documents(DocumentKind.EXAMPLE)}
        bodies = {_name(each): canonical(plain(each)) for each in wanted}
        bodies |= {case_name(each.tool, each.id): canonical(plain(each)) for each in words}
        gone = [name for name in kept if name not in bodies and tool_of(name) in names]
        changed = [
            (kept[name] if name in kept else await self._standing(DocumentKind.EXAMPLE, name)).changed(body)
            for name, body in {**bodies, **dict.fromkeys(gone, b"")}.items()
            if name not in kept or kept[name].body != body
        ]
        if changed:
            record = {
                "subject": "examples",
                **signed_by(by),
                "examples": [{"name": each.name, "revision": each.revision} for each in changed],
                "reviewed": [f"{each.tool}: {each.name}, by {each.reviewed.by}" for each in wanted if each.reviewed],
            }
            await self._save(changed, EventKind.EXAMPLES_SAVED, record, by=by)
        return wanted

    async def examples(self, *, by: Principal) -> tuple[ToolExample, ...]:
        """All that are kept, by tool and name: what real calls were made with stands in some of them.

        Raises `ActRefused` unless `by` may read the log of the installation's own tenant, as the other reads here do;
        `StoreError` where one cannot be read.
        """
        self._refuse_unread(by)
        return await self._examples()

    async def cases(self, *, by: Principal) -> tuple[SelectionCase, ...]:
        """All words for tools that are kept."""
        self._refuse_unread(by)
        found = await self._documents(DocumentKind.EXAMPLE)
        return tuple(from_json(SelectionCase, decode(each.body)) for each in found if is_case(each.name))

    async def accept(self, tool: str, name: str, *, by: Principal, reason: str) -> ToolExample:
        """Say of an example that it holds: of the tool as a model sees it today, and in the tool's own domain.

        Raises `ActRefused` unless `by` is a person who is an operator and says why; `ToolUnknown`.
        """
        only_operators(by, "Accepting an example", tenants={self._home}, home=self._home)
        if by.kind is not PrincipalKind.HUMAN or by.acts_for_another or not reason.strip():
            raise ActRefused("Accepting an example takes a person, and what they looked at, in words.")
        found = await self._standing(DocumentKind.EXAMPLE, example_name(tool, name))
        if found.is_removed:
            raise ToolUnknown(f"there is no example {name!r} of {tool!r}")
        spec = self._tool(tool, by).spec
        example = replace(_read(found), seen=surface_digest(spec))
        if example.domain not in ("", domain_of(spec)):
            at = datetime.fromtimestamp(self._world.clock.now_us() // 1_000_000, UTC).isoformat()
            example = replace(example, reviewed=Reviewed(by=by.id, at=at, why=reason))
        record = {"subject": tool, **signed_by(by), "example": name, "domain": example.domain, "reason": reason}
        changed = found.changed(canonical(plain(example)))
        await self._save([changed], EventKind.EXAMPLE_ACCEPTED, record, by=by)
        return example

    async def carried(self, examples: Iterable[ToolExample]) -> tuple[ToolExample, ...]:
        """The same examples with what was accepted of those that are kept and have not changed since."""
        kept = {_name(each): each for each in await self._examples()}
        return tuple(_carried(each, kept.get(_name(each))) for each in examples)

    async def keep(self, found: Sequence[Readiness], *, by: Principal) -> None:
        """Keep how the examples of versions stand as of now, for the gates of their moves; their words and probes stay
        as they were kept. Raises `ActRefused`, or `DocumentChanged` where somebody has kept others at the same time."""
        now_us = self._world.clock.now_us()
        dated = [replace(each, at_us=now_us) if each.is_tried else each for each in found]
        await self._keep(dated, _with_examples, by=by)

    async def keep_words(self, found: Sequence[Readiness], *, by: Principal) -> None:
        """Keep whether words lead to versions; their examples and probes stay as they were kept. Raises as `keep`."""
        await self._keep(found, _with_words, by=by)

    async def _keep(
        self, found: Sequence[Readiness], changed: Callable[[Readiness, Readiness], Readiness], *, by: Principal
    ) -> None:
        only_operators(by, "Keeping results of examples", tenants={self._home}, home=self._home)
        documents: list[Document] = []
        for each in found:
            plain = Readiness(tool=each.tool, version=each.version, digest=each.digest)
            stored = await self._standing(DocumentKind.READINESS, each.digest)
            documents.append(next_readiness(stored, plain, partial(changed, each)))
        record = {
            "subject": "readiness",
            **signed_by(by),
            "versions": [
                {"tool": each.tool, "version": each.version, "spec": each.digest, "passed": sum(each.passed.values()),
                 "failing": [*each.failing]} for each in found
            ],
        }  # fmt: skip
        if documents:
            await self._save(documents, EventKind.EXAMPLES_RAN, record, by=by)

    async def readiness(self, digest: str, *, by: Principal) -> Readiness | None:
        """What is known of the version of this digest; None: nothing, its examples never ran."""
        self._refuse_unread(by)
        return await readiness(self._world.documents, digest, home=self._home)

    async def choices(self, chooser: str, *, by: Principal) -> tuple[Choice, ...]:
        """What a chooser chose for words, as far as that is kept."""
        self._refuse_unread(by)
        return _choices(await self._standing(DocumentKind.CHOICES, chooser))

    async def keep_choices(self, chooser: str, made: Iterable[Choice], *, by: Principal) -> None:
        """Keep what a chooser chose, in place of what it chose before for the same words and the same agent."""
        only_operators(by, "Keeping choices", tenants={self._home}, home=self._home)
        new = {(each.case, each.agent): each for each in made}
        # Read once: what others keep meanwhile is never written over.
        stored = await self._standing(DocumentKind.CHOICES, chooser)
        before = {(each.case, each.agent): each for each in _choices(stored)}
        kept = [*{**{place: each for place, each in before.items() if place not in new}, **new}.values()]
        body = canonical([spec_to_json(each) for each in kept[-CHOICES_MAX:]])
        record = {"subject": chooser, **signed_by(by), "choices": len(new)}
        await self._save([stored.changed(body)], EventKind.CHOICES_MADE, record, by=by)

    def _refuse_unread(self, by: Principal) -> None:
        only_auditors(by, "Reading the library of examples", tenants={self._home})

    async def _examples(self) -> tuple[ToolExample, ...]:
        return examples_in(await self._documents(DocumentKind.EXAMPLE))

    def _tool(self, name: str, by: Principal) -> Tool:
        found = self._views.current.catalogue.find(by.tenant, name)
        if found is None:
            raise ToolUnknown(f"there is no tool named {name!r}")
        return found

    def _stamped(self, example: ToolExample, by: Principal) -> ToolExample:
        spec = self._tool(example.tool, by).spec
        if not can_be_kept(example.tool, example.name):
            raise SpecInvalid(f"{example.tool}: an example of it has a name that cannot be kept")
        return example if example.seen else replace(example, seen=surface_digest(spec))

    async def _documents(self, kind: DocumentKind) -> tuple[Document, ...]:
        return (await self._world.documents.documents(kind, tenant=self._home))[1]

    async def _standing(self, kind: DocumentKind, name: str) -> Document:
        return await standing(self._world.documents, kind, tenant=self._home, name=name)

    async def _save(
        self, documents: Sequence[Document], kind: EventKind, record: Mapping[str, object], *, by: Principal
    ) -> None:
        await self._world.documents.save_documents(tuple(documents), self._records.act(kind, by.tenant, record))


async def readiness(documents: DocumentStore, digest: str, *, home: str) -> Readiness | None:
    """What is known of the version of this digest, for whoever decides about its moves; None: nothing."""
    return _readiness_in(await standing(documents, DocumentKind.READINESS, tenant=home, name=digest))


def next_readiness(stored: Document, plain: Readiness, change: Callable[[Readiness], Readiness]) -> Document:
    """The document of a version with what has changed of it: of that one which was read, so that nothing is lost."""
    return stored.changed(readiness_to_bytes(change(_readiness_in(stored) or plain)))


def _readiness_in(found: Document) -> Readiness | None:
    what = f"what is known of the version {found.name}"
    return held_in(found, lambda body: readiness_from_json(decode(body)), what=what)


def _with_examples(new: Readiness, old: Readiness) -> Readiness:
    return replace(new, selection=old.selection, risk=old.risk, probes=old.probes)


def _with_words(new: Readiness, old: Readiness) -> Readiness:
    return replace(old, selection=new.selection, risk=new.risk)


def _choices(found: Document) -> tuple[Choice, ...]:
    held = held_in(found, decode, what=f"what {found.name} has chosen")
    return tuple(from_json(Choice, each) for each in held) if isinstance(held, list) else ()


def _carried(example: ToolExample, kept: ToolExample | None) -> ToolExample:
    if kept is None or replace(kept, seen="", reviewed=None) != replace(example, seen="", reviewed=None):
        return example
    return replace(example, seen=example.seen or kept.seen, reviewed=example.reviewed or kept.reviewed)


def _name(example: ToolExample) -> str:
    return example_name(example.tool, example.name)


def examples_in(documents: Iterable[Document]) -> tuple[ToolExample, ...]:
    """The examples among these documents. Raises `StoreError` where one cannot be read."""
    return tuple(_read(each) for each in documents if not is_case(each.name))


def _read(document: Document) -> ToolExample:
    try:
        return from_json(ToolExample, decode(document.body))
    except ValueError as broken:
        raise StoreError(f"the example {document.name} cannot be read") from broken
