"""What is found and read: layouts, zips, links and damaged files; what crosses the wire; what the kernel is told."""

import json
import os
import re
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from course_lib.grading import landlock, seccomp, wire
from course_lib.grading.discover import find_submissions
from course_lib.grading.notebook import LARGEST, Unreadable, read_notebook

LESSONS = ["03_worked_softmax", "00_start_here"]
NOTEBOOK = b'{"cells": []}'


def found(place):
    submissions, passed_over = find_submissions(place, LESSONS)
    return {(s.student, s.lesson): s for s in submissions}, passed_over


def put(root, *names, content=NOTEBOOK):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_folders_of_students(tmp_path):
    put(tmp_path, "Smith, Jr/03_worked_softmax.ipynb", "李/03_worked_softmax.ipynb", "李/00_start_here.ipynb")
    put(tmp_path, "李/.ipynb_checkpoints/00_start_here-checkpoint.ipynb", "李/notes.txt", "bo/homework.ipynb")
    submissions, passed_over = found(tmp_path)
    assert set(submissions) == {("Smith, Jr", LESSONS[0]), ("李", LESSONS[0]), ("李", LESSONS[1])}
    assert passed_over == ["homework.ipynb: it is named after no exercise"]


def test_nbgraders_layout_with_its_time_stamp(tmp_path):
    put(tmp_path, "submitted/ada/03_worked_softmax/03_worked_softmax.ipynb")
    put(tmp_path, "submitted/ada/03_worked_softmax/timestamp.txt", content=b"2027-01-31 23:59:00.000000 UTC")
    for place in (tmp_path, tmp_path / "submitted"):
        submissions, _ = found(place)
        assert submissions["ada", LESSONS[0]].handed_in == 1801439940.0


def test_canvas_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        archive.writestr("lovelaceada_101_5001_03_worked_softmax.ipynb", b"old")
        archive.writestr("lovelaceada_101_5002_03_worked_softmax-1.ipynb", b"new")
        archive.writestr("bobo_LATE_102_5003_worked_softmax.ipynb", NOTEBOOK)
    submissions, passed_over = found(tmp_path / "submissions.zip")
    ada = submissions["lovelaceada", LESSONS[0]]
    assert (ada.key, ada.read()) == ("101", b"new")
    assert submissions["bobo", LESSONS[0]].key == "102"
    assert len(passed_over) == 1 and "another one counts" in passed_over[0]


def test_moodle_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("Ada Lovelace_7_assignsubmission_file_/03_worked_softmax.ipynb", NOTEBOOK)
        archive.writestr("Þór & Co_8_assignsubmission_file/My 03_worked_softmax (1).ipynb", NOTEBOOK)
    submissions, _ = found(tmp_path / "m.zip")
    assert {(student, s.key) for (student, _), s in submissions.items()} == {("Ada Lovelace", "7"), ("Þór & Co", "8")}


def test_two_people_of_one_name_are_two(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for number in (7, 8):
            archive.writestr(f"Ada L_{number}_assignsubmission_file_/03_worked_softmax.ipynb", str(number))
    submissions, _ = found(tmp_path / "m.zip")
    assert {student: s.read() for (student, _), s in submissions.items()} == {"Ada L": b"7", "Ada L (8)": b"8"}


def test_no_link_is_followed_and_no_path_leads_out(tmp_path):
    put(tmp_path, "private/secret.ipynb")
    folder = tmp_path / "work"
    put(folder, "honest/03_worked_softmax.ipynb")
    (folder / "sly").mkdir()
    (folder / "sly" / "03_worked_softmax.ipynb").symlink_to(tmp_path / "private" / "secret.ipynb")
    (folder / "sly" / "00_start_here.ipynb").symlink_to("/dev/zero")
    (folder / "slyer").symlink_to(tmp_path / "private")
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / "03_worked_softmax.ipynb")
    with zipfile.ZipFile(folder / "out.zip", "w") as archive:
        archive.writestr("../../private/03_worked_softmax.ipynb", b"x")
        archive.writestr("/etc/03_worked_softmax.ipynb", b"x")
        archive.writestr("a\\..\\..\\03_worked_softmax.ipynb", b"x")
        link = zipfile.ZipInfo("b/03_worked_softmax.ipynb")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    submissions, passed_over = found(folder)
    assert submissions["honest", LESSONS[0]].read() == NOTEBOOK
    for key in (("sly", LESSONS[0]), ("sly", LESSONS[1]), ("pipe", LESSONS[0])):
        with pytest.raises(Unreadable, match="link or no regular file"):
            submissions[key].read()
    assert len(submissions) == 4
    assert sum("leads out" in line for line in passed_over) == 3 and sum("link" in line for line in passed_over) == 2


def test_a_zip_bomb_and_a_damaged_zip_are_only_passed_over(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/03_worked_softmax.ipynb", bytes(LARGEST + (1 << 20)))
    (tmp_path / "damaged.zip").write_bytes(b"PK\3\4 no zip")
    submissions, passed_over = found(tmp_path)
    with pytest.raises(Unreadable, match="MB"):
        submissions["ada", LESSONS[0]].read()
    assert ["damaged.zip" in line for line in passed_over] == [True]


def test_where_one_exercise_is_asked_for_its_file_may_have_any_name(tmp_path):
    put(tmp_path, "ada/homework (1).ipynb", "bo/scratch.ipynb", "bo/03_worked_softmax.ipynb")
    submissions, _ = find_submissions(tmp_path, LESSONS[:1])
    assert {s.student: s.place.name for s in submissions} == {
        "ada": "homework (1).ipynb",
        "bo": "03_worked_softmax.ipynb",
    }


def test_notebooks_that_lie_in_the_folder_itself_are_of_whom_it_is_named_after(tmp_path):
    put(tmp_path, "ada/03_worked_softmax.ipynb")
    assert set(found(tmp_path / "ada")[0]) == {("ada", LESSONS[0])}


def test_an_installed_course_is_not_among_what_a_submission_may_read(tmp_path):
    from course_lib.grading.sandbox import _without, readable_paths

    put(tmp_path, "site-packages/numpy/x.py", "site-packages/course_lib/checks/x.py", "site-packages/six.py")
    place = tmp_path / "site-packages"
    assert _without(place, {place / "course_lib"}) == [str(place / "numpy"), str(place / "six.py")]
    assert _without(place, set()) == [str(place)]
    course = Path(wire.__file__).parents[1]
    assert not [path for path in readable_paths() if course.is_relative_to(path)]


def test_a_single_notebook_and_a_place_that_is_not_there(tmp_path):
    put(tmp_path, "ada/03_worked_softmax.ipynb")
    assert set(found(tmp_path / "ada" / "03_worked_softmax.ipynb")[0]) == {("ada", LESSONS[0])}
    with pytest.raises(FileNotFoundError, match="SUBMISSIONS"):
        found(tmp_path / "nothing")


def test_a_huge_or_deep_file_is_refused_in_words():
    with pytest.raises(Unreadable, match="MB"):
        read_notebook(b" " * 10 + b"x" * (LARGEST + 1))
    with pytest.raises(Unreadable, match="no notebook"):
        read_notebook(b"[" * 1_000_000)
    long = json.dumps({"cells": [{"cell_type": "code", "source": "x" * 300_000}, {"cell_type": "code", "source": "y"}]})
    notebook = read_notebook(long.encode())
    assert [number for number, _ in notebook.cells] == [2] and "300" not in notebook.cells and len(notebook.notes) == 1


VALUES = [
    np.float64(1.5),
    np.array([1, 2, 3], dtype=np.int8),
    np.array([], dtype=np.float32).reshape(0, 3),
    np.array([[True, False]]),
    np.array(["a", "ß"]),
    np.array([np.nan, np.inf, -np.inf]),
    np.arange(6).reshape(2, 3).T,
    np.array([1.0, 2.0], dtype=">f8"),
    (1, 2.5, "x", None, True, (np.ones(2), [1, 2])),
    float("-inf"),
    {"a": 1, 2: (3.0,)},
    2**63,
    "\ud800 broken \x00",
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_crosses_the_wire_as_it_is(value):
    body = bytearray()
    tree = json.loads(json.dumps(wire.encode(value, body)))
    back = wire.decode(tree, bytes(body))
    if isinstance(value, np.ndarray):
        assert back.shape == value.shape and back.dtype.kind == value.dtype.kind
        assert np.array_equal(back, value, equal_nan=value.dtype.kind == "f")
    elif isinstance(value, str):
        assert back == wire.clean(value, wire.LONG_TEXT) and back.encode()
    else:
        assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value", [object(), lambda: 0, b"bytes", 1j, 2**64, {1, 2}, np.array([object()]), np.datetime64("2027")]
)
def test_what_may_not_cross_arrives_as_a_name_and_a_text(value):
    body = bytearray()
    back = wire.decode(json.loads(json.dumps(wire.encode(value, body))), bytes(body))
    assert isinstance(back, wire.Foreign) and type(back) is not type(value)


def test_random_headers_are_malformed_and_nothing_worse():
    rng = np.random.default_rng(0)
    pieces = [None, True, -1, 10**30, "x", "array", [], [1], {}, "<f8", "tuple", float("nan"), "value", "0x1p-9999999"]
    for _ in range(3000):
        keys = rng.choice(["t", "v", "dtype", "shape", "at", "items", "scalar", "of", "type", "text"], 5)
        tree = {str(key): pieces[rng.integers(len(pieces))] for key in keys}
        if rng.random() < 0.5:
            tree["t"] = str(rng.choice(["array", "texts", "tuple", "dict", "float", "value", "foreign"]))
        if rng.random() < 0.2:
            tree["items"] = [dict(tree)] * 2
        try:
            wire.decode(tree, b"\0" * 16)
        except wire.Malformed:
            continue


def test_neither_side_imports_pickle():
    folder = Path(wire.__file__).parent
    for path in folder.glob("*.py"):
        text = path.read_text()
        assert not re.search(r"^\s*(import|from) (pickle|marshal|shelve|dill|joblib)\b", text, re.MULTILINE), path
        assert "allow_pickle" not in text


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_by_default_and_allows_what_is_listed(machine):
    """A few lines of the kernel's own machine run the filter on chosen calls."""
    which = list(seccomp.ARCHITECTURES).index(machine)
    code, architecture = seccomp.program(machine), seccomp.ARCHITECTURES[machine]
    for name, numbers in seccomp.ALLOWED.items():
        if numbers[which] is not None:
            assert _filtered(code, numbers[which], architecture) == seccomp.ALLOW, name
    (fcntl, ioctl) = (seccomp.ALLOWED_WITH[name][0][which] for name in ("fcntl", "ioctl"))
    assert _filtered(code, fcntl, architecture, [0, 3]) == seccomp.ALLOW
    assert _filtered(code, fcntl, architecture, [0, 8]) == seccomp.REFUSE | seccomp.EPERM  # F_SETOWN
    assert _filtered(code, ioctl, architecture, [0, 0x5412]) == seccomp.REFUSE | seccomp.EPERM  # TIOCSTI
    allowed = {n[which] for n in seccomp.ALLOWED.values()} | {fcntl, ioctl}
    for number in {*range(600), 0x40000000 | 39} - allowed:
        assert _filtered(code, number, architecture) == seccomp.REFUSE | seccomp.EPERM
    assert _filtered(code, 0, 0x40000003) == seccomp.KILL  # 32-bit calls


def _filtered(code, number, architecture, args=()):
    data = struct.pack("<IIQ6Q", number, architecture, 0, *[*args, 0, 0, 0, 0, 0, 0][:6])
    place, word = 0, 0
    while True:
        kind, yes, no, value = struct.unpack_from("HBBI", code, 8 * place)
        place += 1
        if kind == seccomp.LOAD:
            word = struct.unpack_from("<I", data, value)[0]
        elif kind == seccomp.EQUAL:
            place += yes if word == value else no
        else:
            return value


@pytest.mark.parametrize(
    ("which", "header", "pattern"),
    [
        (0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
        (1, "/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
    ],
    ids=["x86-64", "aarch64"],
)
def test_the_numbers_of_the_calls_are_the_kernels(which, header, pattern):
    if not Path(header).is_file():
        pytest.skip(f"no {header}: install linux-libc-dev")
    known = dict(re.findall(pattern, Path(header).read_text()))
    known.setdefault("newfstatat", known.get("fstatat"))
    listed = seccomp.ALLOWED | {name: numbers for name, (numbers, _, _) in seccomp.ALLOWED_WITH.items()}
    for name, numbers in listed.items():
        if name in known or numbers[which] is not None:
            assert int(known[name]) == numbers[which], name


def test_an_unknown_machine_has_no_filter_and_is_told_so():
    with pytest.raises(seccomp.Unavailable, match="riscv64"):
        seccomp.program("riscv64")
    assert landlock.version() >= 0
