"""Landlock: a process gives up the file system, except for the folders that it names. Linux 5.13 or newer.

Three system calls through ctypes; no privilege is needed and it works inside containers. Follows the kernel's
`Documentation/userspace-api/landlock.rst`. Newer kernels restrict more (truncate, TCP, devices, signals to processes
outside); what the kernel knows is asked first. It does not hide that a file exists, nor its size.
"""

import ctypes
import os
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on x86-64 and aarch64
PR_SET_NO_NEW_PRIVS = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << i for i in range(6))
MAKE_REG, TRUNCATE = 1 << 8, 1 << 14
READ = READ_FILE | READ_DIR | EXECUTE
WRITE = READ_FILE | READ_DIR | WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE
FILE_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many rights each version of the interface knows
TCP = 0b11  # bind and connect, from version 4
SCOPES = 0b11  # abstract UNIX sockets and signals, from version 6


class Unavailable(OSError):
    """This kernel has no Landlock, or it is switched off."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock's interface here, or 0 without it."""
    try:
        return max(0, _libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))
    except (OSError, AttributeError):
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str]) -> int:
    """Give up all files but those under these paths, for this process and its children, for ever; return the version.

    Raises:
        Unavailable: if the kernel has no Landlock.
    """
    libc, abi = _libc(), version()
    if not abi:
        raise Unavailable("this kernel has no Landlock")
    rights = (1 << FILE_RIGHTS.get(abi, 16)) - 1
    ruleset = _Ruleset(rights, TCP if abi >= 4 else 0, SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    handle = _checked(libc.syscall(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
    for paths, allowed in ((readable, READ), (writable, WRITE)):
        for path in paths:
            _allow(libc, handle, path, allowed & rights)
    _checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(RESTRICT_SELF, handle, 0))
    os.close(handle)
    return abi


def _allow(libc: ctypes.CDLL, handle: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there need not be allowed
        return
    try:
        if not os.path.isdir(path):
            allowed &= FILE_ONLY
        rule = _PathRule(allowed, place)
        _checked(libc.syscall(ADD_RULE, handle, 1, ctypes.byref(rule), 0))
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise Unavailable(number, f"Landlock: {os.strerror(number)}")
    return result
