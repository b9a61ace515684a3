"""The course in a browser, as far as a Python with NumPy alone is one: what runs, what is said."""

import json
import tomllib
import zipfile
from pathlib import Path

import pytest

import bare
import first_cell
import gpulessons_browser as browser
import lite
import offline
import save_notebooks

TOOLS = Path(lite.__file__).parent
QUICK = "16_verdicts"  # no cell of it takes long
LISTED = tomllib.loads(browser.LIST.read_text(encoding="utf-8"))

# A lesson of two cells that need what is not there and three that do not, run as a kernel runs it.
LESSON = """
import json, sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
import gpulessons_browser as browser
folder = Path(sys.argv[1])
browser.notebooks, browser.LIST = lambda: folder, folder / "cells.toml"
shell = InteractiveShell.instance()
browser.begin("lesson")
for source in json.loads(sys.argv[2]):
    print("=== next ===")
    shell.run_cell(source)
"""
CELLS = {
    "imports": "import torch, numpy as np\nfrom math import e\nnp.pi",
    "fails": "first = 1  # bound before it fails\ntorch.get_num_threads()",
    "long": "while True: pass",
    "free": "first + 1",
    "unlisted": "later",
    "wrong": "1 / 0",
}
OUTPUT = {"output_type": "display_data", "metadata": {},
          "data": {"text/plain": ["saved ", "words"]}}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """What a browser has."""
    site = tmp_path_factory.mktemp("site")
    bare.link(site, bare.distributions(lite.LIKE_A_BROWSERS, without=["psutil"]))
    return site


@pytest.fixture
def run(site, tmp_path):
    """Run these cells, after a lesson has begun; what each of them said, the summary first."""
    cells = [{"cell_type": "code", "id": name, "source": source, "outputs": []}
             for name, source in {"setup": "", **CELLS}.items()]  # fmt: skip
    cells[2]["outputs"] = [OUTPUT, {"output_type": "stream", "text": "and a line\n"}]
    (tmp_path / "lesson.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "cells.toml").write_text('[lesson]\nfails = "PyTorch"\nlong = "minutes"\n')

    def run(*sources):
        done = bare.run(site, "-c", LESSON, str(tmp_path), json.dumps(sources), also=[TOOLS])
        assert done.returncode == 0, done.stderr
        return [part.strip() for part in done.stdout.split("=== next ===")]

    return run


def test_the_first_cell_says_what_runs_and_each_other_cell_says_what_it_needs(run):
    summary, imports, fails, long, free, unlisted, wrong = run(*CELLS.values())
    assert summary.startswith("In this browser 4 of the 6 cells of code run. "
                              "The others need PyTorch (1), minutes of Python's own loops (1)")
    assert imports.startswith("There is no PyTorch in a browser: what needs it says so")
    assert "3.14" in imports, "the imports after it are made all the same, and the cell goes on"
    assert fails.splitlines() == [
        "Not in a browser: this cell needs PyTorch. "
        "Below is what it showed where this page was saved.",
        "saved words",
        "and a line",
    ]
    assert long == "Not in a browser: this cell needs minutes of Python's own loops."
    assert "2" in free, "what a cell bound before it failed is there"
    assert unlisted == "Not in a browser: this cell needs something that is not here " \
                       "(NameError: name 'later' is not defined)."
    assert "ZeroDivisionError" in wrong, "which is no browser's fault"


def test_a_cell_that_the_learner_wrote_or_changed_is_theirs_and_fails_as_python_does(run):
    again = "first = 1\n\ntorch.get_num_threads()  # more words"
    _, changed, typo, spaced = run("first = 2\ntorch.get_num_threads()", "import nunpy", again)
    assert "NameError" in changed and "No module named 'nunpy'" in typo
    assert spaced.startswith("Not in a browser"), "spaces and comments change nothing"


def test_every_listed_cell_is_one_of_its_notebook_and_needs_what_has_words():
    assert set(LISTED) == {path.stem for path in save_notebooks.lessons()}
    for name, needs in LISTED.items():
        lesson = browser.Lesson(name)
        assert set(needs) <= set(lesson.cells) - {first_cell.ID}
        assert set(needs.values()) <= set(browser.NEEDS)
        assert {*needs} <= {*lesson.ids.values()}, "one of them has the text of another cell"


def test_a_lesson_runs_as_its_list_says(site):
    needs = LISTED[QUICK]
    lines = lite.ran(site, save_notebooks.NOTEBOOKS / f"{QUICK}.ipynb")
    assert [line for line in lines if "error" in line] == []
    assert {line["cell"] for line in lines if line.get("said")} == set(needs)


def test_a_copy_for_the_site_has_its_own_first_cell_and_kernel_and_is_else_the_lesson():
    path = save_notebooks.NOTEBOOKS / f"{QUICK}.ipynb"
    saved, copy = save_notebooks.read(path), lite.copy_of(path)
    assert copy.metadata.kernelspec.name == "python"
    ours = next(cell for cell in copy.cells if cell.get("id") == first_cell.ID)
    assert f'gpulessons_browser.begin("{QUICK}")' in ours.source
    assert len(ours.source.splitlines()) <= 14
    others = [[cell for cell in book.cells if cell.get("id") != first_cell.ID]
              for book in (saved, copy)]  # fmt: skip
    assert others[0] == others[1]


def test_what_begins_a_lesson_is_a_wheel_of_its_own(tmp_path):
    wheel = offline.built(tmp_path, Path(browser.__file__).parent, browser.__name__)
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if "dist-info" not in name}
    assert inside == {f"gpulessons_browser/{name}"
                      for name in ("__init__.py", "stand_in.py", "cells.toml")}
