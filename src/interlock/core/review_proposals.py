"""What a review proposes, each with its reason, its numbers and the command that would do it: never more than words.

Every kind of proposal is one total function of what is known of a tool and of the rules. Who reads them decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from interlock.core.frozen import frozen
from interlock.core.review_likeness import Likeness
from interlock.core.review_rules import ReviewRules
from interlock.core.review_tool import Gap, ToolReview

_DAY_US: Final = 86_400_000_000
_CHECK: Final = "interlock tools check"
"""What looks at a new version of a tool, which has to be declared first."""


class Kind(StrEnum):
    """What may be done about a tool, the gravest first."""

    FREEZE = "freeze"
    RETIRE = "retire"
    MERGE = "merge"
    NARROW = "narrow"
    FIX_DESCRIPTION = "fix_description"
    ADD_OWNER = "add_owner"
    ADD_EXAMPLES = "add_examples"
    RAISE_TIMEOUT = "raise_timeout"
    LOWER_TIMEOUT = "lower_timeout"


@frozen
class Proposal:
    """One thing that might be done, and the `command` that would do it, or check it once its declaration is changed."""

    kind: Kind
    tool: str
    reason: str
    numbers: Mapping[str, int]
    command: str
    other: str = ""


@frozen
class Known:
    """What proposals are made from: the rules, and which time the log covers."""

    rules: ReviewRules
    at_us: int
    since_us: int | None


Propose = Callable[[ToolReview, Known], Iterator[Proposal]]


def proposals(tools: Iterable[ToolReview], pairs: Iterable[Likeness], known: Known) -> tuple[Proposal, ...]:
    """All proposals, the gravest kinds first, then by tool."""
    live = [each for each in tools if each.is_open]
    found = [proposal for tool in live for propose in _KINDS for proposal in propose(tool, known)]
    names = {each.name: each for each in live}
    found += [each for pair in pairs for each in _merge(pair, names)]
    order = list(Kind)
    return tuple(sorted(found, key=lambda each: (order.index(each.kind), each.tool, each.other)))


def command(*words: str) -> str:
    """A command line that a shell reads as these words, whatever a tool is called."""
    return " ".join(["interlock", *map(_quoted, words)])


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./:=@%+-]+", word, re.ASCII) else "'" + word.replace("'", "'\"'\"'") + "'"


def percent(part: int, whole: int) -> int:
    """A share in percent, rounded down; of nothing none."""
    return 100 * part // whole if whole else 0


def _declared(kind: Kind, tool: ToolReview, reason: str, *, numbers: Mapping[str, int]) -> Proposal:
    """A proposal that a new version of the tool carries out, and no command alone."""
    return Proposal(kind, tool.name, f"{reason} That takes a new version: change it, then check.", numbers, _CHECK)


def _tried(tool: ToolReview) -> str:
    return command("tools", "test", "--", tool.name)


def _freeze(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    counts, rules = tool.numbers.counts, known.rules
    failed, ended = counts.failed + counts.lost, counts.ended
    close = command("tools", "freeze", "--reason", "review", "--", tool.name)
    if ended >= rules.calls_min and percent(failed, ended) >= rules.failing_percent:
        reason = f"{failed} of {ended} executions did not go well."
        yield Proposal(Kind.FREEZE, tool.name, reason, {"failed": failed, "ended": ended}, close)
    elif ended >= rules.calls_min and percent(counts.lost, ended) >= rules.lost_percent:
        reason = f"Of {counts.lost} of {ended} executions it was not known whether they happened."
        yield Proposal(Kind.FREEZE, tool.name, reason, {"lost": counts.lost, "ended": ended}, close)


def _retire(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    """Only where the log covers so long a time, and the tool was there all along."""
    idle_us = known.rules.idle_days * _DAY_US
    began_us = max(known.at_us if each is None else each for each in (known.since_us, tool.published_at_us))
    last_us = tool.numbers.last_used_us
    quiet_us = known.at_us - max(began_us, last_us or 0)
    if quiet_us >= idle_us:
        days = quiet_us // _DAY_US
        reason = f"Nobody has called it for {days} days" + ("." if last_us else ", as far back as was read.")
        close = command("tools", "retire", "--reason", f"not used for {days} days", "--", tool.name)
        yield Proposal(Kind.RETIRE, tool.name, reason, {"days": days}, close)


def _narrow(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    denied, proposed = tool.numbers.denials, tool.numbers.counts.proposals
    if proposed >= known.rules.calls_min and percent(denied, proposed) >= known.rules.denied_percent:
        reason = f"Policy refused {denied} of {proposed} proposals: who may not call it should not be offered it."
        numbers = {"denied": denied, "proposals": proposed, "again_in_a_run": tool.signs.denied_again}
        yield Proposal(Kind.NARROW, tool.name, reason, numbers, "interlock policy check")


def _fix_description(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    proposed, rules, signs = tool.numbers.counts.proposals, known.rules, tool.signs
    if proposed < rules.calls_min:
        return
    refused = tool.numbers.arguments_refused
    if percent(refused, proposed) >= rules.misspelt_percent:
        reason = f"The arguments of {refused} of {proposed} proposals were refused: say in its words what it takes."
        numbers = {"arguments_refused": refused, "proposals": proposed, "repaired": signs.repaired}
        yield _declared(Kind.FIX_DESCRIPTION, tool, reason, numbers=numbers)
    elif signs.steps >= rules.calls_min and percent(signs.exchanged, signs.steps) >= rules.exchanged_percent:
        says = "another tool was called on the same: say what it is not for"
        reason = f"After {signs.exchanged} of {signs.steps} proposals in followed runs {says}."
        numbers = {"exchanged": signs.exchanged, "steps": signs.steps}
        yield _declared(Kind.FIX_DESCRIPTION, tool, reason, numbers=numbers)


def _add_owner(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    if Gap.OWNER in tool.gaps:
        yield _declared(Kind.ADD_OWNER, tool, "Nobody answers for it: owner is empty.", numbers={})
    elif Gap.BUSINESS_OWNER in tool.gaps:
        reason = "It changes things, and nobody answers for what: business_owner is empty."
        yield _declared(Kind.ADD_OWNER, tool, reason, numbers={})


def _add_examples(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    proposed, refused = tool.numbers.counts.proposals, tool.numbers.arguments_refused
    often = proposed >= known.rules.calls_min and percent(refused, proposed) >= known.rules.misspelt_percent
    if Gap.EXAMPLES in tool.gaps and often:
        reason = f"It has no example, and the arguments of {refused} of {proposed} proposals were refused."
        numbers = {"arguments_refused": refused, "proposals": proposed}
        yield Proposal(Kind.ADD_EXAMPLES, tool.name, f"{reason} Write some.", numbers, _tried(tool))
    elif Gap.STALE_EXAMPLES in tool.gaps:
        reason = "Its examples are stale: look which, and write them anew."
        yield Proposal(Kind.ADD_EXAMPLES, tool.name, reason, {}, _tried(tool))


def _timeout(tool: ToolReview, known: Known) -> Iterator[Proposal]:
    ended, late, rules = tool.numbers.counts.ended, tool.numbers.timeouts, known.rules
    if ended < rules.calls_min or not tool.timeout_ms:
        return
    if percent(late, ended) >= rules.timeouts_percent:
        reason = f"{late} of {ended} executions did not answer within {tool.timeout_ms} ms."
        numbers = {"timeouts": late, "ended": ended, "timeout_ms": tool.timeout_ms}
        yield _declared(Kind.RAISE_TIMEOUT, tool, reason, numbers=numbers)
    elif tool.p95_ms is not None and tool.timeout_ms > max(rules.roomy_ms, tool.p95_ms * rules.roomy_times):
        reason = f"95% of its executions take at most about {tool.p95_ms} ms; it is given {tool.timeout_ms} ms."
        numbers = {"p95_ms": tool.p95_ms, "ended": ended, "timeout_ms": tool.timeout_ms}
        yield _declared(Kind.LOWER_TIMEOUT, tool, reason, numbers=numbers)


def _merge(pair: Likeness, names: Mapping[str, ToolReview]) -> Iterator[Proposal]:
    """One gives way where the other can take its calls; of two that can, the one that is of less use."""
    one, other = names.get(pair.one), names.get(pair.other)
    if one is None or other is None or not pair.same_effect or pair.instead in ("neither", "uncertain"):
        return
    kept, gone = (one, other) if pair.instead == "one" else (other, one)
    if pair.instead == "both" and _use(gone) > _use(kept):
        kept, gone = gone, kept
    numbers = {
        "alike_percent": pair.percent,
        "proposals": gone.numbers.counts.proposals,
        "proposals_of_the_other": kept.numbers.counts.proposals,
    }
    reason = f"{pair.percent}% of what they say is the same, and {kept.name} takes all that {gone.name} takes."
    close = command("tools", "retire", "--reason", f"use {kept.name}", "--", gone.name)
    yield Proposal(Kind.MERGE, gone.name, reason, numbers, close, kept.name)


def _use(tool: ToolReview) -> tuple[int, bool, str]:
    """Of how much use a tool is: proposals after which no other was called on the same, then whether it is owned."""
    return tool.numbers.counts.proposals - tool.signs.exchanged, bool(tool.owner), tool.name


_KINDS: Final[tuple[Propose, ...]] = (
    _freeze,
    _retire,
    _narrow,
    _fix_description,
    _add_owner,
    _add_examples,
    _timeout,
)
