"""The cell that opens every notebook: where the course is missing (Colab, say), it fetches it.

A hosted notebook's PyTorch, NumPy and Numba fit its GPU driver and each other. Asking pip for just
the installed versions of these, beside the course, means that it either leaves them alone or
refuses. The course comes from a wheel beside the notebook or a zip of its source, else from the
address saved with the notebook.
"""

import re

ID = "setup"  # the cell's id, by which save_notebooks.py finds it again

CELL = """\
import sys  # Installs the course where it is missing; PyTorch, NumPy, Numba … stay as they are.
from glob import glob
from importlib import metadata, util
from subprocess import check_call
if not util.find_spec("gpulessons"):
    course = max(glob("gpulessons-*-any.whl") or glob("gpulessons-*.zip"), default="{address}")
    assert course, "Put the course's wheel or zip beside this page, or pip install a clone."
    libs = "cuda-bindings ipython ipywidgets llvmlite numba numba-cuda numpy torch".split()
    keep = [f"{n}=={d.version}" for n in libs for d in [*metadata.distributions(name=n)][:1]]
    check_call([sys.executable, "-m", "pip", "install", "--quiet", course, *keep])
    from gpulessons.notebook import arrival
    arrival.say(keep)"""


def first_cell(address: str) -> str:
    """The cell's source for one address; "" is none."""
    return CELL.replace("{address}", address)


def address_in(source: str) -> str | None:
    """The address for which a first cell was made; None when it is no first cell of today's."""
    before, after = map(re.escape, CELL.split("{address}"))
    found = re.fullmatch(f"{before}([^\"\\\\\n]*){after}", source)
    return found and found[1]
