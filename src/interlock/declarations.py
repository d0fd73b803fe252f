"""The catalogue with what it offers a model: declarations in the dialect of any provider, searches, choices."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from interlock.core.call import Caller, Principal
from interlock.core.choice import FoundTool, ToolChoice
from interlock.core.errors import SettingsInvalid
from interlock.core.model_text import model_text
from interlock.runtime.finding import Finding
from interlock.runtime.health import Health
from interlock.runtime.promotions import Promotions
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.world import World
from interlock.settings import Settings

if TYPE_CHECKING:
    from interlock.models.dialects import Declarations, Dialect


class Offered(Promotions):
    """What is published, how it is told to models, and how they find it."""

    def __init__(
        self,
        world: World,
        settings: Settings,
        *,
        views: Views,
        records: Records,
        health: Health,
        finding: Finding,
    ) -> None:
        super().__init__(world, settings, views=views, records=records, health=health)
        self._finding = finding

    async def search(self, query: str, caller: Caller, *, limit: int = 10) -> tuple[FoundTool, ...]:
        """The tools that fit the words best, best first, of those that this caller may see and that work at present.

        `query` is data, in any language that the tools' words are in; `limit` is at most 50.
        """
        return await self._finding.search(query, caller, most=limit)

    async def explain_choice(
        self,
        caller: Caller,
        task: str,
        *,
        tools: Iterable[str] | None = None,
        tools_max: int | None = None,
        by: Principal | None = None,
    ) -> tuple[ToolChoice, ...]:
        """Which tools this caller is offered for a task, and of each other what keeps it back, by name.

        `tools` are the agent's own list, which goes first; `tools_max` takes the place of the setting. A tool that
        policy withholds from the caller is told of only where `by` is an auditor or operator of the caller's tenant.
        """
        names = None if tools is None else tuple(tools)
        most = self._finding.tools_max if tools_max is None else tools_max
        return await self._finding.explained(caller, task, names=names, most=most, by=by)

    def declarations(self, caller: Caller, *, dialect: Dialect | str) -> Declarations:
        """The tools that this caller may see and that work at present, as a provider takes them.

        `tools` go into the request as they are, `names` lead back from the wire, `projections[name].losses` say what
        the provider's schemas cannot express (the gate checks the original schema all the same), and
        `projections[name].back(arguments)` undoes what the dialect changed. `set_aside` are tools that cannot be
        declared there, with the reason. Raises `SettingsInvalid` for a dialect that there is not.
        """
        from interlock.models.dialects import Dialect, declare

        if dialect not in list(Dialect):
            raise SettingsInvalid(f"a dialect is one of {', '.join(Dialect)}, not {dialect!r}")
        seen = self.visible(caller)
        specs = [(tool.spec.name, model_text(tool.spec), json.loads(tool.model_schema)) for tool in seen]
        return declare(specs, dialect=Dialect(dialect))
