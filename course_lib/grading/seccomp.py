"""seccomp: the system calls that a submission may make, as a filter that the kernel runs. Linux, x86-64 and aarch64.

A list of what is allowed, made by hand; all else fails with "operation not permitted", so that Python raises an error
and the other cells go on. Not in the list, among others: fork, exec, new threads, sockets, signals to others, ptrace,
mount, io_uring, bpf, memory files, chmod. Landlock (or bubblewrap) decides which files `openat` reaches.
"""

import ctypes
import os
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
EPERM = 1
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what the kernel shows the filter
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86-64, aarch64); None where that machine has no such call
ALLOWED = {
    # files: which of them, Landlock decides
    "read": (0, 63),
    "write": (1, 64),
    "open": (2, None),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "lseek": (8, 62),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "dup": (32, 23),
    "dup2": (33, None),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "ftruncate": (77, 46),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "rename": (82, None),
    "unlink": (87, None),
    "readlink": (89, None),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getdents64": (217, 61),
    "openat": (257, 56),
    "newfstatat": (262, 79),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "dup3": (292, 24),
    "renameat2": (316, 276),
    "statx": (332, 291),
    "close_range": (436, 436),
    "faccessat2": (439, 439),
    # memory
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    # signals to oneself, time, waiting
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "poll": (7, None),
    "select": (23, None),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "sched_yield": (24, 124),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "gettimeofday": (96, 169),
    "times": (100, 153),
    "time": (201, None),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    # who and where one is
    "getpid": (39, 172),
    "uname": (63, 160),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "rseq": (334, 293),
    # the end
    "exit": (60, 93),
    "exit_group": (231, 94),
}
# name: ((x86-64, aarch64), which argument, its allowed values)
ALLOWED_WITH = {
    # copy a descriptor, ask for or set its flags; never F_SETOWN, which sends signals
    "fcntl": ((72, 25), 1, (0, 1, 2, 3, 4, 1030)),
    # is it a terminal? how much can be read? close it in children
    "ioctl": ((16, 29), 1, (0x5401, 0x541B, 0x5450, 0x5451)),
}


class Unavailable(OSError):
    """This kernel or this machine has no seccomp filters, or they are not known here."""


def program(machine: str) -> bytes:
    """Return the filter for `machine` ("x86_64" or "aarch64"): eight bytes an instruction.

    Raises:
        Unavailable: for another machine.
    """
    if machine not in ARCHITECTURES:
        raise Unavailable(f"no list of system calls for {machine}")
    which = list(ARCHITECTURES).index(machine)
    lines = [_line(LOAD, ARCHITECTURE), _line(EQUAL, ARCHITECTURES[machine], 1, 0), _line(RETURN, KILL)]
    lines.append(_line(LOAD, NUMBER))
    for numbers, argument, values in ALLOWED_WITH.values():
        body = [_line(LOAD, ARGUMENTS + 8 * argument)]
        for value in values:
            body += [_line(EQUAL, value, 0, 1), _line(RETURN, ALLOW)]
        body.append(_line(RETURN, REFUSE | EPERM))
        lines += [_line(EQUAL, numbers[which], 0, len(body)), *body]
    for numbers in ALLOWED.values():
        if numbers[which] is not None:
            lines += [_line(EQUAL, numbers[which], 0, 1), _line(RETURN, ALLOW)]
    lines.append(_line(RETURN, REFUSE | EPERM))
    return b"".join(lines)


def restrict(filter_program: bytes | None = None) -> None:
    """Give up every system call that is not in the list, for this process, for ever.

    Raises:
        Unavailable: if the kernel refuses the filter.
    """
    code = filter_program or program(platform.machine())
    memory = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, header, 0, 0):
        number = ctypes.get_errno()
        raise Unavailable(number, f"seccomp: {os.strerror(number)}")


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
