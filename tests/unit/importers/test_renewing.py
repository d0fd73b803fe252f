"""Version numbers rise where they are plain, and options are written as files say them."""

from interlock.core.effect import Effect
from interlock.importers.renewing import next_version, written_options


def test_a_plain_number_rises_and_any_other_is_raised_by_hand() -> None:
    assert [next_version(each) for each in ("1", "9", "1.2", "²", "")] == ["2", "10", "1.2", "²", ""]


def test_options_are_written_as_they_are_read() -> None:
    given = {"effect": Effect.READ, "resource": ("Pet", "id"), "locks": ("a",)}
    assert written_options(given) == {"effect": "read", "resource": {"type": "Pet", "id": "id"}, "locks": ["a"]}
