"""The cell that opens every notebook: where the course is missing (Colab, say), it fetches it.

A hosted notebook's PyTorch and NumPy fit its GPU driver and each other. Asking pip for exactly the
installed versions of both, beside the course, means that it either leaves them alone or refuses.
The course comes from a wheel beside the notebook, else from the address saved with the notebook.
"""

import re

ID = "setup"  # the cell's id, by which save_notebooks.py finds it again

CELL = """\
# Installs the course where it is missing, and leaves PyTorch and NumPy as they are.
import subprocess
import sys
from glob import glob
from importlib import metadata, util

course = max(glob("gpulessons-*-any.whl"), default="{address}")
if course and not util.find_spec("gpulessons"):
    keep = [f"{lib}=={metadata.version(lib)}" for lib in ("torch", "numpy") if util.find_spec(lib)]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", course, *keep], check=True)
    print("Installed gpulessons; kept", *keep)
elif not util.find_spec("gpulessons"):
    print("The course is not installed here: put its wheel (pip wheel --no-deps . in a checkout "
          "makes it) beside this notebook, then run this cell again.")"""


def first_cell(address: str) -> str:
    """The cell's source for one address; "" is none."""
    return CELL.replace("{address}", address)


def address_in(source: str) -> str | None:
    """The address for which a first cell was made; None when it is no first cell of today's."""
    before, after = map(re.escape, CELL.split("{address}"))
    found = re.fullmatch(f"{before}([^\"\\\\\n]*){after}", source)
    return found and found[1]
