"""The cell that every notebook begins with, where the course is not installed."""

import json
import os
import subprocess
import sys

import pytest

import first_cell

# No more than note what it is asked, and leave a course behind.
PIP = """import json, os, sys
open('asked.json', 'w').write(json.dumps(sys.argv[1:]))
os.makedirs('gpulessons/notebook')
open('gpulessons/__init__.py', 'w').close()
open('gpulessons/notebook/arrival.py', 'w').write("def say(kept): print('kept', *kept)")
"""


def run_first_cell(folder, address, installed=(), pip=PIP, paths=()):
    """Run the cell in an interpreter that finds only `installed`, "name version" each, and a pip
    that is none."""
    (folder / "pip").mkdir()
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(pip)
    for name, version in map(str.split, installed):
        (folder / f"{name}.py").write_text("")
        about = folder / f"{name.replace('-', '_')}-{version}.dist-info"  # as in a wheel
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (folder / "cell.py").write_text(first_cell.first_cell(address), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.run(
        [sys.executable, "-S", "cell.py"],  # -S: none of the packages of this environment
        cwd=folder, env=env, capture_output=True, text=True,
    )  # fmt: skip


def asked(folder):
    """Return what the cell asked pip, or None if it did not."""
    note = folder / "asked.json"
    return json.loads(note.read_text()) if note.exists() else None


KEPT = ["cuda-bindings==12.9.7", "ipython==7.34.0", "ipywidgets==7.7.1", "llvmlite==0.44.0",
        "numba==0.61.2", "numba-cuda==0.22.2", "numpy==2.1.3", "torch==2.11.0+cu128"]  # fmt: skip
HOSTED = [line.replace("==", " ") for line in KEPT]
COURSE = "git+https://example.org/course"


def test_the_first_cell_fetches_the_course_and_holds_what_is_there_where_it_is(tmp_path):
    done = run_first_cell(tmp_path, COURSE, [*HOSTED, "pandas 2.2.2"])
    assert asked(tmp_path) == ["install", "--quiet", COURSE, *KEPT], done.stderr
    assert done.stdout == f"kept {' '.join(KEPT)}\n"


def test_the_first_cell_lets_pip_choose_what_is_not_there(tmp_path):
    run_first_cell(tmp_path, COURSE, ("numpy 2.1.3",))
    assert asked(tmp_path) == ["install", "--quiet", COURSE, "numpy==2.1.3"]


def test_the_first_cell_does_nothing_where_the_course_is_installed(tmp_path):
    done = run_first_cell(tmp_path, COURSE, (*HOSTED, "gpulessons 0.2.0"))
    assert (done.returncode, done.stdout, asked(tmp_path)) == (0, "", None)


def test_the_first_cell_says_how_to_bring_a_course_that_has_no_address(tmp_path):
    done = run_first_cell(tmp_path, "", HOSTED)
    assert (done.returncode, done.stdout, asked(tmp_path)) == (1, "", None)
    *_, said = done.stderr.splitlines()
    assert all(way in said for way in ("wheel", "zip", "pip install a clone"))


WHEEL = "gpulessons-0.2.0-py3-none-any.whl"


@pytest.mark.parametrize("address", ["", COURSE])
@pytest.mark.parametrize(
    ("beside", "taken"),
    [
        ([WHEEL], WHEEL),
        ([WHEEL, "gpulessons-0.2.0-py3-none-any (1).whl"], WHEEL),  # pip refuses such a name
        (["gpulessons-main.zip"], "gpulessons-main.zip"),
        ([WHEEL, "gpulessons-main.zip"], WHEEL),
    ],
)
def test_the_first_cell_takes_what_is_beside_the_notebook(tmp_path, address, beside, taken):
    for name in beside:
        (tmp_path / name).touch()
    run_first_cell(tmp_path, address, HOSTED)
    assert asked(tmp_path)[:3] == ["install", "--quiet", taken]


def test_the_first_cell_does_not_go_on_when_pip_fails(tmp_path):
    done = run_first_cell(tmp_path, COURSE, HOSTED, pip="raise SystemExit(1)")
    assert done.returncode == 1
    assert done.stdout == ""


def test_the_address_for_which_a_first_cell_was_made_is_found_again():
    for address in ("", "git+https://example.org/course.git"):
        assert first_cell.address_in(first_cell.first_cell(address)) == address
    assert first_cell.address_in("import gpulessons") is None
