"""What the desks of the catalogue have in common: where they look and write, and whose what is shared is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from interlock.core.errors import ToolUnknown
from interlock.core.tool import SHARED
from interlock.ports import Registered
from interlock.runtime.changes import Planned, carry_out
from interlock.runtime.records import Records
from interlock.runtime.references import Referrers
from interlock.runtime.versions import Versions
from interlock.runtime.views import Views
from interlock.runtime.world import World
from interlock.settings import Gates, Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Common:
    """One for all desks of a gate. `home` is the installation's own tenant: shared tools, and those of others, take its
    operators. `gated`: moves of versions are held to their gates.
    """

    world: World
    views: Views
    records: Records
    referrers: Referrers
    home: str
    gated: bool

    @staticmethod
    def of(world: World, settings: Settings, *, views: Views, records: Records) -> Common:
        """That of a gate with these settings."""
        gated = settings.lifecycle is Gates.GATED
        return Common(world, views, records, Referrers(world, views=views), settings.tenant, gated)

    async def carried_out(self, plan: Callable[[Versions], Awaitable[Planned[T]]]) -> T:
        """Decide on the versions as they stand, write that, and look at what has come of it."""
        result = await carry_out(self.world, self.views, plan)
        await self.views.refresh()
        return result

    async def versions(self, name: str, *, tenant: str) -> tuple[Registered, ...]:
        """Every published version of a name, oldest first, callable here or not."""
        return await self.views.named(name, dict.fromkeys((tenant, SHARED)))

    async def version(self, name: str, version: str, *, tenant: str) -> Registered:
        """One of them. Raises `ToolUnknown`."""
        found = [each for each in await self.versions(name, tenant=tenant) if each.version == version]
        if not found:
            raise ToolUnknown(f"there is no version {version!r} of a tool named {name!r}")
        return found[0]
