"""Modelled times of the taught kernels, kept: a page of them would take minutes to model.

`modelled.json` holds, for a version of an op at a size on a GPU, what `modelled_version` answered,
or why it answered nothing; and with which compilers, when. `python tools/model_kernels.py` writes
it. A result is of use as long as the op's code and the model's are what they were then: each has a
fingerprint of its files' text beside it. One without today's is not used.
"""

import ast
import hashlib
import importlib
import io
import json
import tokenize
from functools import cache
from pathlib import Path
from typing import Any

from ..value import Modelled

FILE = Path(__file__).parent / "modelled.json"
ENGINE = Path(__file__).parents[1] / "versions.py"  # with all that it imports: the model
ANEW = "run python tools/model_kernels.py"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
Key = tuple[str, str, int, str]  # op, version, size, GPU


def result_of(version: Any, size: int, gpu: str) -> Modelled | str | None:
    """What is kept of a version at a size on a GPU: its time, or why it has none.

    None where nothing is kept: of a learner's version, of other inputs, of code that has changed.
    """
    if not taught(version):
        return None
    about = contents()
    entry = about["results"].get((version.op.name, version.name, size, gpu))
    if entry is None or stale(about, version.op):
        return None
    return entry["why"] if "why" in entry else modelled_from(version.name, gpu, entry)


def taught(version: Any) -> bool:
    """Is it a version of the course's own, on the inputs that the course gives it?"""
    home = version.op.function.__module__
    if not all(name.startswith("gpulessons.") for name in (home, version.function.__module__)):
        return False
    original = getattr(importlib.import_module(home), version.op.name, None)
    return getattr(original, "make_inputs", None) is version.op.make_inputs


def stale(about: dict[str, Any], op: Any) -> str:
    """Why the results of an op are not today's; "" where they are."""
    for name, file in ((op.name, op.function.__code__.co_filename), ("the model", str(ENGINE))):
        if about["sources"].get(name) != fingerprint(file):
            return f"{name} has changed since its times were modelled: {ANEW}"
    return ""


def modelled_from(version: str, gpu: str, entry: dict[str, Any]) -> Modelled:
    names = ("seconds", "low", "high", "bounds", "counted_from", "at_least")
    return Modelled(version, gpu, **{name: entry[name] for name in names})


@cache
def contents(file: Path = FILE) -> dict[str, Any]:
    """What the file says, its results by key; nothing where there is none."""
    if not file.exists():
        return {"sources": {}, "results": {}}
    data = json.loads(file.read_text(encoding="utf-8"))
    return {**data, "results": {key_of(entry): entry for entry in data["results"]}}


def key_of(entry: dict[str, Any]) -> Key:
    return entry["op"], entry["version"], entry["size"], entry["gpu"]


# -- Fingerprints: of text, for importing a kernel would load Numba.


@cache
def fingerprint(file: str) -> str:
    """Of the code in a file and in those of its folder that it imports, however indirectly."""
    found = hashlib.sha256()
    for path in sorted(reached(Path(file))):
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
