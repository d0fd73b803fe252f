"""Signs requests to Bedrock with AWS credentials, found and signed with by botocore (AWS Signature Version 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import botocore.auth
import botocore.awsrequest
import botocore.exceptions
import botocore.session

from interlock.providers.hosted import NotSendable

SERVICE: Final = "bedrock"
_FOUND_NONE: Final = "No AWS credentials were found: set AWS_PROFILE or AWS_ACCESS_KEY_ID, or give an API key."
_NOT_HAD: Final = "The AWS credentials could not be had; look at the profile, the role or the sign-in that gives them."


class Signer:
    """Signs with one identity. Credentials that expire are had anew by botocore as they do."""

    def __init__(self, region: str, *, profile: str | None = None) -> None:
        self._region = region
        self._session = botocore.session.Session(profile=profile)

    def signed(self, url: str, content: bytes) -> Mapping[str, str]:
        """The headers that sign this request, `content-type` among them. May block. Raises NotSendable."""
        try:
            found = self._session.get_credentials()
            frozen = found.get_frozen_credentials() if found else None
        except (botocore.exceptions.BotoCoreError, OSError):
            raise NotSendable(_NOT_HAD) from None
        if frozen is None:
            raise NotSendable(_FOUND_NONE)
        headers = {"content-type": "application/json"}
        request = botocore.awsrequest.AWSRequest("POST", url, headers=headers, data=content)
        botocore.auth.SigV4Auth(frozen, SERVICE, self._region).add_auth(request)
        return {name.lower(): value for name, value in request.headers.items()}
