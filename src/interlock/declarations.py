"""The catalogue with what it offers a model: declarations in the dialect of any provider, searches, choices."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from interlock.core.call import Caller, Principal
from interlock.core.choice import FoundTool, ToolChoice
from interlock.core.errors import SettingsInvalid
from interlock.core.model_text import model_text
from interlock.runtime.catalogue import Publishing
from interlock.runtime.common import Common
from interlock.runtime.finding import Finding
from interlock.runtime.health import Health
from interlock.runtime.held import Held
from interlock.runtime.moves import Moving
from interlock.runtime.promotions import Promotions
from interlock.runtime.records import Records
from interlock.runtime.retiring import Retiring
from interlock.runtime.shown import Shown
from interlock.runtime.stopping import Stopping
from interlock.runtime.views import Views
from interlock.runtime.world import World
from interlock.settings import Settings

if TYPE_CHECKING:
    from interlock.models.dialects import Declarations, Dialect


class Declaring:
    """How what a caller may see is told to its model, and how it is found."""

    def __init__(self, shown: Shown, finding: Finding) -> None:
        self._shown = shown
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
        seen = self._shown.visible(caller)
        specs = [(tool.spec.name, model_text(tool.spec), json.loads(tool.model_schema)) for tool in seen]
        return declare(specs, dialect=Dialect(dialect))


class CatalogueDesk:
    """`gate.catalogue`: what is published, where it stands, what its names mean, and what is offered to models.

    Each act is that of the desk that does it, and stands here under its name.
    """

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
        common = Common.of(world, settings, views=views, records=records)
        self._publishing = Publishing(common)
        self._moving = Moving(common)
        self._retiring = Retiring(common, self._moving)
        self._stopping = Stopping(common)
        self._promotions = Promotions(common)
        self._shown = Shown(views, health=health)
        self._declaring = Declaring(self._shown, finding)

    bind_with = Held("_publishing", Publishing.bind_with)
    register = Held("_publishing", Publishing.register)
    know = Held("_publishing", Publishing.know)
    changed = Held("_publishing", Publishing.changed)
    changes = Held("_publishing", Publishing.changes)
    coming = Held("_publishing", Publishing.coming)
    get = Held("_publishing", Publishing.get)
    list_versions = Held("_publishing", Publishing.list_versions)
    all_versions = Held("_publishing", Publishing.all_versions)
    diff = Held("_publishing", Publishing.diff)
    successions = Held("_publishing", Publishing.successions)
    review = Held("_publishing", Publishing.review)

    find_runs_with = Held("_moving", Moving.find_runs_with)
    move = Held("_moving", Moving.move)
    freeze = Held("_moving", Moving.freeze)
    release = Held("_moving", Moving.release)
    sign_off = Held("_moving", Moving.sign_off)
    evidence = Held("_moving", Moving.evidence)
    review_days = Held("_moving", Moving.review_days)
    of_digest = Held("_moving", Moving.of_digest)
    readies = Held("_moving", Moving.readies)

    references = Held("_retiring", Retiring.references)
    announce = Held("_retiring", Retiring.announce)
    recall = Held("_retiring", Retiring.recall)
    confirm = Held("_retiring", Retiring.confirm)
    retire = Held("_retiring", Retiring.retire)
    replace = Held("_retiring", Retiring.replace)
    watched = Held("_retiring", Retiring.watched)

    stop = Held("_stopping", Stopping.stop)
    lift = Held("_stopping", Stopping.lift)
    stops = Held("_stopping", Stopping.stops)

    default = Held("_promotions", Promotions.default)
    defaults = Held("_promotions", Promotions.defaults)
    promote = Held("_promotions", Promotions.promote)
    follow_newest = Held("_promotions", Promotions.follow_newest)
    roll_back = Held("_promotions", Promotions.roll_back)

    visible = Held("_shown", Shown.visible)
    page = Held("_shown", Shown.page)

    search = Held("_declaring", Declaring.search)
    explain_choice = Held("_declaring", Declaring.explain_choice)
    declarations = Held("_declaring", Declaring.declarations)
