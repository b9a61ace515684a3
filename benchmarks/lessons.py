"""How long a notebook takes: its cells run one after another, as a learner runs them, in full."""

import os
import tempfile
from pathlib import Path
from time import perf_counter

from gpulessons.measure.results import Ratio
from gpulessons.notebook.controls import kept

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))  # no glossary


def seconds_of(path):
    """Seconds from the kernel's start to the last cell's end, in an empty folder; once."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        lesson = NotebookClient(
            notebook, timeout=None, kernel_name="python3", store_widget_state=False,
            resources={"metadata": {"path": folder}},
        )  # fmt: skip
        began = perf_counter()
        lesson.execute(env={**os.environ, kept.NAME: os.devnull})  # the user's own stay theirs
    seconds = perf_counter() - began
    return Ratio(seconds, seconds, seconds)
