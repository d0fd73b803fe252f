"""The tool by which a model reads on in a result that was too long to be shown: governed like any other."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from interlock.core.artifact import Page
from interlock.core.call import Principal
from interlock.core.canonical import Json
from interlock.core.decision import Deny
from interlock.core.errors import ToolFault
from interlock.core.functions import Context, Result
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.tool import ErrorContract
from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool

ANY_LABELS = Labels(Confidentiality.RESTRICTED, Trust.UNTRUSTED)
"""The ceiling: what is read carries the labels of the result it is read from."""

PAGE_BYTES = 16_384
NOT_READ = ErrorContract("NOT_READ", nothing_happened=True, description="No such result, or nothing at that place.")


class Results(Protocol):
    """Where results are read from (`gate.results`)."""

    async def read(self, handle: str, *, by: Principal, offset: int = 0, length: int = PAGE_BYTES) -> Page | Deny:
        """A page."""

    async def search(self, handle: str, text: str, *, by: Principal, most: int = 20) -> object:
        """Places at which a text stands, or a refusal."""

    async def part(
        self, handle: str, pointer: str = "", *, by: Principal, start: int = 0, count: int = 50
    ) -> Json | Deny:
        """What stands at a JSON pointer."""

    async def labels(self, handle: str, *, by: Principal) -> Labels | None:
        """The labels of a result."""


def read_result(results: Results, *, owner: str) -> Declared[..., Any]:
    """The tool `read_result`, of this owner."""

    @tool(
        effect="read",
        owner=owner,
        labels=ANY_LABELS,
        errors=[NOT_READ],
        use_when="an earlier result says that it is truncated and gives a handle",
    )
    async def read_result(
        handle: Annotated[str, Arg(max_length=64)],
        context: Context,
        *,
        find: Annotated[str, Arg(max_length=200)] = "",
        pointer: Annotated[str, Arg(max_length=500)] = "",
        start: Annotated[int, Arg(ge=0)] = 0,
    ) -> Result:
        """Read on in a result that was too long to be shown.

        Args:
            handle: the handle that the truncated result gives
            find: a text to look for; gives the places at which it stands
            pointer: a JSON pointer into the result, such as /items/3; gives what stands there
            start: where to begin: a byte offset, or with pointer the number of the first member
        """
        by = context.principal
        found: object
        if find:
            found = await results.search(handle, find, by=by)
        elif pointer:
            found = await results.part(handle, pointer, by=by, start=start)
        else:
            found = await results.read(handle, by=by, offset=start, length=PAGE_BYTES)
        if isinstance(found, Deny):
            raise ToolFault(NOT_READ.code, found.message)
        return Result(found, labels=await results.labels(handle, by=by) or ANY_LABELS)

    return read_result
