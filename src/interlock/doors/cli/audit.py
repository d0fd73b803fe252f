"""`interlock audit`: reads, proves and exports the audit log, and prints what to keep of it outside."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import missing, problem, refusal
from interlock.doors.cli.shown import as_document, counted, fields, moment, rows, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.audit_log import Verified
    from interlock.core.canonical import Json
    from interlock.core.chain import Break, Head
    from interlock.core.checkpoint import Mark
    from interlock.core.decision import Deny
    from interlock.core.journal import AuditQuery, AuditRecord
    from interlock.doors.cli.session import Session

app = typer.Typer(help="Read, prove and export what happened.", no_args_is_help=True)

PAGE = 2_000
"""How many records are read at once."""

STDOUT = Path("-")
KEEP = "Keep this store as it is; compare it with an export or a copy from before."
_AGES = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@verb(app, "query")
async def query(
    *,
    kind: Annotated[str | None, typer.Option(help="Such as call.settled or approval.voted.")] = None,
    call: Annotated[str | None, typer.Option(help="A call's id.")] = None,
    subject: Annotated[str | None, typer.Option(help="An operation, an approval or a tool.")] = None,
    since: Annotated[str | None, typer.Option(help="A time such as 2026-11-30T08:00Z, or an age such as 2h.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many, the newest.")] = 100,
) -> Answer:
    """Show the newest records, in the order in which they were written."""
    from interlock.core.decision import Deny
    from interlock.core.journal import AuditQuery
    from interlock.doors.cli.session import reading

    asked = AuditQuery(kind=_kind(kind), call=call, subject=subject, since_us=since_us_of(since), limit=PAGE)
    async with reading() as session:
        found = await _newest(asked, session, limit=limit)
    if isinstance(found, Deny):
        return refusal(found)
    header = ("When", "What", "Who", "Tool", "Status", "Subject", "Call")
    records = [_record(each) for each in found]
    values = [
        (each["at"], each["kind"], said.get("principal"), _tools(said), _how(said), each["subject"], each["call"])
        for each in records
        if isinstance(said := each["record"], dict)
    ]
    more = f"\nThere may be older ones: raise --limit {limit}, or narrow it." if len(found) == limit else ""
    return Answer({"records": [*records]}, rows(header, values, empty="No record matches.") + more)


@verb(app, "verify")
async def verify(
    file: Annotated[Path | None, typer.Argument(help="An export to prove; default: the project's store.")] = None,
    *,
    fingerprint: Annotated[str | None, typer.Option(help="The key's fingerprint, as you keep it outside.")] = None,
    head: Annotated[
        list[str] | None, typer.Option(metavar="CHAIN:SEQUENCE:HASH", help="A head or receipt kept outside.")
    ] = None,
    mark: Annotated[list[str] | None, typer.Option(metavar="NUMBER:HASH", help="A checkpoint kept outside.")] = None,
) -> Answer:
    """Prove the log, or name the first place where it does not hold."""
    held: tuple[Head | Mark, ...] = (*map(_head, head or ()), *map(_mark, mark or ()))
    expected = _expected(fingerprint)
    if file is None:
        return await _verify_store(expected, held)
    if not file.is_file():
        return missing(file)
    if expected is None:
        return problem(
            "FINGERPRINT_MISSING",
            "An export proves nothing without the fingerprint of the key that signs the log.",
            next_step="Give --fingerprint, from whoever runs the log: `interlock audit fingerprint` prints it there.",
        )
    from interlock.core.export import verify_export
    from interlock.doors.cli.session import working

    with file.open("rb") as lines, working("Proving the export"):
        found = verify_export(lines, fingerprints=frozenset({expected}), outside=held)
    return _proved(found, next_step=_after_export(found, expected))


@verb(app, "export")
async def export(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to, - for here; no file is overwritten.")
    ],
) -> Answer:
    """Write the tenant's log as a file that proves itself.

    Whoever checks it needs the key's fingerprint and nothing else. Of other tenants' records only hashes leave.
    """
    from interlock.core.decision import Deny
    from interlock.core.errors import NotWritten
    from interlock.doors.cli.session import reading, working

    if output != STDOUT and output.exists():
        raise NotWritten(f"{output} exists already, and nothing is overwritten: give another name, or move it away")
    if output == STDOUT and line().json:
        raise typer.BadParameter("--json prints one document, and -o - the log: leave one of the two out")
    async with reading() as session:
        with working("Exporting the log"):
            found = await session.gate.audit.export(by=session.by)
        if isinstance(found, Deny):
            return refusal(found)
        key = session.gate.audit.fingerprint()
    document: dict[str, Json] = {"file": str(output), "lines": len(found), "fingerprint": key}
    if output == STDOUT:
        says = f"That were {len(found)} lines; the key's fingerprint is {key}."
        return Answer(document, says, file=b"".join(found))
    with output.open("xb") as file:
        file.writelines(found)
    text = (
        f"{len(found)} lines are in {visible(output)}.\n"
        f"Next: `interlock audit verify {visible(output)} --fingerprint {key}`, anywhere, without this store."
    )
    return Answer(document, text)


@verb(app, "head")
async def head() -> Answer:
    """Prove the log and print where it stands now.

    Kept outside, it shows later that nothing before it was cut off or written anew.
    """
    from interlock.core.chain import Break
    from interlock.doors.cli.session import reading, working

    async with reading() as session:
        await session.gate.audit.sign()
        with working("Proving the log"):
            found = await session.gate.audit.verify()
    if isinstance(found, Break):
        return _proved(found, next_step=KEEP)
    heads = [f"{each.chain}:{each.sequence}:{each.hash}" for each in found.heads if each.sequence]
    mark = f"{found.mark.number}:{found.mark.hash}"
    lines = [*(f"--head {visible(each)}" for each in heads), f"--mark {mark}"]
    return Answer({"heads": [*heads], "mark": mark}, "\n".join(lines))


@verb(app, "purge")
async def purge(
    *,
    before: Annotated[
        str | None, typer.Option(help="A time such as 2026-11-30T08:00Z, or an age such as 90d; default: keep_days.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go. Changes nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> Answer:
    """Forget for good what is kept whole of closed calls: arguments, results, questions.

    The redacted records and the chains stay. Open calls, questions that wait, unused grants and keys that still answer
    are left alone.
    """
    from interlock.doors.cli.session import not_operator, reading, working

    async with reading() as session:
        before = before or _kept(session.project.keep_days)
        before_us = _past_us(before)
        refused = not_operator(session.by, "Purging")
        if refused is not None:
            return refusal(refused)
        with working("Looking what would go"):
            goes = await session.gate.audit.purgeable(before_us, by=session.by)
        span = f"of {moment(goes.oldest_us)} to {moment(goes.newest_us)}" if goes.records else f"before {before}"
        what = f"what is kept whole beside {counted(goes.records, 'record')} {span} ({goes.size_bytes} bytes)"
        document = {"before": moment(before_us), "done": not dry_run, **as_document(goes)}
        if dry_run:
            return Answer(document, f"This would go: {what}. Nothing was changed.")
        unsaid = unconfirmed(f"Forget {what} for good?", yes=yes)
        if unsaid is not None:
            return unsaid
        with working("Purging"):
            await session.gate.audit.purge(before_us, by=session.by)
    return Answer(document, f"Forgotten: {what}. `interlock audit verify` still proves the log.")


@verb(app, "fingerprint")
async def fingerprint() -> Answer:
    """Print the fingerprint of the key that signs the log, to be kept outside."""
    from interlock.core.errors import SettingsInvalid
    from interlock.doors.cli.project import MEMORY
    from interlock.doors.cli.session import reading

    async with reading() as session:
        if session.project.store == MEMORY:
            raise SettingsInvalid("a store in memory has a new key each time; give [interlock] store a file")
        found = session.gate.audit.fingerprint()
    return Answer({"fingerprint": found}, found)


async def _verify_store(expected: str | None, held: tuple[Head | Mark, ...]) -> Answer:
    from interlock.doors.cli.session import reading, working

    async with reading() as session:
        found = session.gate.audit.fingerprint()
        if expected not in (None, found):
            return problem(
                "FORGED",
                f"The key beside the store has another fingerprint, {found}.",
                next_step="Who put this key there can have written the log anew: restore it, or ask who did.",
            )
        with working("Proving the log"):
            return _proved(await session.gate.audit.verify(outside=held), next_step=KEEP)


async def _newest(asked: AuditQuery, session: Session, *, limit: int) -> tuple[AuditRecord, ...] | Deny:
    """The last records that match: read from the first on, since a chain is read forwards only."""
    from interlock.core.decision import Deny

    newest: deque[AuditRecord] = deque()
    while True:
        page = await session.gate.audit.query(asked, by=session.by)
        if isinstance(page, Deny):
            return page
        # Chain by chain, so which are the newest of all is known by their times.
        newest = deque(sorted([*newest, *page], key=lambda each: each.at_us), maxlen=limit)
        if len(page) < asked.limit:
            return tuple(newest)
        asked = replace(asked, after=(page[-1].record.chain, page[-1].record.sequence))


def _kind(given: str | None) -> str | None:
    from interlock.core.journal import EventKind

    kinds = [each.value for each in EventKind]
    if given is None or given in kinds:
        return given
    near = get_close_matches(given, kinds, n=1)
    raise typer.BadParameter(f"did you mean {near[0]}?" if near else f"--kind is one of {', '.join(kinds)}")


def _expected(fingerprint: str | None) -> str | None:
    """A fingerprint as it is compared; one that is none shows a slip of who typed it, not a forged log."""
    from interlock.core.chain import is_hash

    found = None if fingerprint is None else fingerprint.strip().lower()
    if found is not None and not is_hash(found):
        raise typer.BadParameter("a fingerprint is 64 letters and digits, as `interlock audit fingerprint` prints it")
    return found


def _after_export(found: Verified | Break, expected: str) -> str:
    from interlock.core.chain import Break, Damage

    if isinstance(found, Break) and found.what is Damage.FORGED:
        return f"Look whether {expected} is the fingerprint of whoever runs the log; if so, do not trust this file."
    return "Do not trust this file: ask whoever runs the log for another export, and compare."


def _proved(found: Verified | Break, *, next_step: str) -> Answer:
    from interlock.core.chain import Break

    document = as_document(found)
    if not isinstance(found, Break):
        size = f"{counted(found.records, 'record')} in {counted(len(found.heads), 'chain')}"
        lines = [f"The log holds: {size}, signed up to checkpoint {found.mark.number}."]
        lines += [f"What this cannot show: {each}" for each in found.limits]
        return Answer({"holds": True, **document}, "\n".join(map(visible, lines)), DONE)
    text = fields(
        [
            ("BROKEN", found.what.value),
            ("Where", found.sentence),
            ("Chain", found.chain),
            ("Sequence", found.sequence),
            ("Line", found.line),
            ("Next", next_step),
        ]
    )
    error: dict[str, Json] = {"code": "LOG_BROKEN", "message": found.sentence, "next": next_step}
    return Answer({"holds": False, "error": error, **document}, text, PROBLEM)


def _record(found: AuditRecord) -> dict[str, Json]:
    """One record as its readers may see it: nothing sealed, secrets redacted when it was written."""
    shown = [json.loads(each.data) for each in found.payloads]
    return {
        "chain": found.record.chain,
        "sequence": found.record.sequence,
        "hash": found.record.hash,
        "at": moment(found.at_us),
        "at_us": found.at_us,
        "kind": found.kind,
        "call": found.call,
        "subject": found.subject,
        "record": shown[0] if shown else {},
    }


def _tools(said: Mapping[str, Json]) -> Json:
    """The tool of a record; of one that published several, all of them."""
    published = said.get("tools")
    if not isinstance(published, list):
        return said.get("tool")
    return [str(each.get("name", "")) if isinstance(each, dict) else each for each in published]


def _how(said: Mapping[str, Json]) -> Json:
    return said.get("code") or said.get("status") or said.get("state")


def _head(text: str) -> Head:
    from interlock.core.chain import Head, is_head

    chain, _, rest = text.rpartition(":")[0].rpartition(":")
    found = Head(chain, int(rest) if rest.isdecimal() else -1, text.rpartition(":")[2])
    if not is_head(found):
        raise typer.BadParameter("a head is CHAIN:SEQUENCE:HASH, as `interlock audit head` prints it")
    return found


def _mark(text: str) -> Mark:
    from interlock.core.chain import is_hash
    from interlock.core.checkpoint import Mark

    number, _, digest = text.partition(":")
    if not number.isdecimal() or not is_hash(digest):
        raise typer.BadParameter("a mark is NUMBER:HASH, as `interlock audit head` prints it")
    return Mark(int(number), digest)


def since_us_of(text: str | None) -> int | None:
    """The time that `--since` says; None where it says none."""
    return None if text is None else _time_us(text, "--since")


def _kept(days: int) -> str:
    """How long the project keeps what is kept whole."""
    if not days:
        raise typer.BadParameter("say --before when, or keep_days = 90 under [interlock] in interlock.toml")
    return f"{days}d"


def _past_us(text: str) -> int:
    """A time that has passed: what is still to come is not purged beforehand."""
    found = _time_us(text, "--before")
    if found > datetime.now(UTC).timestamp() * 1_000_000:
        raise typer.BadParameter("--before takes a time that has passed")
    return found


def _time_us(text: str, option: str) -> int:
    """A time, or an age counted back from now, in microseconds since 1970 UTC."""
    age = re.fullmatch(r"(\d{1,9})([smhd])", text.strip())
    try:
        then = datetime.now(UTC) - timedelta(**{_AGES[age[2]]: int(age[1])}) if age else datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{option} takes a time such as 2026-11-30T08:00Z, or an age such as 2h") from None
    return int((then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() * 1_000_000)
