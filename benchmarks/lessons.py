"""How long a learner waits: for an import, for a first picture, for a whole page; and a developer,
for the tests.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from gpulessons.measure.results import Ratio, quartiles
from gpulessons.notebook.controls import kept

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))  # no glossary


def seconds_of(path, shortened=lambda cells: cells):
    """Seconds from the kernel's start to the last cell's end, in an empty folder; once. Cells run
    one after another, as a learner runs them, in full.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = shortened(notebook.cells)
    with tempfile.TemporaryDirectory() as folder:
        lesson = NotebookClient(
            notebook, timeout=None, kernel_name="python3", store_widget_state=False,
            resources={"metadata": {"path": folder}},
        )  # fmt: skip
        began = perf_counter()
        lesson.execute(env={**os.environ, kept.NAME: os.devnull})  # the user's own stay theirs
    return alone(perf_counter() - began)


def seconds_to_picture(path):
    return seconds_of(path, lambda cells: cells[: 1 + next(
        n for n, cell in enumerate(cells) for output in cell.get("outputs", ())
        if "<img" in str(output) or "image/png" in str(output))])  # fmt: skip


def seconds_to_import(times=5):
    """In new processes, whose first reads of the files are over; less what Python itself takes."""
    line, took = "from gpulessons import check, compare, predict, quiz, relu, solution, trace", []
    for words in ["pass", line] * (1 + times):
        began = perf_counter()
        subprocess.run([sys.executable, "-c", words], check=True)
        took.append(perf_counter() - began)
    each = [ours - bare for bare, ours in zip(took[2::2], took[3::2], strict=True)]
    return Ratio(median(each), *quartiles(each))


def seconds_to_test():
    """Of processor time, over all the processes that `make test` starts."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)  # those that have ended
        return usage.ru_utime + usage.ru_stime

    before = used()
    subprocess.run([sys.executable, ROOT / "tools" / "run_tests.py"], cwd=ROOT, stdout=sys.stderr)
    return alone(used() - before)


def alone(seconds):
    return Ratio(seconds, seconds, seconds)
