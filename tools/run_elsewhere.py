"""Run the course where it is not installed yet: with this Python's own packages, whatever they are.

    PYTHON tools/run_elsewhere.py [--out DIR] [name …]

`make colab` and `make newest` do it, each in an environment of its own. In a folder with nothing
but a notebook and the course's wheel, the first cell installs the course. Then every notebook runs,
in an empty folder each, its measurements cut short as under test. What is wrong is said: cells that
fail, controls that leave nothing to read on a page without a kernel, and packages that the first
cell should have left as they were. DIR gets the notebooks as they ran, to be looked at.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from first_cell import ID, first_cell

ROOT = Path(__file__).parents[1]
sys.path.insert(1, str(ROOT))  # only here: what runs the notebooks takes the course it installs
from briefly import BRIEFLY  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
SECONDS = 900  # after which a cell counts as hung, on a busy machine too
WIDGET = "application/vnd.jupyter.widget-view+json"
READS_ALONE = ("text/html", "text/markdown", "image/png", "image/svg+xml")
SHORT = {  # as under test: rough measurements, and nothing of anybody's read or kept
    **BRIEFLY, "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else each kernel warns of what is no trouble
}  # fmt: skip
OTHER = {"12": "13", "13": "12"}  # a CUDA that is trouble beside the one PyTorch was made with
ITS_PACKAGES = (
    r"nvidia-.*-cu{0}==|"
    r"(cuda-(toolkit|bindings|python)|nvidia-(nvjitlink|nvvm|cuda-(runtime|nvrtc|nvcc)))=={0}\."
)


def packages() -> dict[str, str]:
    """Return {name: version} of what is installed now."""
    found = {each.name.lower(): each.version for each in metadata.distributions()}
    return dict(sorted(found.items()))


def pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", *words, "--quiet", "--disable-pip-version-check"]
    subprocess.run(command, check=True)


def ran(notebook, folder: Path) -> list[str]:
    """Run a notebook in place, in this folder; return what is wrong, a line for each."""
    client = NotebookClient(
        notebook, timeout=SECONDS, startup_timeout=SECONDS, allow_errors=True,
        kernel_name="python3", resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    ended = []
    try:
        client.execute(env={**os.environ, **SHORT})
    except (CellTimeoutError, DeadKernelError) as trouble:
        ended = [f"its run ended early: {type(trouble).__name__}"]
    return [words for cell in notebook.cells for words in troubles(cell)] + ended


def troubles(cell):
    """Yield what is wrong with a cell that ran."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.output_type == "error":
            yield f"{cell.id}: {output.ename}: {output.evalue.strip().splitlines()[:1]}"
        elif WIDGET in data and not is_progress(data) and not any(k in data for k in READS_ALONE):
            yield f"{cell.id}: nothing to read without a kernel: {data.get('text/plain', '')[:60]}"


def is_progress(data) -> bool:
    return re.search(r"\d+%\|", data.get("text/plain", "")) is not None


def controls(notebook) -> int:
    """How many controls its cells showed."""
    return sum(WIDGET in output.get("data", {})
               for cell in notebook.cells for output in cell.get("outputs", []))  # fmt: skip


def install(folder: Path) -> list[str]:
    """Have a first cell install the course's wheel; return what is wrong with what it did."""
    pip("uninstall", "--yes", "gpulessons")
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    before = packages()
    cell = nbformat.v4.new_code_cell(first_cell(""), id=ID)
    page = nbformat.v4.new_notebook(cells=[cell])
    wrong = ran(page, folder)
    print("".join(output.get("text", "") for output in cell.outputs), end="")
    after = packages()
    new = [f"{name} {version}" for name, version in after.items() if name not in before]
    print("New here:", ", ".join(new) or "nothing")
    moved = [f"{name}: {before[name]} became {after.get(name, 'nothing')}"
             for name in before if after.get(name) != before[name]]  # fmt: skip
    return wrong + moved + second_cuda(after) + ([] if "gpulessons" in after else ["no course"])


def second_cuda(installed: dict[str, str]) -> list[str]:
    """The packages of another CUDA than the one that PyTorch was compiled with."""
    import torch

    other = OTHER.get((torch.version.cuda or "").partition(".")[0])
    lines = [f"{name}=={version}" for name, version in installed.items()]
    return [line for line in lines if other and re.match(ITS_PACKAGES.format(other), line)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help="such as 02_activations")
    parser.add_argument("--out", type=Path, help="keep the notebooks as they ran in this folder")
    options = parser.parse_args()
    if Path(sys.prefix) == ROOT / ".venv":
        sys.exit("This takes the course out of its environment: run make colab or make newest.")
    paths = [NOTEBOOKS / f"{Path(name).stem}.ipynb" for name in options.names]
    if lost := [path.name for path in paths if not path.exists()]:
        sys.exit(f"There is no {lost[0]} in {NOTEBOOKS}.")
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    print(f"Python {sys.version.split()[0]} in {sys.prefix}. The first cell, beside a wheel:")
    with tempfile.TemporaryDirectory() as folder:
        wrong = {"the first cell": install(Path(folder))}
    for path in paths or sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{path.stem} … ", end="", flush=True)
        notebook, start = nbformat.read(path, as_version=4), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            wrong[path.stem] = ran(notebook, Path(folder))
        state = f"{len(wrong[path.stem])} wrong" if wrong[path.stem] else "runs"
        print(f"{state}: {controls(notebook)} controls, {time.monotonic() - start:.0f} s")
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, options.out / path.name)
    count = sum(map(len, wrong.values()))
    for name, lines in wrong.items():
        for line in lines:
            print(f"{name}, {line}")
    print(f"{len(wrong) - 1} notebooks, {count} things wrong")
    return int(bool(count))


if __name__ == "__main__":
    sys.exit(main())
