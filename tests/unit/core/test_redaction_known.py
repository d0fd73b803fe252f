"""A known secret is compiled once, found in text and in JSON, and refused where it could be anything."""

import json

import pytest

from interlock.core.errors import RedactionInvalid
from interlock.core.redaction_known import checked, known, must_find
from interlock.core.redaction_patterns import compile_set


def test_the_same_secrets_are_compiled_once() -> None:
    assert known(frozenset({b"s3cr3t-a", b"s3cr3t-b"})) is known(frozenset({b"s3cr3t-b", b"s3cr3t-a"}))


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("secret", ['quo"te-\\n', "sl/ash-\n-tab\t", "ünï-çødé", "line\nbreak"])
def test_the_quick_search_finds_a_secret_at_each_level_of_json(secret: str) -> None:
    scan = known(frozenset({secret.encode()})).scan
    text = f"a {secret} b"
    for _ in range(3):
        assert scan.Match(text.encode())
        text = json.dumps(text, ensure_ascii=False)


def test_white_space_around_a_secret_is_not_part_of_it() -> None:
    assert checked("  s3cr3t\n") == checked(b"s3cr3t\n") == b"s3cr3t"


def test_a_search_that_finds_nothing_is_a_fault() -> None:
    with pytest.raises(RedactionInvalid, match="more known secrets"):
        must_find(compile_set([]), b"s3cr3t-a")


def test_a_known_secret_is_not_in_the_repr() -> None:
    assert "s3cr3t" not in repr(known(frozenset({b"s3cr3t-a"})))
