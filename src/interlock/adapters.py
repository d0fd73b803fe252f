"""Opens what the world is reached by: stores, runners and rankers, each imported only where it is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from interlock.core.errors import SettingsInvalid
from interlock.core.functions import Declaration
from interlock.core.http_address import read_allowed
from interlock.core.redaction import Redactor
from interlock.ports.finding import Ranker
from interlock.runners.by_kind import RunnersByKind
from interlock.runners.python import PythonRunner
from interlock.runners.spool import Spools
from interlock.runners.threads import Threads
from interlock.settings import FindsBy, Settings
from interlock.store.address import is_postgres
from interlock.store.memory import MemoryStore
from interlock.store.seal import Seal
from interlock.system import SystemClock, SystemEntropy, cache_folder

if TYPE_CHECKING:
    from ssl import SSLContext

    from interlock.finders.full_text import FullText
    from interlock.ports import Onlooker
    from interlock.runners.by_kind import CodeRunner
    from interlock.runners.egress import Resolver
    from interlock.runners.sandbox import SandboxRunner
    from interlock.store.postgres import PostgresStore
    from interlock.store.sqlite import SqliteStore

Store: TypeAlias = "MemoryStore | SqliteStore | PostgresStore"

MEMORY = ":memory:"
CHAIN = "main"
"""The audit chain of the first process on a store; others beside it get `main.2` and so on."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What a host brings for reaching servers: how names are resolved, which certificates are trusted, and who is told
    how calls get on."""

    resolver: Resolver | None = None
    tls: SSLContext | None = None
    onlooker: Onlooker | None = None


def runners_for(settings: Settings, *, redactor: Redactor, spools: Spools, outside: Outside) -> RunnersByKind:
    """The runners by kind of tool, each made when it is first needed."""
    return RunnersByKind({
        "python": lambda: PythonRunner(
            redactor=redactor, threads=Threads(threads_max=settings.threads_max), spools=spools
        ),
        "sandbox": lambda: _sandbox(redactor),
        "http": lambda: _http(settings, outside, redactor=redactor, spools=spools),
        "grpc": lambda: _grpc(settings, outside, redactor=redactor, spools=spools),
        "mcp": lambda: _mcp(settings, outside, redactor=redactor),
    })  # fmt: skip


async def refuse_unbound(tools: Iterable[Declaration], settings: Settings) -> None:
    """Bind every tool to what would run it, and let go of it again: nothing is called. Raises `SpecInvalid`."""
    clock, entropy = SystemClock(), SystemEntropy()
    spools = Spools(MemoryStore().artifacts, clock, lambda: entropy.bytes(16).hex())
    runners = runners_for(settings, redactor=Redactor(), spools=spools, outside=Outside())
    try:
        for tool in tools:
            runners.bind(tool.spec(), code=tool.code)
    finally:
        await runners.close()


def _http(settings: Settings, outside: Outside, *, redactor: Redactor, spools: Spools) -> CodeRunner:
    from interlock.runners.egress import GuardedNetwork
    from interlock.runners.http import HttpRunner

    network = GuardedNetwork(resolver=outside.resolver, allowed=read_allowed(settings.egress_allow))
    return HttpRunner(clock=spools.clock, network=network, tls=outside.tls, redactor=redactor, spools=spools)


def _grpc(settings: Settings, outside: Outside, *, redactor: Redactor, spools: Spools) -> CodeRunner:
    try:
        from interlock.runners.grpc import GrpcRunner
        from interlock.runners.grpc_channel import Channels
    except ModuleNotFoundError as missing:
        raise SettingsInvalid("gRPC tools need grpcio: pip install 'interlock[grpc]'") from missing

    channels = Channels(resolver=outside.resolver, allowed=read_allowed(settings.egress_allow), tls=outside.tls)
    return GrpcRunner(channels=channels, redactor=redactor, spools=spools)


def _mcp(settings: Settings, outside: Outside, *, redactor: Redactor) -> CodeRunner:
    try:
        from interlock.runners.mcp import McpRunner
        from interlock.runners.mcp_http import HttpWays
        from interlock.runners.mcp_stdio import Processes
        from interlock.runners.mcp_ways import Ways
        from interlock.runners.onlooker import Telling
    except ModuleNotFoundError as missing:
        raise SettingsInvalid("MCP tools need an extra: pip install 'interlock[mcp]'") from missing
    from interlock.runners.egress import GuardedNetwork

    network = GuardedNetwork(resolver=outside.resolver, allowed=read_allowed(settings.egress_allow))
    ways = Ways(http=HttpWays(network, tls=outside.tls), processes=Processes(redactor))
    return McpRunner(ways=ways, telling=Telling(outside.onlooker, redactor), list_s=settings.mcp_list_s)


def _sandbox(redactor: Redactor) -> SandboxRunner:
    from interlock.runners.sandbox import SandboxRunner

    return SandboxRunner(redactor=redactor)


def ranker_for(settings: Settings, given: Ranker | None) -> Ranker:
    """What orders tools by words: the host's own, or what the settings say. Raises `SettingsInvalid`."""
    if given is not None:
        return given
    from interlock.finders.full_text import FullText

    return FullText() if settings.finds_by is FindsBy.WORDS else _by_meaning(FullText())


def _by_meaning(words: FullText) -> Ranker:
    try:
        from interlock.finders.meaning import TEXT_VERSION, WordsAndMeaning
        from interlock.finders.minilm import MiniLm
    except ModuleNotFoundError as missing:
        raise SettingsInvalid("finding tools by meaning needs an extra: pip install 'interlock[semantic]'") from missing
    from interlock.finders.vector_file import VectorFile

    model = MiniLm()
    file = cache_folder() / f"{model.name}-{TEXT_VERSION}.db"
    return WordsAndMeaning(words, model, file=VectorFile(file, size_bytes=4 * model.size))


async def sandbox_missing() -> str:
    """Why programs cannot be run in a sandbox on this machine; empty where they can."""
    from interlock.runners.sandbox_probe import NoSandbox

    runner = _sandbox(Redactor())
    found = await runner.machine()
    await runner.close()
    return found.reason if isinstance(found, NoSandbox) else ""


async def open_store(path: str, *, sealed_with: bytes | None = None) -> Store:
    """The store at a path or an address. Raises `SettingsInvalid` or `StoreError`."""
    if path == MEMORY:
        return MemoryStore()
    seal = None if sealed_with is None else _seal(sealed_with)
    if is_postgres(path):
        return await _open_postgres(path, seal)
    if "://" in path:
        raise SettingsInvalid("a store is a SQLite file, by its path, or a database at postgresql://..., or :memory:")
    from interlock.store.sqlite import SqliteStore

    return await SqliteStore.open(path, chain=CHAIN, seal=seal)


async def _open_postgres(url: str, seal: Seal | None) -> PostgresStore:
    try:
        from interlock.store.postgres import PostgresStore
    except ModuleNotFoundError as missing:
        raise SettingsInvalid("a PostgreSQL store needs psycopg: pip install 'interlock[postgres]'") from missing

    return await PostgresStore.open(url, chain=CHAIN, seal=seal)


def _seal(key: bytes) -> Seal:
    from interlock.store.seal_aes import AesSeal

    return AesSeal(key, random=SystemEntropy().bytes)
