"""Options of an HTTP tool are read by their types, as a manifest writes them or as Python does."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Credential, CredentialPlace, HttpError
from interlock.declare.http_options import HttpOptions, split
from interlock.declare.http_request import HttpParameter

WRITTEN: dict[str, object] = {
    "name": "act",
    "description": "Act.",
    "method": "GET",
    "url": "https://a/",
    "effect": "read",
    "parameters": [{"name": "q", "place": "query", "schema": {"type": "integer"}}],
    "credentials": [{"secret": "t", "place": "header", "name": "X-Key"}],
    "errors": [{"status": 404, "code": "NONE", "nothing_happened": True}],
}


def read(**changed: object) -> dict[str, object]:
    given: HttpOptions = {**WRITTEN, **changed}  # type: ignore[typeddict-item]
    return split(given)[0]


def test_mappings_become_what_they_say() -> None:
    http = read()
    assert http["parameters"] == (HttpParameter("q", "query", {"type": "integer"}),)
    assert http["credentials"] == (Credential("t", CredentialPlace.HEADER, "X-Key"),)
    assert http["errors"] == (HttpError(404, "NONE", nothing_happened=True),)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parameters": [{"name": "q", "plaice": "query"}]}, "'plaice'"),
        ({"parameters": [{"name": "q"}]}, "place is missing"),
        ({"credentials": ["token"]}, "Credential"),
        ({"errors": [{"status": "404", "code": "NONE"}]}, "status"),
        ({"headers": {"X": 1}}, "text"),
        ({"descripton": "x"}, "description"),
    ],
)
def test_a_slip_is_refused_by_its_place(changed: dict[str, object], said: str) -> None:
    with pytest.raises(SpecInvalid, match=said):
        read(**changed)
