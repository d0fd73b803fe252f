"""A function whose signature no JSON object can fill, or that does not fit a schema, is refused with a sentence."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.functions import Context, Result
from interlock.core.tool import Parameter, ParameterSource
from interlock.declare.arg import Arg
from interlock.declare.signature import check_fit, context_parameters, read_signature


def typed(
    draft_id: str,
    amount: Annotated[int, Arg(unit="kg", ge=0)],
    token: Annotated[str, Arg(sensitive=True)],
    tenant: Annotated[str, Arg(inject="tenant")],
    ctx: Context,
    price: Annotated[str, Arg(currency="EUR", source=ParameterSource.USER)] = "0",
    note: str | None = None,
    absent: str = None,  # type: ignore[assignment]  # noqa: RUF013
) -> dict[str, int]:
    return {}


def test_parameters_defaults_and_meanings_are_read() -> None:
    found = read_signature(typed, descriptions={"draft_id": "Which."})
    assert found.input_schema == {
        "type": "object",
        "properties": {
            "draft_id": {"type": "string", "description": "Which."},
            "amount": {"type": "integer", "minimum": 0},
            "token": {"type": "string", "sensitive": True},
            "tenant": {"type": "string"},
            "price": {"type": "string", "default": "0"},
            "note": {"type": ["string", "null"], "default": None},
            "absent": {"type": "string"},
        },
        "required": ["draft_id", "amount", "token", "tenant"],
        "additionalProperties": False,
    }
    assert found.output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert found.parameters == (
        Parameter("amount", unit="kg"),
        Parameter("token", sensitive=True),
        Parameter("tenant", source=ParameterSource.CONTEXT, inject="tenant"),
        Parameter("price", currency="EUR", source=ParameterSource.USER),
    )
    assert context_parameters(typed) == {"ctx"}


@pytest.mark.parametrize("returned", [None, Any, object, Result])
def test_a_result_of_no_particular_type_has_no_output_schema(returned: object) -> None:
    def act() -> None: ...

    act.__annotations__["return"] = returned
    assert read_signature(act, descriptions={}).output_schema is None


def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
def many(*a: int) -> None: ...
def named(**a: int) -> None: ...
def positional(a: int, /) -> None: ...
def foreign(a: complex) -> None: ...
def forward(a: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def odd_default(a: list[object] = [object()]) -> None: ...  # noqa: B006, B008


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (untyped, "no type"),
        (many, "name each"),
        (named, "name each"),
        (positional, "positional"),
        (foreign, "no JSON Schema"),
        (forward, "cannot be resolved"),
        (odd_default, "no JSON value"),
    ],
)
def test_what_no_json_object_can_fill_is_refused(function: Callable[..., object], says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        read_signature(function, descriptions={})


def fits(a: str, ctx: Context, b: int = 1) -> None: ...


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("properties", "required", "says"),
    [
        ({"a": {}, "b": {}, "c": {}}, ["a"], "schema has c"),
        ({"a": {}}, ["a"], "b is not in"),
        ({"a": {}, "b": {}}, [], "does not require"),
    ],
)
def test_a_handler_that_does_not_fit_its_schema_is_refused(
    properties: dict[str, Any], required: list[Any], says: str
) -> None:
    with pytest.raises(SpecInvalid, match=says):
        check_fit(fits, schema={"type": "object", "properties": properties, "required": required})


def test_a_handler_that_fits_its_schema_is_accepted() -> None:
    check_fit(fits, schema={"properties": {"a": {}, "b": {}}, "required": ["a"]})
    check_fit(fits, schema={"properties": {"a": {"default": "x"}, "b": {}}})
