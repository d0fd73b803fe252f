"""Which runner each kind of tool has, made when the first tool needs it, with what the host brings for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.errors import SettingsInvalid
from interlock.core.frozen import frozen
from interlock.core.http_address import read_allowed
from interlock.core.redaction import Redactor
from interlock.runners.by_kind import CodeRunner, RunnersByKind
from interlock.runners.python import PythonRunner
from interlock.runners.spool import Spools
from interlock.runners.threads import Threads
from interlock.settings import Settings

if TYPE_CHECKING:
    from ssl import SSLContext

    from interlock.runners.egress import Resolver


@frozen
class Kinds:
    """What runners are made of."""

    settings: Settings
    redactor: Redactor
    spools: Spools
    resolver: Resolver | None = None
    tls: SSLContext | None = None

    def runners(self) -> RunnersByKind:
        """The runners, none of them made yet."""
        return RunnersByKind({
            "python": self._python, "sandbox": self._sandbox, "http": self._http, "grpc": self._grpc, "mcp": self._mcp
        })  # fmt: skip

    def _python(self) -> CodeRunner:
        threads = Threads(threads_max=self.settings.threads_max)
        return PythonRunner(redactor=self.redactor, threads=threads, spools=self.spools)

    def _sandbox(self) -> CodeRunner:
        from interlock.runners.sandbox import SandboxRunner

        return SandboxRunner(redactor=self.redactor)

    def _http(self) -> CodeRunner:
        from interlock.runners.egress import GuardedNetwork
        from interlock.runners.http import HttpRunner

        network = GuardedNetwork(resolver=self.resolver, allowed=read_allowed(self.settings.egress_allow))
        return HttpRunner(
            clock=self.spools.clock, network=network, tls=self.tls, redactor=self.redactor, spools=self.spools
        )

    def _grpc(self) -> CodeRunner:
        try:
            from interlock.runners.grpc import GrpcRunner
            from interlock.runners.grpc_channel import Channels
        except ModuleNotFoundError as missing:
            raise SettingsInvalid("gRPC tools need grpcio: pip install 'interlock[grpc]'") from missing

        allowed = read_allowed(self.settings.egress_allow)
        channels = Channels(resolver=self.resolver, allowed=allowed, tls=self.tls)
        return GrpcRunner(channels=channels, redactor=self.redactor, spools=self.spools)

    def _mcp(self) -> CodeRunner:
        try:
            from interlock.runners.mcp import McpRunner
            from interlock.runners.mcp_http import HttpWays
            from interlock.runners.mcp_stdio import Processes
            from interlock.runners.mcp_ways import Ways
        except ModuleNotFoundError as missing:
            raise SettingsInvalid("MCP tools need an extra: pip install 'interlock[mcp]'") from missing
        from interlock.runners.egress import GuardedNetwork

        network = GuardedNetwork(resolver=self.resolver, allowed=read_allowed(self.settings.egress_allow))
        return McpRunner(ways=Ways(http=HttpWays(network, tls=self.tls), processes=Processes(self.redactor)))
