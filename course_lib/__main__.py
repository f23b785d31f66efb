"""The entry of `python3 -m course_lib`, plain enough for every Python to read.

A Python that is too old, even Python 2, gets a sentence that says what to do instead of a SyntaxError. So nothing here
is newer than that, and everything newer is imported after the check.
"""

import os
import subprocess
import sys

OLDEST = (3, 11)
NEWEST = (3, 14)


def refusal(version, others):
    """Return the sentence for a Python outside the supported range, or None for one inside it.

    `others` are commands of suitable Pythons found on the same machine; the first is recommended.
    """
    version = tuple(version[:2])
    if OLDEST <= version <= NEWEST:
        return None
    problem = "too old" if version < OLDEST else "too new (some packages are not ready for it)"
    message = "This is Python " + _dotted(version) + ", which is " + problem + " for the course. It runs on Python "
    message += _dotted(OLDEST) + " to " + _dotted(NEWEST) + ".\n"
    if others:
        return message + "A suitable one is installed: type  " + others[0] + " -m course_lib  instead."
    message += (
        "Install Python 3.13 from https://www.python.org/downloads/ (or with your system's packages), then type  "
    )
    return message + ("py -3.13" if os.name == "nt" else "python3.13") + " -m course_lib  instead."


def suitable_pythons():
    """Return the commands of this machine that start a Python in the supported range, newest first."""
    found = []
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = "3." + str(minor)
        command = ["py", "-" + name] if os.name == "nt" else ["python" + name]
        try:
            process = subprocess.Popen(command + ["-c", ""], stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: RUF005
            process.communicate()
        except OSError:
            continue
        if process.returncode == 0:
            found.append(" ".join(command))
    return found


def _dotted(version):
    return ".".join(str(part) for part in version)


def main():
    """Refuse an unsuitable Python, else hand over to the set-up."""
    if refusal(sys.version_info, []):
        sys.stderr.write(refusal(sys.version_info, suitable_pythons()) + "\n")
        return 1
    from course_lib import bootstrap

    return bootstrap.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
