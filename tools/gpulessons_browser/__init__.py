"""What a lesson says where Python runs in a browser (Pyodide, in JupyterLite).

There the microscope, checks, sliders, quizzes and modelled times work. There is no Numba that
compiles, no PyTorch, no process and no second thread. `begin` has the cells that need one of these
say so in a sentence instead of a traceback, and show what they showed where the page was saved;
Numba's names are found all the same.
`cells.toml` lists them by what each needs: it is written by running every lesson with NumPy and
Matplotlib alone (`python tools/lite.py --cells`). A cell that a learner changed runs as it is.

`tools/lite.py` makes a wheel of this folder: only a browser has it.
"""

import ast
import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from gpulessons.hardware.files import notebooks

from . import stand_in

LIST = Path(__file__).with_name("cells.toml")
HOME = "gpulessons_browser"
NEEDS = {
    "Numba": "compiled loops",
    "PyTorch": "PyTorch",
    "processes": "processes",
    "threads": "threads",
    "minutes": "minutes of Python's own loops",
}
# What no browser has: importing it is put off, and the names after it are still imported.
NEVER = {"torch", "psutil", "cpuinfo", "threadpoolctl", "multiprocessing", "_multiprocessing"}

# How it shows that something is missing: a module, a name of one, a thread, a process.
LACKING = ImportError, NameError, NotImplementedError, OSError, RuntimeError

lessons: list["Lesson"] = []  # the one that has begun, if any


class Lesson:
    """A notebook as it was saved, and which of its cells need what a browser lacks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.needs = tomllib.loads(LIST.read_text(encoding="utf-8")).get(name, {})
        saved = json.loads((notebooks() / f"{name}.ipynb").read_text(encoding="utf-8"))
        self.cells = {cell["id"]: cell for cell in saved["cells"] if cell["cell_type"] == "code"}
        self.ids = {plain("".join(cell["source"])): name for name, cell in self.cells.items()}
        self.running = ""  # which of them runs, unless the learner changed it

    def summary(self) -> str:
        count = len(self.cells) - 1  # less the first one, which is running
        able = count - len(self.needs)
        if able == count:
            return f"Every one of the {count} cells of code runs in this browser."
        kinds = Counter(NEEDS[need] for need in self.needs.values())
        needs = ", ".join(f"{kind} ({number})" for kind, number in kinds.most_common())
        return (f"In this browser {able} of the {count} cells of code run. The others need "
                f"{needs}: each says so, and shows what it showed where this page was saved. "
                "Loops are Python's own here: no time that you measure is this CPU's best.")


class Patient(ast.NodeTransformer):
    """Rewrites a cell before it runs, so that it ends in a sentence where it would have raised."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson

    def visit_Module(self, module: ast.Module) -> ast.Module:
        self.lesson.running = cell = self.lesson.ids.get(ast.unparse(module), "")
        need = self.lesson.needs.get(cell)
        say = f"__import__({HOME!r}, fromlist=['say']).say({cell!r})"
        if need == "minutes":
            return ast.parse(say)
        module.body = [each for line in module.body for each in one_by_one(line)]
        if need:
            module.body = [attempt(module.body, "Exception", say)]
        return ast.fix_missing_locations(module)


def begin(name: str) -> None:
    """Make this kernel's cells those of a lesson, "02_activations", and say what of it runs."""
    from IPython import get_ipython

    stand_in.install()
    lesson = Lesson(name)
    lessons[:] = [lesson]
    shell = get_ipython()
    others = [each for each in shell.ast_transformers if not isinstance(each, Patient)]
    shell.ast_transformers[:] = [*others, Patient(lesson)]
    shell.set_custom_exc((Exception,), unforeseen)
    print(lesson.summary())


def unforeseen(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: Any = None) -> None:
    """What is missing for a cell of the lesson that is not in the list, in a sentence; any other
    error, and all of a learner's own cell, show as Python shows them.
    """
    if lessons[0].running and isinstance(error, LACKING):
        say(lessons[0].running, f"something that is not here ({kind.__name__}: {error})")
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def say(cell: str, need: str = "") -> None:
    """Say what a cell needs that is not here, and show what it showed where it was saved."""
    from IPython.display import display

    lesson = lessons[0]
    outputs = lesson.cells[cell]["outputs"]
    words = f"Not in a browser: this cell needs {need or NEEDS[lesson.needs[cell]]}."
    print(words + (" Below is what it showed where this page was saved." if outputs else ""))
    for output in outputs:
        if output["output_type"] == "stream":
            print("".join(output["text"]), end="")
        else:
            display(joined(output["data"]), metadata=output["metadata"], raw=True)


def missing() -> None:
    """Say in a sentence which library an import wanted; raise again what no browser explains."""
    error = sys.exc_info()[1]
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if name not in NEVER:
        raise
    words = "PyTorch" if name == "torch" else name
    print(f"There is no {words} in a browser: what needs it says so where it is used.")


# -- The pieces.


def plain(text: str) -> str:
    """A cell's text, whatever its spaces and comments."""
    return ast.unparse(ast.parse(text))


def one_by_one(line: ast.stmt) -> list[ast.stmt]:
    """A line that imports, name by name, each of which can be missing; another as it is."""
    if not isinstance(line, (ast.Import, ast.ImportFrom)):
        return [line]
    if isinstance(line, ast.ImportFrom) and line.module == "__future__":
        return [line]
    missing = f"__import__({HOME!r}, fromlist=['say']).missing()"
    where = (line.module, line.level) if isinstance(line, ast.ImportFrom) else ()
    lines = [ast.ImportFrom(where[0], [name], where[1]) if where else ast.Import([name])
             for name in line.names]  # fmt: skip
    return [attempt([each], "ImportError", missing) for each in lines]


def attempt(body: list[ast.stmt], error: str, instead: str) -> ast.Try:
    """`try: body`, `except error: instead`."""
    tree: Any = ast.parse(f"try:\n    pass\nexcept {error}:\n    {instead}").body[0]
    tree.body = body
    return tree


def joined(data: dict[str, Any]) -> dict[str, Any]:
    """A saved output's data; a file may keep a text as its lines."""
    return {kind: "".join(text) if isinstance(text, list) else text for kind, text in data.items()}
