"""`interlock approvals`: people look at stored operations whole, decide on them, and let run what was approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.core.approval import Approval, ApprovalState
from interlock.doors.cli.answer import Answer, note
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import as_document, fields, moment, pretty, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.decision import Deny
    from interlock.core.observation import Observation
    from interlock.doors.cli.session import Session

app = typer.Typer(help="Look at what waits for people, decide on it, let it run.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="ID", help="The approval, or as much of its id as names it.")]
Words = Annotated[str, typer.Option("--note", help="Words for the record.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@verb(app, "list")
async def list_approvals(
    *, all_: Annotated[bool, typer.Option("--all", help="Also those that are decided.")] = False
) -> Answer:
    """Show what waits for a decision, oldest first."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.approvals.list(by=session.by, state=None if all_ else ApprovalState.PENDING)
    header = ("Approval", "State", "Tool", "Asked by", "Resource", "Takes", "Expires")
    values = [
        (
            each.id,
            each.state.value,
            each.binding.tool,
            each.binding.principal,
            each.binding.resource,
            _takes(each),
            moment(each.expires_at_us),
        )
        for each in found
    ]
    return Answer({"approvals": [_document(each) for each in found]}, rows(header, values, empty="Nothing waits."))


@verb(app, "show")
async def show(approval_id: Id) -> Answer:
    """Show one approval with the whole operation that would run."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.approvals.show(await _whole(approval_id, session), by=session.by)
    return _missing() if found is None else Answer(_document(found), _text(found))


@verb(app, "approve")
async def approve(
    approval_id: Id,
    *,
    words: Words = "",
    yes: Yes = False,
    run: Annotated[bool, typer.Option("--run", help="Let it run at once when it is granted.")] = False,
) -> Answer:
    """Approve one operation, after showing it whole."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import opened, reading

    async with opened() if run else reading() as session:
        desk = session.gate.approvals
        found = await desk.show(await _whole(approval_id, session), by=session.by)
        if found is None:
            return _missing()
        note(_text(found))
        question = f"Approve this as {visible(session.by.id)}?"
        if found.state is ApprovalState.PENDING:
            otherwise = f"`interlock approvals decline {found.id}` says no."
            unsaid = unconfirmed(question, yes=yes, undone="Nothing was decided.", otherwise=otherwise)
            if unsaid is not None:
                return unsaid
        decided = await desk.approve(found.id, by=session.by, note=words)
        if isinstance(decided, Deny) or decided.state is not ApprovalState.GRANTED or not run:
            return _decided(decided)
        return _ran(await desk.resume(found.id, by=session.by))


@verb(app, "decline")
async def decline(approval_id: Id, *, words: Words = "") -> Answer:
    """Decline one operation: final for it in its run."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        whole = await _whole(approval_id, session)
        return _decided(await session.gate.approvals.decline(whole, by=session.by, note=words))


@verb(app, "withdraw")
async def withdraw(approval_id: Id, *, words: Words = "") -> Answer:
    """Take back a question that you asked, or an approval that you gave and nobody used."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        whole = await _whole(approval_id, session)
        return _decided(await session.gate.approvals.withdraw(whole, by=session.by, note=words))


@verb(app, "edit")
async def edit(
    approval_id: Id,
    arguments: Annotated[str, typer.Argument(help="The arguments to put in place, as a JSON object.")],
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Nothing is asked; for scripts that say it to every verb.")
    ] = False,
) -> Answer:
    """Put other arguments in its place: a new operation, decided and asked for afresh, by somebody else."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.observed import answer_of
    from interlock.doors.cli.session import opened

    del yes
    async with opened() as session:
        desk = session.gate.approvals
        seen = await desk.edit(await _whole(approval_id, session), by=session.by, arguments=arguments)
        asked = None if isinstance(seen, Deny) else await desk.show(seen.approval_id or "", by=session.by)
        if isinstance(seen, Deny) or asked is None or not asked.requirement.distinct:
            return _ran(seen)
        return answer_of(
            seen, step=f"Somebody else has to decide it: `interlock approvals approve {asked.id} --as ID --run`."
        )


@verb(app, "resume")
async def resume(approval_id: Id) -> Answer:
    """Let run what was approved: the stored operation, for who asked for it, once."""
    from interlock.core.errors import ApprovalUnknown
    from interlock.doors.cli.session import opened

    async with opened() as session:
        try:
            return _ran(await session.gate.approvals.resume(await _whole(approval_id, session), by=session.by))
        except ApprovalUnknown:
            return _missing()


@verb(app, "reveal")
async def reveal(approval_id: Id) -> Answer:
    """Show the whole arguments, secrets included, to one who may decide. That they were shown is on record."""
    from interlock.core.canonical import decode
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.approvals.reveal(await _whole(approval_id, session), by=session.by)
    if isinstance(found, Deny):
        return _refused(found)
    arguments = decode(found)
    return Answer({"arguments": arguments}, pretty(arguments))


async def _whole(given: str, session: Session) -> str:
    """The id of the one approval that is meant, which the beginning of its id names as well."""
    from interlock.doors.cli.session import whole_id

    return whole_id(given, [each.id for each in await session.gate.approvals.list(by=session.by)])


def _ran(seen: Observation | Deny) -> Answer:
    from interlock.core.decision import Deny
    from interlock.doors.cli.observed import answer_of

    return _refused(seen) if isinstance(seen, Deny) else answer_of(seen)


def _decided(found: Approval | Deny) -> Answer:
    from interlock.core.decision import Deny

    if isinstance(found, Deny):
        return _refused(found)
    step = _next(found)
    text = f"{visible(found.id)} is {found.state.value}." + (f"\nNext: {visible(step)}" if step else "")
    return Answer({**_document(found), "next": step}, text)


def _refused(deny: Deny) -> Answer:
    from interlock.core.refusals import Code
    from interlock.doors.cli.steps import APPROVALS, OTHER

    return refusal(deny, next_step=OTHER if deny.code is Code.PERMISSION_DENIED else APPROVALS)


def _next(found: Approval) -> str:
    if found.state is ApprovalState.GRANTED:
        return f"`interlock approvals resume {found.id}` lets it run, until {moment(found.expires_at_us)}."
    if found.state is ApprovalState.PENDING:
        return f"It takes more: {_takes(found)}; {len(found.votes)} decided so far."
    return ""


def _missing() -> Answer:
    from interlock.doors.cli.steps import APPROVALS
    from interlock.runtime.approvals import MISSING

    return refusal(MISSING, next_step=APPROVALS)


def _takes(found: Approval) -> str:
    needed = found.requirement
    people = f"{needed.quorum} of " if needed.quorum > 1 else ""
    return f"{people}{', '.join(sorted(needed.roles)) or 'anybody'}{'' if needed.distinct else ', who asked included'}"


def _text(found: Approval) -> str:
    """The whole question. The summary comes with everything that cannot be seen spelled out, and stays as it is."""
    about = fields(
        [
            ("Approval", f"{found.id} ({found.state.value})"),
            ("Takes", _takes(found)),
            ("Because", found.requirement.reasons),
            ("Expires", moment(found.expires_at_us)),
            ("Decided", [f"{vote.approver}: {'yes' if vote.approve else 'no'} {vote.note}" for vote in found.votes]),
        ]
    )
    return f"{about}\n{found.summary}"


def _document(found: Approval) -> dict[str, Json]:
    return as_document(found)
