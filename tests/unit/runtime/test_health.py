"""A tool that does not work is known not to, for how long, and by whose word."""

from dataclasses import dataclass

import pytest

from interlock.core.breaker import BreakerRule
from interlock.core.outcome import Failed, Succeeded
from interlock.core.refusals import Code
from interlock.core.tool import SHARED, ToolSpec
from interlock.declare import tool
from interlock.declare.http import http_tool
from interlock.runtime.health import Health, HealthState


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return word


SPEC = look_up.spec()
SLOW = Failed(Code.TOOL_TIMEOUT, "slow")


@dataclass
class Watch:
    at_s: float = 0.0

    def now_us(self) -> int:
        return int(self.at_s * 1_000_000)

    def monotonic_s(self) -> float:
        return self.at_s

    async def sleep(self, seconds: float) -> None:
        self.at_s += seconds


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def health(watch: Watch) -> Health:
    return Health(clock=watch, rule=BreakerRule(failures_max=2, rest_s=10.0))


def test_failures_of_one_endpoint_close_it_and_no_other(health: Health, watch: Watch) -> None:
    other = look_up.spec(tenant="acme")
    for _ in range(2):
        assert health.unavailable(SPEC) is None
        health.report(SPEC, outcome=SLOW)
    assert health.unavailable(SPEC) == 10.0
    assert health.unavailable(other) is None
    assert health.state(SPEC) is HealthState.UNREACHABLE
    assert health.withheld(SPEC)
    watch.at_s = 10.0
    assert health.state(SPEC) is HealthState.DEGRADED
    assert not health.withheld(SPEC)
    assert health.unavailable(SPEC) is None
    assert health.unavailable(SPEC) == 10.0
    health.report(SPEC, outcome=Succeeded(b"1"))
    assert list(health.breakers()) == []


def http(name: str, origin: str = "https://api.example.com") -> ToolSpec:
    return http_tool(name=name, description="Read.", effect="read", method="GET", url=f"{origin}/{name}").spec()


@pytest.mark.requirement("EXEC-3")
def test_http_tools_of_an_origin_share_what_one_of_them_found_out(health: Health, watch: Watch) -> None:
    one, other, elsewhere = http("one"), http("other"), http("other", "https://b.example.com")
    health.report(one, outcome=SLOW)
    health.report(other, outcome=SLOW)
    assert health.unavailable(one) == health.unavailable(other) == 10.0
    assert health.state(other) is HealthState.UNREACHABLE
    assert health.unavailable(elsewhere) is None
    watch.at_s = 10.0
    assert health.unavailable(other) is None  # the probe
    assert health.unavailable(one) == 10.0
    health.report(other, outcome=Succeeded(b"1"))
    assert health.unavailable(one) is None


@pytest.mark.requirement("EXEC-3")
def test_an_error_of_a_tools_contract_says_nothing_of_its_origin(health: Health) -> None:
    for _ in range(2):
        health.report(http("one"), outcome=Failed(Code.TOOL_ERROR, "", tool_code="LOCKED", retryable=True))
    assert health.unavailable(http("one")) == 10.0
    assert health.unavailable(http("other")) is None


def test_an_operator_who_calls_one_tool_healthy_opens_its_origin(health: Health) -> None:
    for _ in range(2):
        health.report(http("one"), outcome=SLOW)
    health.set(SHARED, "one", state=HealthState.HEALTHY)
    assert health.unavailable(http("one")) is None
    assert list(health.breakers()) == []


@pytest.mark.parametrize("state", [HealthState.MAINTENANCE, HealthState.QUOTA_SPENT])
def test_an_operator_can_close_a_tool_for_a_time(health: Health, watch: Watch, state: HealthState) -> None:
    health.set(SHARED, "look_up", state=state, for_s=30.0)
    assert health.unavailable(SPEC) == 30.0
    assert health.state(SPEC) is state
    assert health.withheld(SPEC)
    watch.at_s = 30.0
    assert health.unavailable(SPEC) is None
    assert health.state(SPEC) is HealthState.HEALTHY


def test_without_an_end_it_stays_closed_until_an_operator_opens_it(health: Health, watch: Watch) -> None:
    health.set(SHARED, "look_up", state=HealthState.MAINTENANCE)
    watch.at_s = 1e6
    assert health.unavailable(SPEC) == 60.0
    health.set(SHARED, "look_up", state=HealthState.HEALTHY)
    assert health.unavailable(SPEC) is None


def test_a_degraded_tool_takes_calls_and_says_so(health: Health) -> None:
    health.set(SHARED, "look_up", state=HealthState.DEGRADED)
    assert health.unavailable(SPEC) is None
    assert health.state(SPEC) is HealthState.DEGRADED


def test_an_operator_who_calls_it_healthy_closes_its_breaker(health: Health) -> None:
    for _ in range(2):
        health.report(SPEC, outcome=SLOW)
    health.set(SHARED, "look_up", state=HealthState.HEALTHY)
    assert health.unavailable(SPEC) is None


def test_nobody_can_set_by_hand_what_only_the_breaker_knows(health: Health) -> None:
    with pytest.raises(ValueError, match="unreachable"):
        health.set(SHARED, "look_up", state=HealthState.UNREACHABLE)
