"""Every style writes what the specification's own table says, and no value ends its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import Json
from interlock.core.http_style import Misfit, in_header, in_path, is_absent, pairs
from interlock.core.http_template import Place, Slot, Style

EMPTY, BLUE = "", "blue"
ARRAY: Json = ["blue", "black", "brown"]
OBJECT: Json = {"R": 100, "G": 200, "B": 150}

# The table "Style Examples" of OpenAPI 3.1.1: style, explode, and what an empty text, a text, a list, an object become.
TABLE = [
    ("matrix", False, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"),
    ("matrix", True, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"),
    ("label", False, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"),
    ("label", True, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"),
    ("simple", False, "", "blue", "blue,black,brown", "R,100,G,200,B,150"),
    ("simple", True, "", "blue", "blue,black,brown", "R=100,G=200,B=150"),
    ("form", False, "color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"),
    ("form", True, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"),
    ("spaceDelimited", False, None, None, "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, None, None, "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, None, None, None, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
]


def slot(style: str, *, explode: bool = False, place: Place = Place.QUERY, reserved: bool = False) -> Slot:
    return Slot("color", place, "color", Style(style), explode, reserved)


def written(style: str, value: Json, *, explode: bool = False) -> str:
    if style in ("matrix", "label", "simple"):
        return in_path(slot(style, explode=explode, place=Place.PATH), value)
    return "&".join("=".join(pair) for pair in pairs(slot(style, explode=explode), value))


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(("style", "explode", "empty", "text", "array", "thing"), TABLE)
def test_the_table_of_the_specification_holds(
    style: str, explode: bool, empty: str | None, text: str | None, array: str | None, thing: str | None
) -> None:
    for value, expected in ((EMPTY, empty), (BLUE, text), (ARRAY, array), (OBJECT, thing)):
        if expected is not None:
            assert written(style, value, explode=explode) == expected


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("style", ["matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "json"])
@given(text=st.text(alphabet=st.sampled_from("/?#[]@!$&'()*+,;= %\"<>\\^`{|}~é\r\n\0ab"), min_size=1, max_size=12))
def test_no_value_ends_its_place(style: str, text: str) -> None:
    found = written(style, text) if style != "json" else in_path(slot("json", place=Place.PATH), text)
    body = found.removeprefix(";color=").removeprefix("color=").removeprefix(".")
    assert not set(body) & set("/?#[]@!$&'()*+,;= \"<>\\^`{|}\r\n\0é")


@pytest.mark.requirement("EXEC-6")
def test_reserved_characters_stay_but_for_those_that_would_start_another_parameter() -> None:
    assert pairs(slot("form", reserved=True), "a/b?c:d&e=f#g+h%2e") == [("color", "a/b?c:d%26e%3Df%23g%2Bh%252e")]


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    ("style", "value"), [("form", [["a"]]), ("form", {"a": {"b": 1}}), ("form", [None]), ("deepObject", "a")]
)
def test_what_has_no_spelling_is_refused(style: str, value: Json) -> None:
    with pytest.raises(Misfit):
        pairs(slot(style, explode=True), value)


def test_numbers_and_booleans_are_written_as_json_writes_them() -> None:
    assert written("form", [True, 1, 2.5, 12345678901234567890]) == "color=true,1,2.5,12345678901234567890"


def test_null_and_what_is_empty_is_absent_and_an_empty_text_is_not() -> None:
    assert [is_absent(each) for each in (None, [], {}, "", 0, False)] == [True, True, True, False, False, False]


def test_a_header_is_not_percent_encoded_and_a_list_in_it_holds_no_delimiter() -> None:
    header = slot("simple", place=Place.HEADER)
    assert in_header(header, "a b, c") == "a b, c"
    assert in_header(header, ["a", "b"]) == "a,b"
    with pytest.raises(Misfit):
        in_header(header, ["a,b"])
