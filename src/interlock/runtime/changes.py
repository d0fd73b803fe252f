"""Carries out changes of the catalogue at the state of it that they were decided on, else decides them anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from interlock.core.errors import DocumentChanged
from interlock.core.journal import Event
from interlock.ports import Document, Registered
from interlock.runtime.versions import Versions
from interlock.runtime.views import Views
from interlock.runtime.world import World

T = TypeVar("T")

TRIES: Final = 20
"""How often others may change the catalogue under one change; each time one of them got on."""


@dataclass(frozen=True, slots=True)
class Planned(Generic[T]):
    """A change that is decided: the versions as they are to stand, what is written beside, and what it comes to.

    Without an event there is nothing to do.
    """

    result: T
    found: tuple[Registered, ...] = ()
    documents: tuple[Document, ...] = ()
    event: Event | None = None


async def carry_out(world: World, views: Views, plan: Callable[[Versions], Awaitable[Planned[T]]]) -> T:
    """Decide on the versions as they stand, and write that if they still stand so. Raises `DocumentChanged`."""
    for _ in range(TRIES):
        epoch, versions = await views.versions()
        planned = await plan(versions)
        if planned.event is None:
            return planned.result
        change = world.documents.change_versions(planned.found, planned.documents, planned.event, epoch=epoch)
        if await change is not None:
            return planned.result
    raise DocumentChanged("others keep changing the catalogue; nothing was written; try again in a moment")
