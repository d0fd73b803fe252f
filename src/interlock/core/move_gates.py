"""Weighs a move of a version: what its gate needs, what of that is met, and what somebody waives by name.

Nothing is waived silently: a waiver says who and why, is allowed only where the gate allows it, and stands in the
evidence of the move. What a version met once holds while it is frozen: going back to where it stood asks for a reason
and a review, not for all of it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from interlock.core.effect import Effect
from interlock.core.errors import MoveRefused
from interlock.core.evidence import STATUS_ONLY
from interlock.core.example import ExampleKind
from interlock.core.frozen import frozen
from interlock.core.labels import NO_LABELS
from interlock.core.lifecycle import Lifecycle, MoveGate, Need
from interlock.core.readiness import Readiness
from interlock.core.retirement import Retirement, day, day_us
from interlock.core.text import clean
from interlock.core.tool import ToolSpec

WORDS_CHARS_MAX: Final = 4_096
"""As much as anybody may say about a move."""

READ_KINDS: Final = frozenset({ExampleKind.TYPICAL, ExampleKind.PERMISSION_DENIED, ExampleKind.MISSING_ARGUMENT})
EFFECT_KINDS: Final = READ_KINDS | {ExampleKind.REPLAY}
"""Kinds of examples that have to pass before a version serves all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """Why a version is moved, in the words of who moves it.

    `samples` are what it rests on (examples, evaluations, operations), `disposition` is what is decided beside it,
    `rollback` the way back. `review_on` is the day (`2027-01-31`) on which somebody looks at it again; `expand_when`
    and `withdraw_when` are the conditions to go further, and back. `waive` leads from needs that are not met to why.
    """

    reason: str
    samples: tuple[str, ...] = ()
    disposition: str = ""
    rollback: str = ""
    review_on: str = ""
    expand_when: tuple[str, ...] = ()
    withdraw_when: tuple[str, ...] = ()
    waive: Mapping[Need, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is known of a version that is to be moved. `was` is where it stood before it was closed.

    `submitter` published it; `reviewers` have looked at exactly this version and signed for it.
    """

    spec: ToolSpec
    digest: str
    grounds: Grounds
    by: str
    now_us: int
    to: Lifecycle
    was: Lifecycle | None = None
    submitter: str = ""
    reviewers: tuple[str, ...] = ()
    readiness: Readiness | None = None
    rollback: str = ""
    retirement: Retirement | None = None


class Standing(StrEnum):
    """How a need stands. NOT_ASKED: it is not met, and this installation does not ask for it."""

    MET = "met"
    WAIVED = "waived"
    LACKING = "lacking"
    NOT_ASKED = "not asked for"


@frozen
class Halt:
    """What stands in the way of a move: where which version stands, what its gate lacks, which stops cover it.

    `to` is where it was to go; None where it was to be released. `retires_us` is the day for which its retirement is
    announced, in microseconds; None where it is not. `stops` are ids. `promoted`: a promotion holds its name at it.
    """

    tool: str
    version: str
    state: Lifecycle
    to: Lifecycle | None = None
    lacking: tuple[Need, ...] = ()
    retires_us: int | None = None
    stops: tuple[str, ...] = ()
    promoted: bool = False


@frozen
class Weighed:
    """One need of a gate: how it stands and what is said of it; who waives it, where somebody does."""

    need: Need
    stands: Standing
    says: str
    by: str = ""


def weigh(gate: MoveGate, case: Case) -> tuple[Weighed, ...]:
    """How every need of the gate stands. Raises `MoveRefused` for a waiver that may not be."""
    waive = case.grounds.waive
    for need, why in waive.items():
        if need not in gate.waivable:
            raise MoveRefused(f"{need.value} cannot be waived for this move")
        if not why.strip():
            raise MoveRefused(f"say why {need.value} is waived: a waiver without a reason is none")
    return tuple(_weighed(need, case) for need in gate.needs)


def excused(weighed: tuple[Weighed, ...], case: Case) -> tuple[Weighed, ...]:
    """The same where the installation does not hold moves to their gates: nobody is asked but for the reason, and for
    the day that was announced, which callers have been told.
    """
    asked = {Need.REASON} if case.retirement is None else {Need.REASON, Need.NOTICE}
    return tuple(
        Weighed(each.need, Standing.NOT_ASKED, each.says)
        if each.stands is Standing.LACKING and each.need not in asked
        else each
        for each in weighed
    )


def refuse_lacking(weighed: tuple[Weighed, ...], *, at: Halt) -> None:
    """Raise `MoveRefused` where something is neither met nor waived, with all of it."""
    lacking = [each for each in weighed if each.stands is Standing.LACKING]
    if lacking:
        says = "; ".join(f"{each.need.value}: {each.says}" for each in lacking)
        needs = tuple(each.need for each in lacking)
        halt = Halt(at.tool, at.version, at.state, at.to, needs, at.retires_us, at.stops)
        raise MoveRefused(f"{at.tool} {at.version} cannot become {at.to}: it lacks {says}", halt)


def refuse_wordless(grounds: Grounds) -> None:
    """Raise `MoveRefused` for words that say nothing, too much, or what cannot be shown."""
    if not grounds.reason.strip():
        raise MoveRefused("say why: a move without a reason cannot be judged later")
    texts = [grounds.reason, grounds.disposition, grounds.rollback, *grounds.samples, *grounds.waive.values()]
    if grounds.review_on:
        read_day(grounds.review_on)
    for text in (*texts, *grounds.expand_when, *grounds.withdraw_when):
        if len(text) > WORDS_CHARS_MAX:
            raise MoveRefused(f"what is said about a move has at most {WORDS_CHARS_MAX} characters, not {len(text)}")
        if clean(text).text != text:
            raise MoveRefused("what is said about a move holds characters that cannot be seen")


def read_day(text: str) -> int:
    """The microsecond at which a day begins in UTC. Raises `MoveRefused` where it is none."""
    try:
        return day_us(text)
    except ValueError:
        raise MoveRefused(f"{text!r} is no day: write it as 2027-01-31") from None


def _weighed(need: Need, case: Case) -> Weighed:
    lacks = _CHECKS[need](case)
    if not lacks:
        return Weighed(need, Standing.MET, "")
    if case.was is case.to and need not in _ALWAYS:
        return Weighed(need, Standing.MET, f"it was {case.to.value} before it was closed")
    why = case.grounds.waive.get(need)
    return Weighed(need, Standing.LACKING, lacks) if why is None else Weighed(need, Standing.WAIVED, why, case.by)


_ALWAYS: Final = frozenset({Need.REASON, Need.REVIEW, Need.NOTICE, Need.CONFIRMATION})


def _reason(case: Case) -> str:
    return "" if case.grounds.reason.strip() else "say why"


def _owner(case: Case) -> str:
    return "" if case.spec.owner.strip() else "nobody owns it"


def _schemas(case: Case) -> str:
    return "" if case.spec.output_schema is not None else "it does not say what it gives"


def _idempotency(case: Case) -> str:
    spec = case.spec
    if not spec.effect.is_effect or spec.effect is Effect.IDEMPOTENT_WRITE:
        return ""
    is_said = bool(spec.idempotency.fields) or spec.idempotency.caller_key_required
    return "" if is_said else "it does not say which arguments make two calls the same effect"


def _cancellation(case: Case) -> str:
    spec = case.spec
    if not spec.effect.is_effect or spec.cancellable or spec.reconcile:
        return ""
    return "it can neither be cancelled nor say later whether a call has happened"


def _errors(case: Case) -> str:
    return "" if case.spec.errors else "it declares no errors"


def _audit_fields(case: Case) -> str:
    spec = case.spec
    parts = [
        ("labels of its results", spec.labels != NO_LABELS),
        ("the resource that it changes", spec.resource is not None or not spec.effect.is_effect),
        ("what its results are evidence of", spec.evidence != STATUS_ONLY or spec.effect.is_effect),
    ]
    missing = [name for name, is_there in parts if not is_there]
    return f"it does not declare {', '.join(missing)}" if missing else ""


def _examples(case: Case) -> str:
    found = case.readiness
    if found is None or found.digest != case.digest:
        return "its examples have not run"
    kinds = EFFECT_KINDS if case.spec.effect.is_effect else READ_KINDS
    return "; ".join(found.lacking(kinds, now_us=case.now_us))


def _review(case: Case) -> str:
    others = [each for each in case.reviewers if each not in (case.by, case.submitter)]
    return "" if others else "nobody but who published it and who moves it has looked at it"


def _rollback(case: Case) -> str:
    return "" if case.rollback or case.grounds.rollback else "no version is there to go back to, and no other way"


def _notice(case: Case) -> str:
    going = case.retirement
    if going is None:
        return "its retirement was not announced"
    return "" if case.now_us >= going.retires_us else f"it was announced for {day(going.retires_us)}"


def _confirmation(case: Case) -> str:
    going = case.retirement
    return "" if going is not None and going.confirmed_by else "nobody has confirmed it for its owner"


_CHECKS: Final[Mapping[Need, Callable[[Case], str]]] = {
    Need.REASON: _reason,
    Need.OWNER: _owner,
    Need.SCHEMAS: _schemas,
    Need.IDEMPOTENCY: _idempotency,
    Need.CANCELLATION: _cancellation,
    Need.ERRORS: _errors,
    Need.AUDIT_FIELDS: _audit_fields,
    Need.EXAMPLES: _examples,
    Need.REVIEW: _review,
    Need.ROLLBACK: _rollback,
    Need.NOTICE: _notice,
    Need.CONFIRMATION: _confirmation,
}
"""What is missing of each need, in words; empty where it is met."""
