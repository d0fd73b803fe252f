"""The filter of system calls, run step by step as the kernel would run it."""

import struct

import pytest

from interlock.runners.sandbox_filter import ABIS, build_filter

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, EAFNOSUPPORT = 0x50001, 0x50026, 0x50061


def answer(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the kernel answers to a system call."""
    program = build_filter(machine)
    assert program is not None
    data = struct.pack(
        "=IIQ6Q", number, ABIS[machine].audit if audit is None else audit, 0, *(*arguments, *[0] * 6)[:6]
    )
    steps = list(struct.iter_unpack("=HBBI", program))
    held = at = 0
    while True:
        code, when, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                held = struct.unpack_from("=I", data, value)[0]
            case 0x06:
                return int(value)
            case _:
                holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
                at += when if holds else otherwise


@pytest.mark.parametrize("machine", ABIS)
def test_what_attacks_begin_with_is_refused(machine: str) -> None:
    abi = ABIS[machine]
    assert {answer(machine, number) for number in abi.refused} == {EPERM}
    assert {answer(machine, number) for number in (*abi.unknown, abi.clone3)} == {ENOSYS}


@pytest.mark.parametrize("machine", ABIS)
def test_a_process_is_made_but_no_namespace(machine: str) -> None:
    clone = ABIS[machine].clone
    assert answer(machine, clone, 0x01200011) == ALLOW
    for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000):
        assert answer(machine, clone, 0x11 | flag) == EPERM


@pytest.mark.parametrize("machine", ABIS)
def test_sockets_are_of_known_families_only(machine: str) -> None:
    socket = ABIS[machine].socket
    assert [answer(machine, socket, family) for family in (1, 2, 10)] == [ALLOW] * 3
    assert [answer(machine, socket, family) for family in (0, 16, 17, 38, 40)] == [EAFNOSUPPORT] * 5


@pytest.mark.parametrize("machine", ABIS)
def test_ordinary_calls_pass(machine: str) -> None:
    ordinary = {"x86_64": (0, 1, 2, 9, 59, 231, 257), "aarch64": (63, 64, 56, 222, 221, 94)}[machine]
    assert {answer(machine, number) for number in ordinary} == {ALLOW}


def test_another_abi_is_no_way_around_it() -> None:
    assert answer("x86_64", 26, audit=0x40000003) == KILL
    assert answer("x86_64", 0x40000000 + 101) == ENOSYS


def test_a_machine_whose_numbers_are_not_known_gets_none() -> None:
    assert build_filter("riscv64") is None
