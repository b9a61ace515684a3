"""The cell that opens every notebook: where the course is missing (Colab, say), it fetches it.

A hosted notebook's PyTorch and NumPy fit its GPU driver and each other. Asking pip for exactly the
installed versions of both, beside the course, means that it either leaves them alone or refuses.
The address stands in one place, pyproject.toml, under [tool.gpulessons].
"""

import tomllib
from pathlib import Path

ID = "setup"  # the cell's id, by which save_notebooks.py finds it again

CELL = """\
# Installs the course where it is missing, and leaves PyTorch and NumPy as they are.
import subprocess
import sys
from importlib import metadata, util

address = "{address}"
if not util.find_spec("gpulessons"):
    assert address, "Set address to where the course is (git+https://…), then run this again."
    keep = [f"{lib}=={metadata.version(lib)}" for lib in ("torch", "numpy") if util.find_spec(lib)]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address, *keep], check=True)
    print("Installed gpulessons; kept", *keep)"""


def address():
    """Return what pip installs the course from, as pyproject.toml has it: "" until there is one."""
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    return tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["gpulessons"]["address"]


def first_cell(address):
    """Return the cell's source for one address."""
    return CELL.replace("{address}", address)
