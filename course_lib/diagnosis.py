"""What a failed installation means: from pip's log to the package, the likely reason and the way out.

Uses the standard library alone, like the set-up that it speaks for.
"""

import platform
import re
from pathlib import Path

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
AGAIN = "Then type the same command again."

DISK = r"No space left on device|Errno 28|Errno 122|Disk quota exceeded|WinError 112|not enough space on the disk"
NETWORK = (
    r"NewConnectionError|NameResolutionError|name resolution|getaddrinfo failed|nodename nor servname|"
    r"Max retries exceeded|ConnectTimeout|ReadTimeout|Read timed out|Connection refused|Connection reset|"
    r"Network is unreachable|ProxyError|IncompleteRead|Connection broken|Connection aborted"
)
LOCKED = r"Errno 13|Permission denied|WinError 5\b|WinError 32\b"
LAST = r"(?:Collecting|Downloading|Using cached|Processing) (?:\S*/)?([A-Za-z][A-Za-z0-9_.]*)"


def explain(log: str, free: int, log_file: Path | None = None, cpu_build: bool = False) -> str:
    """Turn pip's log into three lines: which package, the likely reason, the way out.

    `free` is what the disk has left, in bytes; `cpu_build` says that it was PyTorch's CPU build that failed.

    >>> print(explain("Collecting numpy\\n  [Errno 28] No space left on device", free=0))
    The set-up stopped at numpy.
    Reason: the disk is full.
    Way out: free some space; to unpack elsewhere, name a folder in TMPDIR. Then type the same command again.
    """
    package, reason, way_out = diagnose(log, free, cpu_build)
    lines = [f"The set-up stopped at {package}.", f"Reason: {reason}.", f"Way out: {way_out} {AGAIN}"]
    if log_file is not None and log_file.exists():
        lines.append(f"Everything pip said: {log_file}")
    return "\n".join(lines)


def diagnose(log: str, free: int, cpu_build: bool = False) -> tuple[str, str, str]:
    """Return the package at which pip stopped, the likely reason, and the way out."""
    last = _last(LAST, log) or "the packages"
    missing = _last(r"No matching distribution found for ([^\s(;]+)", log)
    unbuilt = _last(r"Failed (?:building wheel|to build)(?: for)? '?([\w.-]+)", log)
    here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if re.search(DISK, log) or free < 50e6:
        return last, "the disk is full", "free some space; to unpack elsewhere, name a folder in TMPDIR."
    if "CERTIFICATE_VERIFY_FAILED" in log:
        advice = "a company's network often needs its own certificate:  pip config set global.cert FILE ."
        return missing or last, "the network's certificate is not trusted", advice
    nowhere = missing or "ResolutionImpossible" in log or re.search(NETWORK, log)
    if cpu_build and nowhere:
        reason = f"PyTorch's CPU index ({CPU_INDEX}) cannot be reached, or has no such torch for {here}"
        advice = (
            "look at the connection. If all else can be reached, add --gpu to the command for PyPI's build: it runs"
        )
        return "torch", reason, f"{advice} without a GPU too, but is a download of about 3 GB."
    if re.search(NETWORK, log):
        package = missing or _last(r"/simple/([\w.-]+)/", log) or last
        advice = "look at the connection (behind a proxy set HTTPS_PROXY); what was downloaded is kept."
        return package, "the network cannot be reached, or broke off", advice
    if missing or unbuilt or "metadata-generation-failed" in log:
        advice = "use Python 3.12 or 3.13 from https://www.python.org/downloads/ ."
        return missing or unbuilt or last, f"there is no ready-made package for {here}", advice
    if "DO NOT MATCH THE HASHES" in log:
        return last, "a download was damaged", "empty pip's cache:  pip cache purge ."
    if re.search(r"WinError 206|Long Path", log):
        return last, "a path is longer than Windows allows", "move the course to a short path such as C:\\course ."
    if re.search(LOCKED, log):
        return last, "a file could not be written", "close a JupyterLab that still runs from this folder."
    return last, "see the lines above", "if they do not help, delete the folder .venv."


def _last(pattern: str, log: str) -> str | None:
    found = re.findall(pattern, log)
    return found[-1] if found else None
