"""Builds the filter of system calls that programs in a sandbox run under, as a classic BPF program.

It refuses what no tool needs and what attacks on the kernel begin with: looking into other processes, mounting, new
namespaces, keys, BPF, io_uring, and memory that no limit counts. `clone3` answers "not known", so that the C library
takes `clone`, whose flags can be read. The other ABI of the machine (32 bits, x32) is no way around it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from interlock.core.frozen import frozen

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data` (linux/seccomp.h); of the argument its low half, on a little-endian machine."""

_NAMESPACES = 0x7E020000
"""Every CLONE_NEW* flag that `clone` takes (linux/sched.h)."""

_X32 = 0x40000000
_FAMILIES = {"unix": 1, "inet": 2, "inet6": 10}
"""Address families that a socket may have: without a network they lead nowhere. AF_VSOCK is not cut off with it."""


@frozen
class Abi:
    """One architecture: its audit number (linux/audit.h), whether x32 exists beside it, and its system calls."""

    audit: int
    has_x32: bool
    clone: int
    clone3: int
    socket: int
    refused: tuple[int, ...]
    unknown: tuple[int, ...]


_COMMON = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 467)
"""io_uring_* and the mount calls of newer kernels, which have one number everywhere."""

_PIDFD_GETFD, _MEMFD_SECRET = 438, 447

# ptrace, process_vm_readv, process_vm_writev, kcmp; mount, umount2, pivot_root, chroot; unshare, setns; add_key,
# request_key, keyctl; bpf, userfaultfd, perf_event_open; kexec_load, kexec_file_load; the module calls; swapon,
# swapoff, reboot, acct, quotactl; open_by_handle_at; personality; settimeofday, adjtimex, clock_settime.
_X86_64 = Abi(
    0xC000003E,
    has_x32=True,
    clone=56,
    clone3=435,
    socket=41,
    refused=(
        *(101, 310, 311, 312, 165, 166, 155, 161, 272, 308, 248, 249, 250, 321, 323, 298, 246, 320, 175, 313, 176),
        *(167, 168, 169, 163, 179, 304, 135, 164, 159, 227, _PIDFD_GETFD, *_COMMON),
    ),
    unknown=(319, 29, _MEMFD_SECRET),
)
_AARCH64 = Abi(
    0xC00000B7,
    has_x32=False,
    clone=220,
    clone3=435,
    socket=198,
    refused=(
        *(117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 217, 218, 219, 280, 282, 241, 104, 294, 105, 273, 106),
        *(224, 225, 142, 89, 60, 265, 92, 170, 171, 112, _PIDFD_GETFD, *_COMMON),
    ),
    unknown=(279, 194, _MEMFD_SECRET),
)
ABIS: Mapping[str, Abi] = {"x86_64": _X86_64, "aarch64": _AARCH64}
"""By the machine's name as `uname` says it. `unknown` are memfd_create, shmget, memfd_secret."""


def build_filter(machine: str) -> bytes | None:
    """The filter for a machine, as `bwrap --seccomp` reads it; None where this file does not know its numbers."""
    abi = ABIS.get(machine)
    if abi is None:
        return None
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, abi.audit, when=1, otherwise=0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        *(_refuse(_AT_LEAST, _X32, error=_ENOSYS) if abi.has_x32 else ()),
        *[step for number in abi.refused for step in _refuse(_EQUAL, number, error=_EPERM)],
        *[step for number in (*abi.unknown, abi.clone3) for step in _refuse(_EQUAL, number, error=_ENOSYS)],
        *_when(abi.clone, [_step(_LOAD, _FIRST_ARGUMENT), *_refuse(_ANY_BIT, _NAMESPACES, error=_EPERM)]),
        *_when(abi.socket, _known_families()),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _known_families() -> list[bytes]:
    families = sorted(_FAMILIES.values())
    count = len(families)
    return [
        _step(_LOAD, _FIRST_ARGUMENT),
        *[_step(_EQUAL, family, when=count - at, otherwise=0) for at, family in enumerate(families)],
        _step(_RETURN, _ERROR | _EAFNOSUPPORT),
    ]


def _when(number: int, steps: Sequence[bytes]) -> list[bytes]:
    """Steps for one system call, whatever they fall through to being allowed."""
    return [_step(_EQUAL, number, when=0, otherwise=len(steps) + 1), *steps, _step(_RETURN, _ALLOW)]


def _refuse(test: int, value: int, *, error: int) -> tuple[bytes, bytes]:
    return _step(test, value, when=0, otherwise=1), _step(_RETURN, _ERROR | error)


def _step(code: int, value: int, *, when: int = 0, otherwise: int = 0) -> bytes:
    """One `struct sock_filter`, with how many steps to skip where its test holds, and where not."""
    return struct.pack("=HBBI", code, when, otherwise, value)
