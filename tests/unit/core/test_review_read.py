"""What a record does not say, or says in another form than it should, is unknown."""

import pytest

from interlock.core.journal import EventKind
from interlock.core.review_counts import Tallied
from interlock.core.review_read import UNKNOWN, count_closed, count_end, finds_nothing, place_of, said_in
from tests.unit.core.review_cases import record


def test_a_record_that_is_not_kept_or_is_none_says_nothing() -> None:
    assert said_in(record(EventKind.SETTLED, kept=False)) is None
    assert said_in(record(EventKind.SETTLED, a=1)) == {"a": 1}


@pytest.mark.parametrize("said", [{}, {"tool": "find"}, {"tool": 7, "version": "1"}, {"tool": "find", "version": None}])
def test_only_a_published_version_is_a_place(said: dict[str, str]) -> None:
    assert place_of(said) == UNKNOWN


@pytest.mark.parametrize("spoilt", [{"status": ["ok"]}, {"attempts": "many"}, {"working_ms": True}, {"code": 7}])
def test_a_field_of_another_form_is_counted_as_unknown(spoilt: dict[str, str]) -> None:
    tallied = Tallied()
    count_end(tallied, {"working_ms": 5, "status": "ok", **spoilt})
    count_closed(tallied, {"closer": "person", **spoilt})
    assert tallied.numbers().counts.ended == 1
    assert tallied.numbers().counts.closed_by_person == 1


def test_a_search_finds_nothing_where_every_list_is_empty() -> None:
    assert finds_nothing([]) and finds_nothing({"tools": [], "more": False})  # noqa: PT018
    assert not finds_nothing({"tools": [1], "more": []})
    assert not finds_nothing({"text": ""}) and not finds_nothing(None)  # noqa: PT018
