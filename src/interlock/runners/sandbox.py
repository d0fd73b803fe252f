"""Runs programs in a sandbox of bubblewrap, and never without one.

Total: whatever a program does becomes an outcome. When a call ends, by itself, at its deadline or by a cancellation,
the sandbox has ended with every process in it, so there is never a tail.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from interlock.core.canonical import Json, canonical
from interlock.core.errors import SpecInvalid
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.program import Program
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Attempt, Invocation
from interlock.runners.sandbox_command import STARTED, Contents, Machine, launch_of
from interlock.runners.sandbox_files import (
    FileRefused,
    LeftFile,
    close_all,
    for_tenant,
    keep_left,
    read_left,
    take_inputs,
    take_program,
)
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_outcome import not_started, printed_of, stopped
from interlock.runners.sandbox_probe import NoSandbox, find_machine, probe
from interlock.runners.sandbox_process import Ended, Launch, sealed, start_sandbox
from interlock.runtime.faults import report

LOG = logging.getLogger("interlock.tools")

LOGGED_CHARS_MAX = 8_192
"""How much of what a program says on stderr goes to the log; nothing of it goes anywhere else."""

_PLAIN_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108 - of the sandbox
_PEOPLE = {
    "/etc/passwd": b"nobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "/etc/group": b"nogroup:x:65534:\n",
}


class SandboxRunner:
    """Runs the programs bound to it, by the digest of the spec that they were declared for.

    `redactor` cleans what a program says on stderr before it goes to the log `interlock.tools`. At most `sandboxes_max`
    run at once; others wait for their turn until their deadline. What this machine can do is tried before the first.
    """

    def __init__(
        self, *, redactor: Redactor, sandboxes_max: int = 8, find: Callable[[], Machine | NoSandbox] = find_machine
    ) -> None:
        self._redactor = redactor
        self._bound: dict[str, Program] = {}
        self._keeper = Keeper()
        self._turns = asyncio.Semaphore(sandboxes_max)
        self._find = find
        self._machine: Machine | None = None
        self._tried = asyncio.Lock()

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a program to the spec that it was declared with. Raises `SpecInvalid`."""
        if not isinstance(code, Program):
            raise SpecInvalid(f"{spec.name}: what runs in a sandbox is declared with program(...)")
        self._bound[spec_digest(spec)] = code

    async def close(self) -> None:
        """Let the keeper go. Every sandbox has ended with its call."""
        self._keeper.close()

    async def machine(self) -> Machine | NoSandbox:
        """What this machine has, proved by a first sandbox; or why none works, which is asked anew each time."""
        async with self._tried:
            if self._machine is not None:
                return self._machine
            found = self._find()
            if isinstance(found, NoSandbox):
                return found
            refused = await probe(found, keeper=self._keeper)
            if refused is None:
                self._machine = found
            return refused or found

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt."""
        operation = invocation.operation
        program = self._bound.get(operation.tool.digest)
        if program is None:
            return Attempt(not_started(f"The program of {operation.spec.name} is not loaded."))
        started = False
        try:
            async with self._turns:
                machine = await self.machine()
                if isinstance(machine, NoSandbox):
                    return Attempt(not_started(f"Programs cannot be run here. {machine.reason}"))
                launch = _ready(invocation, program, machine)
                if isinstance(launch, Failed):
                    return Attempt(launch)
                started = True
                return Attempt(await self._run(launch, program, invocation))
        except asyncio.CancelledError:
            if asyncio.get_running_loop().time() < invocation.deadline_s:
                raise
        if started:
            return Attempt(stopped(operation.spec, "did not end in time and was stopped", code=Code.TOOL_TIMEOUT))
        return Attempt(not_started("Too many programs are running at present."))

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """A program has no condition of its own."""
        return None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """A program has nothing to look up."""
        return None

    async def resolve(self, operation: Operation) -> Resource | None:
        """A program knows no resource."""
        return None

    async def _run(self, launch: Launch, program: Program, invocation: Invocation) -> Outcome:
        try:
            sandbox = start_sandbox(launch, keeper=self._keeper)
        except OSError as fault:
            self._report(f"{invocation.operation.spec.name} could not be started", fault, invocation)
            return not_started("The sandbox could not be started.")
        try:
            ended = await sandbox.ended(memory_bytes=program.limits.memory_bytes)
        finally:
            await sandbox.close()
        self._log(ended, program, invocation)
        try:
            return _outcome(ended, program, invocation)
        except OSError as fault:
            self._report(f"{invocation.operation.spec.name}: its files cannot be kept", fault, invocation)
            return stopped(invocation.operation.spec, "ran, but its files could not be kept")

    def _report(self, what: str, fault: OSError, invocation: Invocation) -> None:
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        report(LOG, what, fault=fault, redactor=redactor, level=logging.ERROR)

    def _log(self, ended: Ended, program: Program, invocation: Invocation) -> None:
        if not ended.stderr and not ended.code:
            return
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        said = redactor.text(ended.stderr.decode(errors="replace"))[-LOGGED_CHARS_MAX:]
        expected = not ended.over and (ended.code == 0 or ended.code in program.exit_codes)
        level = logging.INFO if expected else logging.ERROR
        name, id_ = invocation.operation.spec.name, invocation.operation_id
        LOG.log(level, "%s, operation %s, exit code %s: %s", name, id_, ended.code, said)


def _ready(invocation: Invocation, program: Program, machine: Machine) -> Launch | Failed:
    """Everything that the program is given, opened; or why that cannot be."""
    operation, held = invocation.operation, dict[str, int]()
    tenant = operation.caller.principal.tenant
    try:
        held |= take_program(program)
        for_tenant(program, program.files_out, tenant=tenant)
    except FileRefused as refused:
        return not_started(f"{operation.spec.name} cannot be started: {refused}.")
    try:
        held |= take_inputs(program, operation.values, tenant=tenant)
    except FileRefused as refused:
        close_all(held)
        return not_started(f"{operation.spec.name} was not started: {refused}.", code=Code.TOOL_ARGUMENT_INVALID)
    contents = Contents(
        held | {place: sealed(text) for place, text in _PEOPLE.items()},
        sealed(operation.arguments),
        None if machine.filter is None else sealed(machine.filter),
        {**_PLAIN_ENVIRONMENT, **program.environment, **_secrets(program, invocation.secrets)},
    )
    return launch_of(program, machine, contents=contents)


def _secrets(program: Program, secrets: Mapping[str, str]) -> dict[str, str]:
    """The variables that secrets fill. A NUL would end one early."""
    return {name: secrets[secret].partition("\0")[0] for name, secret in program.secrets.items() if secret in secrets}


def _outcome(ended: Ended, program: Program, invocation: Invocation) -> Outcome:
    """What it came to. Its files are put in their place last: until then nothing has happened. Raises `OSError`."""
    spec = invocation.operation.spec
    printed = printed_of(spec, program, ended)
    if isinstance(printed, Failed) or not program.files_out:
        return printed if isinstance(printed, Failed) else Succeeded(printed.data)
    packed, limits = ended.channel.removeprefix(STARTED), program.limits
    tenant = invocation.operation.caller.principal.tenant
    name = f"{invocation.operation_id}.{invocation.fence}.{invocation.attempt}"
    try:
        left = read_left(packed, count_max=program.files_out_max, bytes_max=limits.files_bytes)
        keep_left(left, folder=for_tenant(program, program.files_out, tenant=tenant), name=name)
    except FileRefused as refused:
        return stopped(spec, f"gave nothing: {refused}", code=Code.OUTPUT_INVALID)
    return Succeeded(b'{"files":%b,"result":%b}' % (_listed(left, name), printed.data))


def _listed(files: tuple[LeftFile, ...], name: str) -> bytes:
    """What is told of files: their handles, never what is in them."""
    said: list[Json] = [
        {"bytes": len(each.data), "handle": f"{name}/{each.name}", "name": each.name, "sha256": each.sha256}
        for each in files
    ]
    return canonical(said)
