"""What `interlock doctor` says of the catalogue: what is closed, and what somebody was to have looked at by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from interlock.doors.cli.doctor import GOOD, WANTING, Check
from interlock.doors.cli.shown import visible
from interlock.doors.cli.tools_standing import reviews_due

if TYPE_CHECKING:
    from interlock.core.stops import Stop
    from interlock.ports import Registered

SHOWN_MAX: Final = 5


async def catalogue_checks() -> tuple[Check, ...]:
    """How the versions of the project's store stand now, those of the person's tenant and those that all share."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        acts, by = session.gate.catalogue, session.by
        versions = await acts.all_versions(tenant=by.tenant)
        stops, late = await acts.stops(by=by), await reviews_due(session)
    now_us = int(datetime.now(UTC).timestamp() * 1_000_000)
    reports = (_stopped(stops), _closed(versions), _reviews(late), _retirements(versions, now_us=now_us))
    return (*reports, await _promoted())


async def _promoted() -> Check:
    """Names that mean a version which this project cannot run, though it may have others of them."""
    from interlock.doors.cli.session import visited
    from interlock.doors.cli.tools_standing import outlived, unlisted

    async with visited() as session:
        names = await session.gate.catalogue.defaults(tenant=session.by.tenant)
        found = await unlisted(session, names)
        gone = await outlived(session, names)
    step = "`interlock tools promote NAME --newest --reason WHY`, or put code that is not here back beside the others."
    says = [f"{name} means {names[name].version}, whose code is not here" for name in found if name not in gone]
    says += [f"{name} means {names[name].version}, which is retired" for name in gone]
    return _check("promoted versions", says, step)


def _stopped(stops: Iterable[Stop]) -> Check:
    found = [f"{each.scope.words} ({each.reason})" for each in stops]
    step = "`interlock tools stops` lists them; `interlock tools release --stop ID --reason WHY` lifts one."
    return _check("stops", found, step)


def _closed(versions: Iterable[Registered]) -> Check:
    from interlock.core.lifecycle import Lifecycle

    shut = (Lifecycle.QUARANTINED, Lifecycle.FROZEN)
    found = [f"{_named(each)} is {each.state.value}" for each in versions if each.state in shut]
    step = "`interlock import sync` shows what has drifted; `interlock tools release NAME --reason WHY` opens one."
    return _check("closed tools", found, step)


def _reviews(late: Iterable[tuple[str, str, str]]) -> Check:
    found = [f"{name} {version} was to be reviewed on {day}" for name, version, day in late]
    return _check("reviews", found, "`interlock tools show NAME` shows how it stands; a move names the next day.")


def _retirements(versions: Iterable[Registered], *, now_us: int) -> Check:
    from interlock.core.retirement import day, read

    noted = [(each, read(each.retirement)) for each in versions]
    found = [
        f"{_named(each)} was to be retired on {day(going.retires_us)}"
        for each, going in noted
        if going is not None and going.retired_us is None and going.retires_us <= now_us
    ]
    return _check("retirements", found, "`interlock tools retire NAME --reason WHY` does it; `keep` takes it back.")


def _check(name: str, found: Sequence[str], step: str) -> Check:
    if not found:
        return Check(name, GOOD, "none is due" if name in ("reviews", "retirements") else "none")
    more = [f"and {len(found) - SHOWN_MAX} more"] if len(found) > SHOWN_MAX else []
    return Check(name, WANTING, visible(", ".join([*found[:SHOWN_MAX], *more])), step)


def _named(version: Registered) -> str:
    return f"{version.name} {version.version}"
