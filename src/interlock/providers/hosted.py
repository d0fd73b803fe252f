"""Is what all hosted models share: how one is declared, and that asking it is one request over one transport.

A provider adds its address, its headers, and which codec reads it. A key stands in the headers of a request and nowhere
else: it is not in `repr`, and what a server sends back is cleaned of it.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final
from urllib.parse import urlsplit

import orjson

from interlock.core.errors import SettingsInvalid
from interlock.loop.model import Price, Reply
from interlock.models.codec import Codec, Options
from interlock.models.dialects import Dialect
from interlock.providers.faults import REPEATABLE
from interlock.providers.transport import Outgoing, Patience, Transport, unsent

TOKENS_MAX: Final = 8_192


class NotSendable(Exception):
    """A request that cannot be made, such as one without credentials. The message is for people."""


@dataclass(eq=False)
class Hosted(ABC):
    """One model behind one address.

    - `model`: as the provider names it. `name`: what runs find it under again; by default as
      `model_of` spells it, `PROVIDER:MODEL`, with `@BASE_URL` where that is not the provider's own.
    - `base_url`: where the API is, up to its version. `headers`: others that it wants, such as an organization's.
    - `stream`: whether answers are asked for in pieces, so that a server that hangs is noticed early.
    - `tokens_max`, `temperature`, `parallel_calls`, `tokens_field`, `extra`: see `Options`.
    - `strict`: whether the provider is to hold the model to schemas; by default where it is known to.
    - `price`: for limits on cost. `patience`: how long the server is waited for.
    - `trust_env`: whether proxies that the environment names are used; by default for all but loopback addresses.
    """

    model: str
    _: KW_ONLY
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    name: str = ""
    stream: bool = True
    tokens_max: int = TOKENS_MAX
    temperature: float | None = None
    parallel_calls: bool = False
    tokens_field: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    strict: bool | None = None
    price: Price | None = None
    patience: Patience = field(default_factory=Patience)
    trust_env: bool | None = None
    options: Options = field(init=False, repr=False)
    _transport: Transport = field(init=False, repr=False)

    PROVIDER = ""
    URL = ""
    REPEATABLE = REPEATABLE

    def __post_init__(self) -> None:
        self.base_url = (self.base_url or self.URL).rstrip("/")
        self.name = self.name or f"{self.PROVIDER}:{self.model}" + ("" if self._at_home else f"@{self.base_url}")
        self._check()
        self.options = Options(
            model=self.model,
            tokens_max=self.tokens_max,
            temperature=self.temperature,
            stream=self.stream,
            parallel_calls=self.parallel_calls,
            tokens_field=self._tokens_field() if self.tokens_field is None else self.tokens_field,
            extra={**self._extra(), **self.extra},
        )
        self._transport = Transport(
            self.codec, patience=self.patience, trust_env=self.trust_env, repeatable=self.REPEATABLE
        )

    @property
    @abstractmethod
    def codec(self) -> Codec:
        """How the provider spells requests and turns."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How tools are declared to it."""

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """Send one request, once, and read the answer. Never raises for what the server or the network does."""
        streamed = self._streams(body)
        url, content = self.base_url + self._path(streamed), _encoded(body)
        try:
            keys = await self._keys(url, content)
        except NotSendable as fault:
            return unsent(str(fault))
        headers = {"content-type": "application/json", **keys, **self.headers}
        return await self._transport.ask(Outgoing(url, headers=headers, content=content, streamed=streamed))

    async def close(self) -> None:
        """Let go of connections."""
        await self._transport.close()

    @abstractmethod
    def _path(self, streamed: bool) -> str:
        """Where requests go, below `base_url`."""

    @abstractmethod
    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        """The headers that say who asks. Raises NotSendable."""

    def _streams(self, body: Mapping[str, object]) -> bool:
        """Whether the body asks for a stream; some providers are asked by the address."""
        return body.get("stream") is True

    def _tokens_field(self) -> str:
        return ""

    def _extra(self) -> Mapping[str, object]:
        return {}

    @property
    def _at_home(self) -> bool:
        """The server is the provider's own, not one that is compatible with it."""
        return self.base_url == self.URL

    @property
    def _is_strict(self) -> bool:
        return self._at_home if self.strict is None else self.strict

    def _check(self) -> None:
        if not self.model or not self.model.isprintable():
            raise SettingsInvalid(f"{self.PROVIDER}: name a model, as the provider spells it")
        try:
            at = urlsplit(self.base_url)
        except ValueError:
            at = urlsplit("")
        asked = f"{self.PROVIDER}:{self.model}"  # the name may hold an address, which may hold a secret
        if at.scheme not in {"http", "https"} or not at.hostname or at.query or at.fragment:
            raise SettingsInvalid(f"{asked}: base_url must be an address such as https://host/v1, without a query")
        if at.username is not None or at.password is not None:
            raise SettingsInvalid(f"{asked}: base_url must not hold a password; give it as api_key or in headers")
        if not self.api_key.isascii() or not self.api_key.isprintable() or " " in self.api_key:
            raise SettingsInvalid(f"{asked}: the API key holds blanks or signs that no key has")
        for name, value in self.headers.items():
            if not (name + value).isascii() or not (name + value).isprintable():
                raise SettingsInvalid(f"{asked}: a header holds signs that HTTP does not allow")
        if type(self.tokens_max) is not int or self.tokens_max < 1:
            raise SettingsInvalid(f"{asked}: tokens_max must be a whole number from 1")


def _encoded(body: Mapping[str, object]) -> bytes:
    """JSON of it. Integers of any size and half surrogate pairs are written too, if more slowly."""
    try:
        return orjson.dumps(dict(body))
    except TypeError:
        return json.dumps(dict(body), separators=(",", ":")).encode()
