"""Places tell rows apart."""

from interlock.core.budget import ScopeKey, ScopeKind
from interlock.store.postgres_rows import place_of, place_of_scope


def test_places_differ_wherever_what_they_name_differs() -> None:
    scopes = [
        ScopeKey("a", ScopeKind.RUN, "b"),
        ScopeKey("a", ScopeKind.RUN, "b", 1),
        ScopeKey("a", ScopeKind.TASK, "b"),
    ]
    places = {place_of("a", "bc"), place_of("ab", "c"), place_of("a", "b", "c"), *map(place_of_scope, scopes)}
    assert len(places) == 6


def test_a_place_has_one_size() -> None:
    assert {len(place_of("x" * size)) for size in (0, 1, 100_000)} == {32}
