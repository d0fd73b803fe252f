"""Sets which version a tool's name means by default, and takes that back; each act is on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from interlock.core.agents import WINDOW_S
from interlock.core.call import Principal
from interlock.core.default_versions import DefaultVersion, default_from_bytes, default_to_bytes
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import MoveRefused, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.lifecycle import NAMED, precedence
from interlock.core.move_gates import Grounds, refuse_wordless
from interlock.core.tool import SHARED
from interlock.ports import Registered
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.changes import Planned
from interlock.runtime.common import Common
from interlock.runtime.documents import held_in, standing
from interlock.runtime.versions import Versions

_Change = Callable[[tuple[Registered, ...], "DefaultVersion | None"], DefaultVersion]
"""The default that comes next, of the versions of a name and the default that is set now."""


@dataclass(frozen=True, slots=True)
class _Act:
    """Who sets which default, and why."""

    name: str
    by: Principal
    reason: str
    kind: EventKind


class Promotions:
    """Which version of a name is meant where none is named."""

    def __init__(self, common: Common) -> None:
        self._common = common

    async def default(self, name: str, *, tenant: str = SHARED) -> DefaultVersion | None:
        """What an operator has set as the default version of a name; None: nothing was ever set.

        Where it is None, or its `version` is empty, the name means the version published last.
        """
        for owner in (tenant, SHARED):
            _, stored = await self._stored_default(name, tenant=owner)
            if stored is not None:
                return stored
        return None

    async def defaults(self, *, tenant: str = SHARED) -> dict[str, DefaultVersion]:
        """What operators have set for the names of a tenant and for those that all share, by name, in one read."""
        _, documents = await self._common.world.documents.documents(DocumentKind.DEFAULT)
        found: dict[str, DefaultVersion] = {}
        for each in sorted(documents, key=lambda each: each.tenant == tenant):  # its own after the shared ones
            held = held_in(each, default_from_bytes, what=f"the default version of {each.name}")
            if held is not None and each.tenant in (tenant, SHARED):
                found[each.name] = held
        return found

    async def promote(
        self, name: str, version: str, *, window_s: int = WINDOW_S, by: Principal, reason: str
    ) -> DefaultVersion:
        """Make a version the default of its name, whatever is published after it. It takes hold with the next call.

        What the name meant until now is kept for `window_s`, in which `roll_back` goes back to it: to a version, or to
        following the one published last where that was it. Raises `ActRefused`, `ToolUnknown`, `MoveRefused` where the
        version takes no calls, is the default already, or no reason is given, `PolicyInvalid` where policies do not fit
        it, `DocumentChanged` where somebody else has changed it at the same time.
        """
        _refuse_window(window_s)
        act = _Act(name, by, reason, EventKind.TOOL_PROMOTED)
        return await self._carried_out(act, partial(self._promoted, version=version, window_s=window_s))

    async def follow_newest(self, name: str, *, window_s: int = WINDOW_S, by: Principal, reason: str) -> DefaultVersion:
        """Let a name mean the version published last again, whichever that is: the end of a promotion.

        The version until now is kept for `window_s`, in which `roll_back` goes back to it. Raises as `promote` does:
        `MoveRefused` where no version takes calls, or where the name follows the newest already.
        """
        _refuse_window(window_s)
        act = _Act(name, by, reason, EventKind.TOOL_PROMOTED)
        return await self._carried_out(act, partial(self._following, window_s=window_s))

    async def roll_back(self, name: str, *, by: Principal, reason: str) -> DefaultVersion:
        """Go back to the default before the last promotion, within its window: one act, which takes hold at once.

        Raises `ActRefused`, `ToolUnknown`, or `MoveRefused` where there is no way back, or where the version before
        takes no calls any more.
        """
        return await self._carried_out(_Act(name, by, reason, EventKind.TOOL_ROLLED_BACK), self._gone_back)

    async def _carried_out(self, act: _Act, change: _Change) -> DefaultVersion:
        refuse_wordless(Grounds(reason=act.reason))
        return await self._common.carried_out(partial(self._planned_default, act, change=change))

    async def _planned_default(self, act: _Act, versions: Versions, *, change: _Change) -> Planned[DefaultVersion]:
        """What is to be written, with the versions as they stand: one that is closed meanwhile is looked at again."""
        by, name = act.by, act.name
        own = versions.named(name, (by.tenant, SHARED))
        only_operators(by, "Setting a default", tenants={each.tenant for each in own}, home=self._common.home)
        if not own:
            raise ToolUnknown(f"there is no tool named {name[:128]!r}")
        document, stored = await self._stored_default(own[0].name, tenant=own[0].tenant)
        default = change(own, stored)
        changed = document.changed(default_to_bytes(default))
        await self._common.views.proposed(await self._common.views.sources(), saving=(changed,))
        record = {
            "subject": document.name,
            **signed_by(by),
            "tenant": document.tenant,
            "version": default.version,
            "newest": not default.version,
            "before": default.before,
            "followed": default.followed,
            "until_us": default.until_us,
            "reason": act.reason,
        }
        return Planned(default, documents=(changed,), event=self._common.records.act(act.kind, by.tenant, record))

    def _promoted(
        self, versions: tuple[Registered, ...], stored: DefaultVersion | None, *, version: str, window_s: int
    ) -> DefaultVersion:
        _refuse_closed(versions, version)
        until_us = self._common.world.clock.now_us() + window_s * 1_000_000
        if stored is None or not stored.version:
            return DefaultVersion.first(version, newest=self._published_last(versions), until_us=until_us)
        return stored.promoted(version, until_us=until_us)

    def _following(
        self, versions: tuple[Registered, ...], stored: DefaultVersion | None, *, window_s: int
    ) -> DefaultVersion:
        _refuse_closed(versions, _newest(versions))
        return (stored or DefaultVersion("")).newest(until_us=self._common.world.clock.now_us() + window_s * 1_000_000)

    def _gone_back(self, versions: tuple[Registered, ...], stored: DefaultVersion | None) -> DefaultVersion:
        if stored is None:
            raise MoveRefused(f"no version of {versions[0].name} was promoted: there is nothing to go back from")
        changed = stored.rolled_back(self._common.world.clock.now_us())
        _refuse_closed(versions, changed.version or _newest(versions))
        return changed

    async def _stored_default(self, name: str, *, tenant: str) -> tuple[Document, DefaultVersion | None]:
        """The document of a name's default version, and what stands in it. Raises `StoreError`."""
        document = await standing(self._common.world.documents, DocumentKind.DEFAULT, tenant=tenant, name=name)
        return document, held_in(document, default_from_bytes, what=f"the default version of {name}")

    def _published_last(self, versions: tuple[Registered, ...]) -> str:
        """What the name means where nobody has set it: here, or else wherever its code is."""
        tool = self._common.views.current.catalogue.find(versions[0].tenant, versions[0].name)
        if tool is not None:
            return tool.spec.version
        return _newest(versions)


def _newest(versions: tuple[Registered, ...]) -> str:
    """The version published last, of those that a name may best mean, wherever its code is."""
    return max(enumerate(versions), key=lambda each: (precedence(each[1].state), each[0]))[1].version


def _refuse_window(window_s: int) -> None:
    if window_s < 0:
        raise MoveRefused("window_s is the seconds in which one act goes back, not less than 0")


def _refuse_closed(versions: tuple[Registered, ...], version: str) -> None:
    """Raise where there is no such version, or where it can be no default."""
    found = next((each for each in versions if each.version == version), None)
    name = versions[0].name
    if found is None:
        there = ", ".join(each.version for each in versions)
        raise ToolUnknown(f"{name} has no version {version[:128]!r}; there are {there}")
    if found.state not in NAMED:
        raise MoveRefused(f"{name} {version} is {found.state.value}, which no default is")
