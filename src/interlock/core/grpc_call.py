"""The declared call of a gRPC tool: where it goes, and which messages it takes and gives.

On the wire a call is a POST of HTTP/2, so its place, metadata and credentials are those of a template. The messages are
described by the descriptors that were read when the tool was declared; no server can change them later.
"""

from __future__ import annotations

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.http_template import Origin, Template, read_url
from interlock.core.tool import ErrorContract, spec_to_json

KIND = "grpc"
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
"""The size of one message, unless the tool says another: the default of gRPC itself."""

STATUSES = tuple(
    """
    OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED
    RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
    UNAUTHENTICATED
    """.split()
)
"""By their numbers, from 0."""

_DNS = ("dns:///", "dns:")


@frozen
class GrpcCall:
    """One declared call; `takes` and `gives` are the full names of its messages.

    `streams`: the server answers with any number of messages.
    """

    request: Template
    takes: str
    gives: str
    streams: bool = False

    @property
    def target(self) -> str:
        """Kind and place, for people."""
        return f"CALL {self.request.origin}{self.request.path}"


@frozen
class LookUpCall:
    """The call that looks a lost operation up: OK says that it happened, `not_happened` which statuses that it did not.

    `fields` are fields of its message, each with the argument of the tool that fills it; none: the operation's key.
    """

    call: GrpcCall
    fields: tuple[tuple[str, str], ...]
    not_happened: tuple[str, ...] = ()


@frozen
class GrpcCode:
    """What runs one gRPC tool. `descriptors` is a FileDescriptorSet in base64; `statuses` say what each one means.

    An empty `key_metadata` or `fence_metadata` is not sent.
    """

    call: GrpcCall
    descriptors: str
    statuses: tuple[tuple[str, ErrorContract], ...] = ()
    look_up: LookUpCall | None = None
    key_metadata: str = "idempotency-key"
    fence_metadata: str = "interlock-fence"
    connect_timeout_ms: int = 10_000
    message_bytes_max: int = MESSAGE_BYTES_MAX

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all of it."""
        return sha256_hex(canonical(spec_to_json(self)))

    def status(self, name: str) -> ErrorContract | None:
        """What the contract says of a status."""
        return next((contract for status, contract in self.statuses if status == name), None)


def read_target(target: str, *, scheme: str) -> Origin:
    """The origin of `dns:///host:port` or `host:port`. Raises `SpecInvalid`, for other schemes of gRPC too."""
    place = next((target.removeprefix(each) for each in _DNS if target.startswith(each)), target)
    found = read_url(f"{scheme}://{place}")
    if place != place.partition("/")[0] or "?" in place or (":" in place and place.endswith(":")):
        raise SpecInvalid(f"the target {target!r} must be dns:///host:port: no path, and no other scheme")
    return found.origin
