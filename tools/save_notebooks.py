"""Run notebooks top to bottom and save them in one form, so that a diff shows only change.

    python tools/save_notebooks.py [name …]            run, then save (all of them by default)
    python tools/save_notebooks.py --check [name …]    only say which are not canonical
    python tools/save_notebooks.py --address [name …]  only put today's public address into them
"""

import argparse
import copy
import csv
import itertools
import os
import re
import sys
import tempfile
from dataclasses import fields
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import effects
import published
from first_cell import ID, address_in, first_cell
from gpulessons.hardware import files, machine
from gpulessons.progress import EMPTY

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SECONDS_PER_CELL = 120
# What JupyterLab writes when it saves, so that opening a notebook and saving it changes no line.
# The version is that of the kernel: here the Python of constraints.txt, as no file can have all.
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}  # fmt: skip
KEPT = ("tags", "jupyter", "jp-MarkdownHeadingCollapsed")  # of a cell's metadata
WIDGET = "application/vnd.jupyter.widget-view+json"
STATIC = ("text/html", "text/markdown", "image/png", "image/svg+xml")  # reads without a kernel
PROGRESS = re.compile(r"\d+%\|")  # tqdm's bar, as text


def lessons() -> list[Path]:
    """The course's lessons, in the order of reading. Their names begin with numbers."""
    return sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))


def canonical(notebook: NotebookNode, name: str, address: str = "") -> NotebookNode:
    """Return a copy of a notebook as it is saved: only what the authors wrote and the cells showed.

    Widget state, timestamps, the machine's kernel and progress bars go; ids stay. Its first cell
    installs the course from `address`; a quiz's code, which has the answers in it, is collapsed.
    Raises `ValueError` where a control would leave nothing to read on a static page.
    """
    cells = [copy.deepcopy(cell) for cell in notebook.cells if cell.source.strip()]
    put_first_cell(cells, address)
    give_ids(cells, name)
    counts = itertools.count(1)
    for cell in cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
        if cell.cell_type == "code":
            if cell.source.startswith("quiz("):
                cell.metadata.setdefault("jupyter", {})["source_hidden"] = True
            cell.execution_count = next(counts)
            cell.outputs = canonical_outputs(cell, name)
    saved = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(copy.deepcopy(saved))


def put_first_cell(cells: list[NotebookNode], address: str) -> None:
    """Make the set-up cell the first of the code cells, in place, if there are any."""
    code = next((at for at, cell in enumerate(cells) if cell.cell_type == "code"), None)
    if code is None:
        return
    if cells[code].get("id") != ID:
        cells[:] = [cell for cell in cells if cell.get("id") != ID]
        cells.insert(code, nbformat.v4.new_code_cell(id=ID))
    cells[code].source = first_cell(address)


def give_ids(cells: list[NotebookNode], name: str) -> None:
    """Name the cells that have no id, or another's, after the notebook and their place in it."""
    taken = {cell.get("id") for cell in cells}
    seen = set()
    for place, cell in enumerate(cells):
        if cell.get("id") in seen | {None}:
            ids = (f"{name}-{n:02d}" for n in itertools.count(place))
            cell.id = next(new for new in ids if new not in taken)
            taken.add(cell.id)
        seen.add(cell.id)


def canonical_outputs(cell: NotebookNode, name: str) -> list[NotebookNode]:
    """Return a code cell's outputs as they are saved, each output stream in one piece."""
    outputs = []
    for output in map(without_progress, cell.outputs):
        if output is None:
            continue
        before = outputs[-1] if outputs else {}
        if output.output_type == "stream" and before.get("name") == output.name:
            before.text += output.text
            continue
        if WIDGET in output.get("data", {}):
            drop_widget(output, f"{name}, cell {cell.id}")
        if "execution_count" in output:
            output.execution_count = cell.execution_count
        output.pop("transient", None)
        outputs.append(output)
    return outputs


def without_progress(output: NotebookNode) -> NotebookNode | None:
    """Return an output less its progress bars, or None when it was nothing else."""
    if output.output_type == "stream" and output.name == "stderr":
        lines = re.split(r"[\r\n]+", output.text)
        kept = [line for line in lines if line.strip() and not PROGRESS.search(line)]
        output.text = "".join(f"{line}\n" for line in kept)
        return output if kept else None
    data = output.get("data", {})
    bar = WIDGET in data and PROGRESS.search(data.get("text/plain", ""))
    return None if bar or data == EMPTY else output


def drop_widget(output: NotebookNode, where: str) -> None:
    """Leave the static fallback of a control's output; a control without one is an error."""
    if not any(kind in output.data for kind in STATIC):
        shown = output.data.get("text/plain", "a control")[:60]
        raise ValueError(
            f"{where}: {shown} can be seen only while a kernel runs. "
            "Display it with text/html or a picture beside the widget."
        )
    del output.data[WIDGET]
    output.metadata.pop(WIDGET, None)


def read(path: Path) -> NotebookNode:
    """Return a notebook as its file has it: nothing repaired, no ids invented."""
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))


def text(notebook: NotebookNode) -> str:
    """Return the file of a notebook: sorted keys, one space of indent, a newline at the end."""
    return nbformat.v4.writes(notebook).rstrip("\n") + "\n"


def run(notebook, name):
    """Run a notebook's cells in place, in an empty folder; return what it found about statements.

    What they measure is measured in full, whatever the environment says, nobody's predictions are
    shown or kept, and what moves is drawn beforehand.
    """
    from nbclient import NotebookClient

    from gpulessons.claims import kept as found
    from gpulessons.hardware import budget
    from gpulessons.notebook.controls import kept
    from gpulessons.plots import frames

    def progress(cell, cell_index):
        print(f"\r{name}: cell {cell_index + 1} of {len(notebook.cells)}", end="", flush=True)

    env = {name: value for name, value in os.environ.items() if name != budget.NAME}
    with tempfile.TemporaryDirectory() as aside, tempfile.TemporaryDirectory() as folder:
        file = os.path.join(aside, "found.jsonl")
        NotebookClient(
            notebook,
            timeout=SECONDS_PER_CELL,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            record_timing=False,
            store_widget_state=False,
            resources={"metadata": {"path": folder}},
            on_cell_start=progress,
            on_cell_error=lambda cell, cell_index, execute_reply: print(f"\n  in: {cell.source}"),
        ).execute(env={**env, kept.NAME: os.devnull, frames.SAVING: "1", found.NAME: file})
        return found.kept(Path(file))


def run_and_ask(notebook: NotebookNode, name: str) -> list:
    """Run a notebook's cells in place and return what it found about statements; ValueError unless
    its central effects showed."""
    table = effects.effects(name)
    asked = [effects.question(table)] if table else []
    notebook.cells += asked
    found = run(notebook, name)
    notebook.cells = notebook.cells[: len(notebook.cells) - len(asked)]
    if lines := [line for cell in asked for line in effects.missing(table, cell)]:
        raise ValueError("; ".join(lines))
    return found


def save(path: Path) -> None:
    """Run one notebook and write it back.

    The file stays as it was if a cell fails, or if the page's central effect does not show.
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    address = published.address()
    notebook = canonical(read(path), path.stem, address)
    try:
        found = run_and_ask(notebook, path.stem)
        files.write(path, text(canonical(notebook, path.stem, address)))
        ship(found)
    except CellExecutionError as error:
        sys.exit(f"{path.stem} stopped there: {error.ename}: {error.evalue}")
    except (CellTimeoutError, ValueError, OSError) as error:
        sys.exit(f"\n{path.stem} was not saved: {error}")
    print(", saved")


def ship(found: list) -> None:
    """Have found.csv hold these figures instead of those of the same statements, and none that a
    statement no longer asks for."""
    from gpulessons.claims import statements
    from gpulessons.claims.kept import SHIPPED, Line, shipped

    shipped.cache_clear()
    new = {line.statement for line in found}
    asked = {name: each.figures for name, each in statements().items()}
    others = [each for each in shipped() if each.statement not in new
              and each.figure in asked.get(each.statement, ())]  # fmt: skip
    lines = sorted([*others, *found], key=lambda line: (int(line.statement[:-1]), line.statement))
    with SHIPPED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Line)], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**vars(line), "low": f"{line.low:.4g}", "high": f"{line.high:.4g}"}
                         for line in lines)  # fmt: skip


def readdress(path: Path) -> None:
    """Have a notebook's first cell install the course from this checkout's public remote; run
    nothing, and leave what its cells showed."""
    files.write(path, text(canonical(read(path), path.stem, published.address())))


def is_canonical(path: Path) -> bool:
    """Whether a file holds what saving it would write, its outputs and address as they are."""
    notebook = read(path)
    saved = next((cell.source for cell in notebook.cells if cell.get("id") == ID), "")
    form = canonical(notebook, path.stem, address_in(saved) or "")
    return text(form) == path.read_text(encoding="utf-8")


def main() -> None:
    """Save or check the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help="such as 02_activations")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="run nothing; name what is amiss")
    only.add_argument("--address", action="store_true", help="run nothing; renew the address")
    args = parser.parse_args()
    paths = [NOTEBOOKS / f"{Path(name).stem}.ipynb" for name in args.names]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        sys.exit(f"There is no {missing[0]} in {NOTEBOOKS}.")
    if args.address:
        print("The first cell's address:", published.address() or "none, for lack of a remote")
    elif not args.check:  # once, while nothing else runs: every page has the same
        here = machine(again=bool(machine().disturbed))
        print("This machine's ceilings:", here.measured_when())
    for path in paths or sorted(NOTEBOOKS.glob("*.ipynb")):
        if args.address:
            readdress(path)
        elif not args.check:
            save(path)
        elif not is_canonical(path):
            print(f"{path.name} is not canonical: make notebooks ARGS={path.stem}")
            missing.append(path.name)
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
