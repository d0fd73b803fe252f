"""The catalogue as a caller sees it: the tools that policy may let it call and that work at present."""

from __future__ import annotations

from typing import Final

from interlock.core.call import Caller
from interlock.core.catalogue import Tool
from interlock.core.errors import SettingsInvalid
from interlock.core.policy import Visibility
from interlock.core.stand_in import offered
from interlock.core.view import ToolPage
from interlock.runtime.health import Health
from interlock.runtime.views import Views

PAGE_MAX: Final = 500
"""How many tools are listed at once."""


class Shown:
    """What to offer whom."""

    def __init__(self, views: Views, *, health: Health) -> None:
        self._views = views
        self._health = health

    def visible(self, caller: Caller) -> tuple[Tool, ...]:
        """The tools to offer this caller: those that policy may let it call and that work at present.

        A tool on standby is among them while one that falls back on it does not work.
        """
        view = self._views.current
        tools = {tool.spec.name: tool for tool in view.tools(caller)}
        specs = [tool.spec for tool in tools.values()]
        working = [spec for spec in specs if not self._health.withheld(spec)]
        return tuple(tools[spec.name] for spec in offered(specs, working=working))

    def page(self, caller: Caller, *, after: str = "", limit: int = 100) -> ToolPage:
        """Some of these tools by name, from one name on: at no look at the others, however many there are.

        Begin with no name and go on with the `after` of the page before, until that is None; a page may be short, or
        empty, and not be the last. Raises `SettingsInvalid` for a limit that is not from 1 to 500.
        """
        if not 1 <= limit <= PAGE_MAX:
            raise SettingsInvalid(f"a page has 1 to {PAGE_MAX} tools, not {limit!r}")
        view = self._views.current
        found = view.page(caller, after=after, limit=limit)
        specs = {tool.spec.name: tool.spec for tool in found.tools}
        for place in view.catalogue.falling:  # what a standby tool stands in for may be on another page
            tool = view.catalogue.find(caller.principal.tenant, place[1])
            if tool is not None and view.visibility(tool, caller) is not Visibility.NEVER:
                specs.setdefault(tool.spec.name, tool.spec)
        working = [spec for spec in specs.values() if not self._health.withheld(spec)]
        names = {spec.name for spec in offered(list(specs.values()), working=working)}
        return ToolPage(tuple(tool for tool in found.tools if tool.spec.name in names), found.after)
