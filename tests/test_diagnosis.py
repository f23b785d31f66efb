"""What a failed installation says, for logs as pip writes them."""

import pytest

from course_lib.diagnosis import CPU_INDEX, diagnose, explain

DISK = """\
Collecting jupyterlab<5,>=4.6
  Downloading jupyterlab-4.6.6-py3-none-any.whl (12.4 MB)
ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device
"""
NETWORK = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3\
.connection.HTTPSConnection object>: Failed to establish a new connection: [Errno -3] Temporary failure in name \
resolution')': /simple/matplotlib/
ERROR: Could not find a version that satisfies the requirement matplotlib<4,>=3.11 (from versions: none)
ERROR: No matching distribution found for matplotlib<4,>=3.11
"""
NO_WHEEL = """\
ERROR: Could not find a version that satisfies the requirement torch<3,>=2.13 (from versions: 1.0, 2.2.2)
ERROR: No matching distribution found for torch<3,>=2.13
"""
NO_CPU_BUILD = """\
WARNING: Retrying after connection broken by 'ConnectTimeoutError': /whl/cpu/torch/
ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from versions: 2.12.0, 2.13.0)
ERROR: No matching distribution found for torch==2.13.0+cpu
"""
NO_COMPILER = """\
  error: subprocess-exited-with-error
  ERROR: Failed building wheel for pyzmq
ERROR: Could not build wheels for pyzmq, which is required to install pyproject.toml-based projects
"""
CERTIFICATE = "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))"
LOCKED = "Collecting numpy\nERROR: [WinError 32] The process cannot access the file because it is being used"


@pytest.mark.parametrize(
    ("log", "package", "reason", "way_out"),
    [
        (DISK, "jupyterlab", "the disk is full", "free some space"),
        (NETWORK, "matplotlib<4,>=3.11", "the network cannot be reached", "connection"),
        (NO_WHEEL, "torch<3,>=2.13", "there is no ready-made package for Python 3", "use Python 3.12 or 3.13"),
        (NO_COMPILER, "pyzmq", "there is no ready-made package", "use Python 3.12 or 3.13"),
        (CERTIFICATE, "the packages", "certificate is not trusted", "global.cert"),
        (LOCKED, "numpy", "could not be written", "close a JupyterLab"),
        ("Collecting numpy\nsomething new", "numpy", "see the lines above", "delete the folder .venv"),
        ("", "the packages", "see the lines above", "delete the folder .venv"),
    ],
)
def test_each_failure_names_the_package_the_reason_and_the_way_out(log, package, reason, way_out):
    found = diagnose(log, free=10**11)
    assert found[0] == package
    assert reason in found[1]
    assert way_out in found[2]


@pytest.mark.parametrize("log", [NO_CPU_BUILD, "ERROR: ResolutionImpossible: for help visit"])
def test_a_cpu_build_that_cannot_be_had_leaves_the_choice_of_the_large_one(log):
    package, reason, way_out = diagnose(log, free=10**11, cpu_build=True)
    assert package == "torch"
    assert CPU_INDEX in reason
    assert "--gpu" in way_out
    assert "3 GB" in way_out


def test_a_disk_that_is_full_is_so_for_the_cpu_build_too():
    assert diagnose(DISK + NO_CPU_BUILD, free=10**11, cpu_build=True)[1] == "the disk is full"


def test_a_disk_too_full_to_write_the_log_is_recognised_all_the_same():
    assert diagnose("", free=0)[1] == "the disk is full"


def test_the_log_is_named_where_there_is_one(tmp_path):
    log = tmp_path / "set-up.log"
    assert "Everything pip said" not in explain(DISK, 0, log)
    log.write_text(DISK)
    assert str(log) in explain(DISK, 0, log)
