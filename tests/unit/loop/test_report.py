"""A report says how a run stands: who is at it, what it waits for, what is asked next."""

from interlock import Agent, RunState
from interlock.core.call import Principal
from interlock.loop.entries import Begun, Ended, Entry
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause
from interlock.loop.report import report_of
from interlock.loop.view import RunView

ALICE = Principal("acme", "alice")


def test_a_run_that_has_ended_says_how_and_of_whom_the_next_model_would_have_been_asked() -> None:
    view = RunView("acme", "r")
    agents = (Agent("planner", model="large"),)
    view.apply(Entry(Begun("Plan.", ALICE, "planner", agents, "small", RunLimits(), ()), (Cause.BEGUN,), 5, 1))
    begun = report_of(view)
    assert (begun.state, begun.agent, begun.model, begun.task) == (RunState.MODEL_REQUEST, "planner", "large", "Plan.")
    assert (begun.principal, begun.started_us, begun.waiting, begun.success) == ("alice", 5, (), None)
    view.apply(Entry(Ended("cancelled", "Enough.", "", success=None), (Cause.CANCELLED,), 6, 2))
    ended = report_of(view)
    assert (ended.state, ended.reason, ended.why) == (RunState.CANCELLED, "cancelled", "Enough.")
