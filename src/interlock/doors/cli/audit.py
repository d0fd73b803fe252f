"""`interlock audit`: reads, proves and exports the audit log, and prints what to keep of it outside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.shown import as_document, counted, fields, moment, rows, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.audit_log import Verified
    from interlock.core.canonical import Json
    from interlock.core.chain import Break, Head
    from interlock.core.checkpoint import Mark
    from interlock.core.journal import AuditRecord

app = typer.Typer(help="Read, prove and export what happened.", no_args_is_help=True)

_AGES = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@verb(app, "query")
async def query(
    *,
    kind: Annotated[str | None, typer.Option(help="Such as call.settled or approval.voted.")] = None,
    call: Annotated[str | None, typer.Option(help="A call's id.")] = None,
    subject: Annotated[str | None, typer.Option(help="An operation, an approval or a tool.")] = None,
    since: Annotated[str | None, typer.Option(help="A time such as 2026-11-30T08:00Z, or an age such as 2h.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many, from the oldest.")] = 100,
) -> Answer:
    """Show records, in the order in which they were written."""
    from interlock.core.decision import Deny
    from interlock.core.journal import AuditQuery
    from interlock.doors.cli.session import opened

    asked = AuditQuery(kind=kind, call=call, subject=subject, since_us=_since_us(since), limit=limit)
    async with opened() as session:
        found = await session.gate.audit.query(asked, by=session.by)
    if isinstance(found, Deny):
        return refusal(found)
    header = ("When", "What", "Who", "Tool", "Status", "Subject", "Call")
    records = [_record(each) for each in found]
    values = [
        (each["at"], each["kind"], said.get("principal"), said.get("tool"), _how(said), each["subject"], each["call"])
        for each in records
        if isinstance(said := each["record"], dict)
    ]
    more = f"\nThere may be more: raise --limit {limit}, or narrow it with --since." if len(found) == limit else ""
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
    if file is None:
        return await _verify_store(fingerprint, held)
    if fingerprint is None:
        return problem(
            "FINGERPRINT_MISSING",
            "An export proves nothing without the fingerprint of the key that signs the log.",
            next_step="Give --fingerprint, from whoever runs the log: `interlock audit fingerprint` prints it there.",
        )
    from interlock.core.export import verify_export
    from interlock.doors.cli.session import working

    with file.open("rb") as lines, working("Proving the export"):
        return _proved(verify_export(lines, fingerprints=frozenset({fingerprint.strip().lower()}), outside=held))


@verb(app, "export")
async def export(
    *, output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to; never overwritten.")]
) -> Answer:
    """Write the tenant's log as a file that proves itself.

    Whoever checks it needs the key's fingerprint and nothing else. Of other tenants' records only hashes leave.
    """
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import opened, working

    async with opened() as session:
        with working("Exporting the log"):
            found = await session.gate.audit.export(by=session.by)
        if isinstance(found, Deny):
            return refusal(found)
        key = _fingerprint(session.project.store)
    with output.open("xb") as file:
        file.writelines(found)
    text = (
        f"{len(found)} lines are in {visible(output)}.\n"
        f"Next: `interlock audit verify {visible(output)} --fingerprint {key}`, anywhere, without this store."
    )
    return Answer({"file": str(output), "lines": len(found), "fingerprint": key}, text)


@verb(app, "head")
async def head() -> Answer:
    """Prove the log and print where it stands now.

    Kept outside, it shows later that nothing before it was cut off or written anew.
    """
    from interlock.core.chain import Break
    from interlock.doors.cli.session import opened, working

    async with opened() as session:
        await session.gate.audit.seal()
        with working("Proving the log"):
            found = await session.gate.audit.verify()
    if isinstance(found, Break):
        return _proved(found)
    heads = [f"{each.chain}:{each.sequence}:{each.hash}" for each in found.heads if each.sequence]
    mark = f"{found.mark.number}:{found.mark.hash}"
    lines = [*(f"--head {visible(each)}" for each in heads), f"--mark {mark}"]
    return Answer({"heads": [*heads], "mark": mark}, "\n".join(lines))


@verb(app, "fingerprint")
async def fingerprint() -> Answer:
    """Print the fingerprint of the key that signs the log, to be kept outside."""
    from interlock.doors.cli.project import read_project

    found = _fingerprint(read_project(line().project).store)
    return Answer({"fingerprint": found}, found)


async def _verify_store(expected: str | None, held: tuple[Head | Mark, ...]) -> Answer:
    from interlock.doors.cli.session import opened, working

    async with opened() as session:
        found = _fingerprint(session.project.store)
        if expected is not None and expected.strip().lower() != found:
            return problem(
                "FORGED",
                f"The key beside the store has another fingerprint, {found}.",
                next_step="Who put this key there can have written the log anew: restore it, or ask who did.",
            )
        with working("Proving the log"):
            return _proved(await session.gate.audit.verify(outside=held))


def _proved(found: Verified | Break) -> Answer:
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
            ("Next", "Keep this store as it is; compare it with an export or a copy from before."),
        ]
    )
    error: dict[str, Json] = {"code": "LOG_BROKEN", "message": found.sentence, "next": "Keep this store as it is."}
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


def _how(said: Mapping[str, Json]) -> Json:
    return said.get("code") or said.get("status") or said.get("state")


def _fingerprint(store: str) -> str:
    from interlock.core.errors import SettingsInvalid
    from interlock.core.signing import fingerprint as of_key
    from interlock.doors.cli.project import MEMORY
    from interlock.keys import KeySigner, key_file

    if store == MEMORY:
        raise SettingsInvalid("a store in memory has a new key each time; give [interlock] store a file")
    return of_key(KeySigner(key_file(Path(f"{store}.key")).signing).public_key())


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


def _since_us(text: str | None) -> int | None:
    """A time, or an age counted back from now, in microseconds since 1970 UTC."""
    if text is None:
        return None
    age = re.fullmatch(r"(\d{1,9})([smhd])", text.strip())
    try:
        then = datetime.now(UTC) - timedelta(**{_AGES[age[2]]: int(age[1])}) if age else datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter("--since takes a time such as 2026-11-30T08:00Z, or an age such as 2h") from None
    return int((then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() * 1_000_000)
