"""What `http_tool` takes, with the type of each option, so that a misspelled or misfitting one is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import BodyKind, Credential, HttpError
from interlock.declare.http_request import HttpParameter
from interlock.declare.options import SharedOptions, ToolOptions, checked
from interlock.declare.typed_values import check_keys, typed


@dataclass(frozen=True, slots=True)
class HttpLookUp:
    """The request that looks a lost operation up. An answer with a status from 200 to 299 says that it happened.

    Its parameters take the arguments of the tool, by name, or the operation's key. `not_happened` are the statuses that
    prove that nothing happened; any other answer proves nothing. `credentials` of None are the tool's, at its origin.
    A search answers 200 whether it found something or not: `found_at` is the JSON pointer, such as `/items/0`, at which
    it says what it found. Nothing there proves nothing, unless `absence_proves` that it did not happen.
    """

    url: str
    method: str = "GET"
    parameters: tuple[HttpParameter, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Credential, ...] | None = None
    not_happened: tuple[int, ...] = ()
    found_at: str = ""
    absence_proves: bool = False


class HttpOptions(SharedOptions, total=False):
    """What `http_tool(...)` takes, all by keyword; its docstring says what each option is for."""

    method: str
    url: str
    parameters: Sequence[HttpParameter]
    body: BodyKind | str
    headers: Mapping[str, str]
    credentials: Sequence[Credential]
    errors: Sequence[HttpError]
    reconcile: HttpLookUp
    key_header: str
    fence_header: str
    connect_timeout_ms: int
    read_timeout_ms: int


HTTP_HINTS: Mapping[str, Any] = {
    "method": str,
    "url": str,
    "parameters": tuple[HttpParameter, ...],
    "body": BodyKind,
    "headers": dict[str, str],
    "credentials": tuple[Credential, ...],
    "errors": tuple[HttpError, ...],
    "reconcile": HttpLookUp,
    "key_header": str,
    "fence_header": str,
    "connect_timeout_ms": int,
    "read_timeout_ms": int,
}
"""The options that say how a tool is called; all others are those of any tool."""


def split(options: HttpOptions) -> tuple[dict[str, Any], ToolOptions]:
    """What is said of the requests, and of the tool, each as its type says. Raises `SpecInvalid`."""
    given: Mapping[str, object] = {**options}
    name = str(given.get("name", "the tool"))
    check_keys(given, HTTP_HINTS.keys() | SharedOptions.__annotations__.keys(), path=f"the options of {name}")
    for needed in ("name", "description", "method", "url"):
        if not given.get(needed):
            raise SpecInvalid(f"{name}: say its {needed}")
    http = {
        each: typed(given[each], hint, path=f"{name}: {each}") for each, hint in HTTP_HINTS.items() if each in given
    }
    rest = cast(ToolOptions, {each: value for each, value in given.items() if each not in HTTP_HINTS})
    return http, checked(rest, tool=name)
