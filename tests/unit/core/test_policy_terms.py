"""The words of authorization mean one thing each, however a host spells them."""

import pytest

from interlock.core.policy_compile import compile_source
from interlock.core.policy_terms import Mode, PolicySource

ALL = "permit (principal, action, resource);"


@pytest.mark.requirement("POL-7")
def test_a_mode_named_as_text_is_that_mode_and_one_that_there_is_not_is_refused() -> None:
    assert PolicySource("main", ALL, "enforce").mode is Mode.ENFORCE  # type: ignore[arg-type]
    assert compile_source(PolicySource("main", ALL, "log_only"))[0].mode is Mode.LOG_ONLY  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Mode"):
        PolicySource("main", ALL, "off")  # type: ignore[arg-type]
