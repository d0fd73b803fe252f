"""A setting that cannot be used is refused where it is written, by name."""

from typing import Any

import pytest

from interlock import Limit, Limits, ScopeKind, Settings, Unit
from interlock.core.errors import SettingsInvalid
from interlock.settings import FindsBy, Publish

LIMIT = Limit(ScopeKind.TOOL, Unit.CALLS, 3)


@pytest.mark.parametrize(
    "limits", [Limits((LIMIT,)), Limits([LIMIT]), (LIMIT,), [LIMIT], {LIMIT}, iter([LIMIT]), LIMIT]
)  # type: ignore[arg-type]
def test_limits_may_be_any_collection(limits: Any) -> None:
    assert Settings(limits=limits).limits == Limits((LIMIT,))


@pytest.mark.parametrize("limits", [3, None, "tool", [("tool", "calls", 3)]])
def test_what_is_no_limit_is_refused_with_what_one_looks_like(limits: Any) -> None:
    with pytest.raises(SettingsInvalid, match=r'Limit\("run", "calls", 30\)'):
        Settings(limits=limits)


@pytest.mark.parametrize("name", ["deadline_ms", "facts_timeout_ms", "waiting_max", "threads_max"])
@pytest.mark.parametrize("value", [0, -1, "5", 1.5, True, None])
def test_a_number_that_cannot_be_used_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingsInvalid, match=f"{name} must be a whole number from 1"):
        Settings(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["environment", "tenant"])
@pytest.mark.parametrize("value", ["", 3, None])
def test_a_text_that_cannot_be_used_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(SettingsInvalid, match=f"{name} must be a text"):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_secrets_are_texts_and_one_text_is_not_its_letters() -> None:
    assert Settings(secrets=["s3cret-token"]).secrets == ("s3cret-token",)  # type: ignore[arg-type]
    for given in ("s3cret-token", b"s3cret-token", 3, [b"s3cret-token"]):
        with pytest.raises(SettingsInvalid, match="secrets must be a collection of texts") as refused:
            Settings(secrets=given)  # type: ignore[arg-type]
        assert "s3cret" not in str(refused.value)


def test_what_opening_publishes_may_be_text() -> None:
    assert Settings(publish="nothing").publish is Publish.NOTHING  # type: ignore[arg-type]
    with pytest.raises(SettingsInvalid, match="publish must be all, new, nothing, not 'some'"):
        Settings(publish="some")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"tools_max": 0}, {"tools_max": -1}, {"tools_max": True}, {"finds_by": "luck"}])
def test_how_tools_are_found_and_how_many_are_offered_is_held_to_what_it_may_be(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsInvalid, match=next(iter(given))):
        Settings(**given)
    assert Settings(finds_by="meaning").finds_by is FindsBy.MEANING  # type: ignore[arg-type]
