"""Sets which version a tool's name means by default, and takes that back; each act is on record."""

from __future__ import annotations

from interlock.core.agents import WINDOW_S
from interlock.core.call import Principal
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import SpecInvalid, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.lifecycle import CLOSED, Use, precedence, refusal
from interlock.core.rollouts import Rollout, rollout_from_bytes, rollout_to_bytes
from interlock.core.tool import SHARED
from interlock.ports import Registered
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.retiring import Retiring


class Promotions(Retiring):
    """What is published, and which version of it is meant where none is named."""

    async def default(self, name: str, *, tenant: str = SHARED) -> Rollout | None:
        """The default version that an operator has set for a name; None: it is the version published last."""
        for owner in (tenant, SHARED):
            found = await self._world.documents.document(DocumentKind.ROLLOUT, tenant=owner, name=name)
            if found is not None and not found.is_removed:
                return rollout_from_bytes(found.body)
        return None

    async def promote(
        self, name: str, version: str, *, window_s: int = WINDOW_S, by: Principal, reason: str
    ) -> Rollout:
        """Make a version the default of its name, whatever is published after it. It takes hold with the next call.

        The default until now is kept for `window_s`, in which `roll_back` goes back to it. Raises `ActRefused`,
        `ToolUnknown`, `SpecInvalid` where the version takes no calls or is the default already, `PolicyInvalid` where
        policies do not fit it, `DocumentChanged` where somebody else has changed it at the same time.
        """
        versions = await self.list_versions(name, tenant=by.tenant)
        found = next((each for each in versions if each.version == version), None)
        only_operators(by, "Promoting a tool", tenants={each.tenant for each in versions}, home=self._home)
        if found is None:
            there = f"there are {', '.join(each.version for each in versions)}" if versions else "there is no such tool"
            raise ToolUnknown(f"{name[:128]} has no version {version[:128]!r}; {there}")
        if found.state in CLOSED or refusal(found.state, Use.NAME) is not None:
            raise SpecInvalid(f"{name} {version} is {found.state.value}, which no default is")
        document, stored = await self._rollout(found)
        if window_s < 0:
            raise SpecInvalid("window_s is the seconds in which one act goes back, not less than 0")
        until_us = self._world.clock.now_us() + window_s * 1_000_000
        before = stored or Rollout(self._published_last(versions))
        is_set = stored is None and before.version in ("", version)  # from now on it stays, and nothing comes before it
        changed = Rollout(version) if is_set else before.promoted(version, until_us=until_us)
        await self._set(document, changed, kind=EventKind.TOOL_PROMOTED, by=by, reason=reason)
        return changed

    async def roll_back(self, name: str, *, by: Principal, reason: str) -> Rollout:
        """Go back to the default before the last promotion, within its window: one act, which takes hold at once.

        Raises `ActRefused`, `ToolUnknown`, or `SpecInvalid` where there is no way back.
        """
        versions = await self.list_versions(name, tenant=by.tenant)
        only_operators(by, "Rolling a tool back", tenants={each.tenant for each in versions}, home=self._home)
        if not versions:
            raise ToolUnknown(f"there is no tool named {name[:128]!r}")
        document, stored = await self._rollout(versions[0])
        if stored is None:
            raise SpecInvalid(f"no version of {name} was promoted: there is nothing to go back from")
        changed = stored.rolled_back(self._world.clock.now_us())
        await self._set(document, changed, kind=EventKind.TOOL_ROLLED_BACK, by=by, reason=reason)
        return changed

    async def _rollout(self, found: Registered) -> tuple[Document, Rollout | None]:
        """The document of a name's default version, new where there is none, and what stands in it."""
        place = await self._world.documents.document(DocumentKind.ROLLOUT, tenant=found.tenant, name=found.name)
        if place is None:
            return Document(found.tenant, DocumentKind.ROLLOUT, found.name, 0, b""), None
        return place, None if place.is_removed else rollout_from_bytes(place.body)

    def _published_last(self, versions: tuple[Registered, ...]) -> str:
        """What the name means where nobody has set it: here, or else wherever its code is."""
        tool = self._views.current.catalogue.find(versions[0].tenant, versions[0].name)
        if tool is not None:
            return tool.spec.version
        return max(enumerate(versions), key=lambda each: (precedence(each[1].state), each[0]))[1].version

    async def _set(self, document: Document, rollout: Rollout, *, kind: EventKind, by: Principal, reason: str) -> None:
        changed = document.changed(rollout_to_bytes(rollout))
        catalogue = await self._views.catalogue(saving=(changed,))
        self._views.compile(await self._views.sources(), catalogue=catalogue)
        record = {
            "subject": document.name,
            **signed_by(by),
            "tenant": document.tenant,
            "version": rollout.version,
            "before": rollout.before,
            "until_us": rollout.until_us,
            "reason": reason,
        }
        await self._world.documents.save_documents((changed,), self._records.act(kind, by.tenant, record))
        await self._views.refresh()
