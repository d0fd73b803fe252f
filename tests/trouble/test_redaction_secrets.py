"""Secrets that others' tools wrote to logs: headers by default, and keys that a list of names did not know."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.canonical import canonical, decode
from interlock.core.redaction import MASK, Redactor, loggable_headers

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = pytest.mark.trouble


@pytest.mark.requirement("OBS-5")
def test_red_01_headers_are_logged_by_a_list_of_what_may_be_seen(trouble_case: TroubleCase) -> None:
    headers: Mapping[str, str] = trouble_case("RED-01")["input"]["headers"]
    logged = loggable_headers(headers)
    assert logged == dict.fromkeys(headers, MASK)
    assert not any(secret in str(logged) for secret in headers.values())


@pytest.mark.requirement("OBS-5")
def test_red_01_headers_that_reach_a_sink_in_another_way_are_masked_by_name(trouble_case: TroubleCase) -> None:
    headers: dict[str, str] = dict(trouble_case("RED-01")["input"]["headers"])
    redactor = Redactor()
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
    for shown in (
        redactor.text(lines),
        redactor.text(str(dict(headers))),
        str(redactor.json({"headers": dict(headers)})),
    ):
        assert "s3cr3t" not in shown
        assert all(name in shown for name in headers)


@pytest.mark.requirement("OBS-5")
def test_red_03_every_name_of_a_secret_is_known_at_any_depth_and_counts_survive(trouble_case: TroubleCase) -> None:
    arguments = trouble_case("RED-03")["input"]["args"]
    redactor = Redactor()
    expected = {"cfg": [{"apiKey": MASK}, {"nested": {"PassWord": MASK}}], "max_tokens": 100}
    assert redactor.json(arguments) == expected
    assert decode(redactor.json_bytes(canonical(arguments))) == expected
    assert "s3cr3t" not in redactor.text(str(arguments))
    assert "'max_tokens': 100" in redactor.text(str(arguments))
