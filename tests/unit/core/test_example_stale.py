"""An example stops counting when its time is over, its version is not called, or what a model sees has changed."""

from datetime import date

import pytest

from interlock.core.example import Reviewed
from interlock.core.example_stale import stale, surface_digest, unreviewed, version_fits
from interlock.core.tool import Document, Localized
from tests.library import SCHEMA, example, spec

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        ("", "7", True),
        ("1", "1", True),
        ("1", "2", False),
        ("1.x", "1.4.2", True),
        ("1.x", "2.0", False),
        ("1.0.x", "1.5", False),
        ("1.0.x", "1", True),
        (">=1.2 <2", "1.10", True),
        (">=1.2 <2", "2.0", False),
        (">= 1.2, < 2", "1.2", True),
        (">1", "1.0", False),
        ("<=1", "1.0", True),
        (">=1", "beta", False),
        ("beta", "beta", True),
        ("nonsense", "1", False),
    ],
)
def test_a_version_is_wanted_by_name_or_by_a_range_of_numbers(wanted: str, version: str, fits: bool) -> None:
    assert version_fits(wanted, version) is fits


@pytest.mark.requirement("REG-8")
def test_an_example_is_stale_from_the_day_after_it_expires() -> None:
    assert stale(example(expires="2026-11-30"), spec(), today=TODAY) == ""
    assert "expired on 2026-11-29" in stale(example(expires="2026-11-29"), spec(), today=TODAY)


@pytest.mark.requirement("REG-8")
def test_an_example_of_a_version_that_is_not_called_by_default_is_stale() -> None:
    assert "2 is called by default" in stale(example(version="1"), spec(version="2"), today=TODAY)


@pytest.mark.requirement("REG-8")
@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Look something else up."},
        {"input_schema": Document.of({**SCHEMA, "required": ["title"]})},
        {"output_schema": Document.of({"type": "string"})},
        {"localized": {"zh": Localized(description="查找。")}},
        {"not_for": "secrets"},
    ],
)
def test_an_example_is_stale_once_what_a_model_sees_has_changed(changed: dict[str, object]) -> None:
    accepted = example(seen=surface_digest(spec()))
    assert stale(accepted, spec(), today=TODAY) == ""
    assert "have changed since" in stale(accepted, spec(**changed), today=TODAY)


def test_what_no_model_sees_leaves_an_example_as_it_is() -> None:
    assert stale(example(seen=surface_digest(spec())), spec(timeout_ms=5), today=TODAY) == ""


@pytest.mark.requirement("REG-8")
def test_an_example_of_another_domain_counts_once_somebody_by_name_has_reviewed_it() -> None:
    foreign = example(domain="sales")
    assert "nobody has reviewed it" in unreviewed(foreign, spec(owner="notes"))
    assert "nobody has reviewed it" in unreviewed(example(domain="sales", reviewed=Reviewed(by=" ")), spec())
    assert unreviewed(example(domain="sales", reviewed=Reviewed(by="bob")), spec()) == ""
    assert unreviewed(example(domain="notes"), spec()) == ""
    assert unreviewed(foreign, spec(business_owner="sales")) == ""


def test_a_tool_without_an_owner_takes_no_example_of_a_domain_unreviewed() -> None:
    assert "no domain" in unreviewed(example(domain="sales"), spec(owner=""))
