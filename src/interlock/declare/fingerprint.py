"""A fingerprint of a function's code, so that other code under the same version is noticed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from hashlib import sha256
from types import CodeType


def fingerprint(function: Callable[..., object]) -> str:
    """SHA-256 (hex) over the qualified name and the source, or the bytecode where there is no source."""
    plain = inspect.unwrap(function)
    name = f"{getattr(plain, '__module__', '')}:{getattr(plain, '__qualname__', type(plain).__qualname__)}"
    return sha256(name.encode() + b"\0" + _code(plain)).hexdigest()


def _code(function: Callable[..., object]) -> bytes:
    try:
        return inspect.getsource(function).encode()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return _bytecode(code) if isinstance(code, CodeType) else b""


def _bytecode(code: CodeType) -> bytes:
    """Bytecode with the constants that it uses, nested functions by their own bytecode."""
    constants = [_bytecode(each) if isinstance(each, CodeType) else repr(each).encode() for each in code.co_consts]
    return b"\0".join([code.co_code, *constants, *[each.encode() for each in code.co_names]])
