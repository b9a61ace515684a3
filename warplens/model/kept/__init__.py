"""Modelled times of the taught kernels, kept: a page of them would take minutes to model.

`modelled.json` holds, for a version of an op at a size on a GPU, what `modelled_version` answered,
or why it answered nothing; and with which compilers, when. `python tools/model_kernels.py` writes
it. A result is of use as long as the op's code and the model's are what they were then: each has a
fingerprint of its files' text beside it. One without today's is not used.

A result names its inputs by their size, and by their shapes where their values do not matter: an op
of other inputs (`dense.like(…)`) finds it by these.
"""

import ast
import hashlib
import importlib
import io
import json
import tokenize
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..value import Modelled

FILE = Path(__file__).parent / "modelled.json"
ENGINE = Path(__file__).parents[1] / "versions.py"  # with all that it imports: the model
ROOMS = Path(__file__).parents[2]
COUNTING = (
    *ROOMS.glob("microscope/*.py"),
    *ROOMS.glob("microscope/[ls]*/*.py"),  # lanes and source
    *ROOMS.glob("microscope/report/counts.py"),
    *ROOMS.glob("machine_code/[clops]*.py"),  # what compiles, links and reads machine code
)
ANEW = "run python tools/model_kernels.py"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
MODEL = "the model"  # among the sources
LABELS = ("op", "version", "size", "shapes")
Key = tuple[str, str, int | str, str]  # op, version, size or shapes, GPU


def result_of(version: Any, size: int, gpu: str) -> Modelled | str | None:
    """What is kept of a version at a size on a GPU: its time, or why it has none.

    None where nothing is kept: of a learner's version, of other inputs, of code that has changed.
    """
    original = taught(version)
    about = contents(FILE)
    if original is None or stale(about, original.name, original.function.__code__.co_filename):
        return None
    same = original.make_inputs is version.op.make_inputs
    which = size if same else shapes_of(version.op, size)
    entry = about["results"].get((original.name, version.name, which, gpu))
    if entry is None:
        return None
    return entry["why"] if "why" in entry else modelled_from(entry)


def taught(version: Any) -> Any:
    """The op of the course's own that this is a version of, itself or with other inputs; or None.

    None for a learner's version, whatever its name.
    """
    home, name = version.op.function.__module__, version.op.function.__name__
    if not all(where.startswith("gpulessons.") for where in (home, version.function.__module__)):
        return None
    original = getattr(importlib.import_module(home), name, None)
    return original if getattr(original, "function", None) is version.op.function else None


def stale(about: dict[str, Any], op: str, file: str) -> str:
    """Why the results of an op, whose file this is, are not today's; "" where they are."""
    for name, path in ((op, file), (MODEL, str(ENGINE))):
        if about["sources"].get(name) != fingerprint(path):
            return f"{name} has changed since its times were modelled: {ANEW}"
    return ""


@lru_cache(maxsize=64)
def shapes_of(op: Any, size: int) -> str:
    """The inputs of an op at a size in words: types and shapes of arrays, and plain numbers."""
    return " ".join(
        f"{x.dtype}{list(x.shape)}" if hasattr(x, "dtype") and x.shape else repr(x)
        for x in op.inputs(size)
    )


def modelled_from(entry: dict[str, Any]) -> Modelled:
    told = {name: value for name, value in entry.items() if name not in LABELS}
    return Modelled.from_dict({"kernel": entry["version"], **told})


@cache
def contents(file: Path = FILE) -> dict[str, Any]:
    """What the file says, its results by key; nothing where there is none."""
    if not file.exists():
        return {"sources": {}, "results": {}}
    data = json.loads(file.read_text(encoding="utf-8"))
    return {**data, "results": {key: e for e in data["results"] for key in keys_of(e)}}


def keys_of(entry: dict[str, Any]) -> list[Key]:
    """A result is found by its size, by its shapes, or by both: what it has of these."""
    whiches = (entry[name] for name in ("size", "shapes") if name in entry)
    return [(entry["op"], entry["version"], which, entry["gpu"]) for which in whiches]


# -- Fingerprints: of text, for importing a kernel would load Numba.


@cache
def fingerprint(file: str) -> str:
    """Of the code in a file and in those of its folder that it imports, however indirectly; of the
    model's, with what counts for it in other rooms."""
    found = hashlib.sha256()
    counting = COUNTING if Path(file) == ENGINE else ()
    for path in sorted({*reached(Path(file)), *counting}):
        found.update(f"{path.name}\n{code_of(path.read_text(encoding='utf-8'))}\n".encode())
    return found.hexdigest()[:16]


def reached(start: Path) -> set[Path]:
    """A file and those of its folder that it imports, and they import."""
    found: set[Path] = set()
    left = [start]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += imported(path)
    return found


def imported(path: Path) -> list[Path]:
    """The files of the same folder that a file imports: `from .common import …`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names += [node.module] if node.module else [each.name for each in node.names]
    files = (path.with_name(f"{name}.py") for name in names)
    return [file for file in files if file.exists()]


def code_of(text: str) -> str:
    """Python text without its comments, docstrings and empty lines: words change no time."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [""] * (last + 1 - first)
    return "\n".join(line.rstrip() for line in lines if line.strip())
