"""Asks models on Amazon Bedrock by Converse and ConverseStream, with an API key or with AWS credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.errors import SettingsInvalid
from interlock.models import bedrock
from interlock.models.codec import Codec
from interlock.models.dialects import Dialect
from interlock.providers.hosted import Hosted

if TYPE_CHECKING:
    from interlock.providers.sigv4 import Signer


@dataclass(eq=False)
class Bedrock(Hosted):
    """A model on Bedrock in `region`. Without an `api_key` requests are signed with the AWS credentials that botocore
    finds (environment, profile, role), which the extra `interlock[bedrock]` brings; `profile` names one of several.
    """

    region: str = "us-east-1"
    profile: str | None = None
    _signer: Signer | None = field(default=None, init=False, repr=False)

    PROVIDER = "bedrock"

    def __post_init__(self) -> None:
        if not self.region.replace("-", "").isalnum():
            raise SettingsInvalid(f"bedrock: region must be one such as us-east-1, not {self.region!r}")
        self.base_url = self.base_url or f"https://bedrock-runtime.{self.region}.amazonaws.com"
        super().__post_init__()
        if not self.api_key:
            self._signer = _signer(self.region, profile=self.profile)

    @property
    def codec(self) -> Codec:
        """Converse."""
        return bedrock

    @property
    def dialect(self) -> Dialect:
        """The one that there is."""
        return Dialect.BEDROCK

    def _path(self, streamed: bool) -> str:
        return bedrock.path(self.options)

    @property
    def _at_home(self) -> bool:
        return self.base_url == f"https://bedrock-runtime.{self.region}.amazonaws.com"

    async def _keys(self, url: str, content: bytes) -> Mapping[str, str]:
        """Finding credentials may read files and ask the machine's own service: not in the event loop."""
        if self._signer is None:
            return {"authorization": f"Bearer {self.api_key}"}
        return await asyncio.to_thread(self._signer.signed, url, content)

    def _streams(self, body: Mapping[str, object]) -> bool:
        return self.stream


def _signer(region: str, *, profile: str | None) -> Signer:
    try:
        from interlock.providers.sigv4 import Signer
    except ImportError:
        raise SettingsInvalid(
            "bedrock: give an API key (AWS_BEARER_TOKEN_BEDROCK), or install what signs requests with AWS credentials: "
            "pip install 'interlock[bedrock]'"
        ) from None
    return Signer(region, profile=profile)
