"""Draws the tables of the lifecycle for the documentation: what each state allows, and what each move needs."""

from __future__ import annotations

from interlock.core.lifecycle import ALLOWED, MOVES, Lifecycle, MoveGate, Need, Rule, Use

_SAYS = {
    Use.NAME: "its name alone means it",
    Use.NEW_PIN: "an agent may be sent to it",
    Use.NEW_RUN: "a run that starts binds it",
    Use.BOUND_RUN: "a run that is bound calls it",
    Use.CALL: "any other call",
    Use.CODE: "its code is asked what became of earlier calls",
}


def uses_table() -> str:
    """What each state allows, as a Markdown table."""
    rows = [f"| state | {' | '.join(_SAYS[use] for use in Use)} |", "|---" * (len(Use) + 1) + "|"]
    rows += [f"| {state.value} | {' | '.join(_cell(ALLOWED[state][use], use) for use in Use)} |" for state in ALLOWED]
    return "\n".join(rows)


def moves_table() -> str:
    """Where a version may go, and what that needs, as a Markdown table."""
    rows = ["| from | to | needs | needs, unless somebody waives it by name and with a reason |", "|---|---|---|---|"]
    for state, moves in MOVES.items():
        rows += [f"| {state.value} | {to.value} | {_firm(gate)} | {_waivable(gate)} |" for to, gate in moves.items()]
        if not moves:
            rows.append(f"| {state.value} | nowhere | | |")
    return "\n".join(rows)


def moves_diagram() -> str:
    """The moves as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> candidate", "    [*] --> available"]
    lines += [f"    {state.value} --> {to.value}" for state, moves in MOVES.items() for to in moves]
    return "\n".join([*lines, *(f"    {state.value} --> [*]" for state in Lifecycle if not MOVES[state])])


def _cell(rule: Rule, use: Use) -> str:
    if rule.code is None:
        return "yes"
    if rule.drains:
        return f"until its drain date, then `{rule.code.value}`"
    return "where there is no other" if use is Use.NAME else f"`{rule.code.value}`"


def _firm(gate: MoveGate) -> str:
    return _joined(gate.firm)


def _waivable(gate: MoveGate) -> str:
    return _joined(gate.waivable)


def _joined(needs: frozenset[Need]) -> str:
    return ", ".join(each.value for each in Need if each in needs)
