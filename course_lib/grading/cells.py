"""The cells of a notebook as Python: magics and shell lines go, all else is left as it is. Student side.

Follows what IPython does with a cell, as far as marks need it, without an IPython shell, which costs 9 ms a submission.
"""

import re
from types import CodeType

RUN_THE_BODY = ("time", "timeit", "capture", "prun")  # cell magics whose body is Python
LINE = re.compile(r"^(\s*)(?:[\w.,\s]+=\s*)?[%!](?!=)")
ASSIGNED = re.compile(r"^(\s*)([\w.]+)\s*=\s*[%!]")
HELP = re.compile(r"^\s*\??\??[\w.]+\?{1,2}\s*$|^\s*\?{1,2}[\w.]+\s*$")


def compiled(source: str, name: str) -> tuple[CodeType, str]:
    """Compile a cell; return its code and the text that it was made from.

    Most cells are Python already, and only those that are not are searched for magics.

    >>> compiled("%matplotlib inline\\nx = 1\\n!pip install torch", "cell 1")[1]
    'pass\\nx = 1\\npass'

    Raises:
        SyntaxError: if it is no Python even without its magics.
    """
    try:
        return compile(source, name, "exec", dont_inherit=True), source
    except SyntaxError as error:
        plain = without_magics(source)
        if plain == source:
            raise error
        return compile(plain, name, "exec", dont_inherit=True), plain


def without_magics(source: str) -> str:
    """Replace the lines that only IPython understands by `pass`, and a cell that is no Python by nothing.

    >>> without_magics("%%bash\\nls"), without_magics("%%time\\nx = 1"), without_magics("files = !ls")
    ('', '\\nx = 1', 'files = []')
    """
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = (lines[first][2:].split() or [""])[0]
        if magic not in RUN_THE_BODY:
            return ""
        lines[first] = ""
    goes_on = False  # a magic may go on over lines that end in a backslash
    for i, line in enumerate(lines):
        if goes_on:
            lines[i] = ""
        elif LINE.match(line) or HELP.match(line):
            assigned, indent = ASSIGNED.match(line), re.match(r"\s*", line)[0]
            lines[i] = f"{assigned[1]}{assigned[2]} = []" if assigned else indent + "pass"
        else:
            continue
        goes_on = line.endswith("\\")
    return "\n".join(lines)
