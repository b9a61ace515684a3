"""The shape of the house: who may import whom, what a bare import costs, what no file mentions."""

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gpulessons

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpulessons"

# Each part of the package, and the parts it may import. A part may always import itself.
ARROWS = {
    "units": "",
    "backends": "hardware",
    "microscope": "films pictures rounding",
    "operation": "backends",
    "hardware": "units",
    "timing": "units",
    "problem": "operation backends",
    "rounds": "problem timing operation backends hardware",
    "measuring": "problem rounds timing operation backends units hardware",
    "diagnosis": "backends",
    "checking": "operation backends microscope diagnosis",
    "recordings": "timing hardware",
    "progress": "",
    "comparing": "timing measuring operation checking recordings hardware progress",
    "pictures": "",
    "films": "",
    "plots": "pictures units",
    "kitchen": "pictures plots units",
    "samples": "pictures plots units timing",
    "rooflines": "pictures units",
    "scenes": "plots ops",
    "systolic": "films pictures",
    "rings": "films pictures",
    "shares": "pictures plots units",
    "ladders": "pictures plots rooflines units",
    "chains": "pictures plots units",
    "heads": "pictures plots units",
    "patterns": "pictures plots units",
    "filters": "pictures plots units",
    "layers": "pictures plots units",
    "learning_curves": "pictures units",
    "vectorized": "",
    "rounding": "",
    "tensor_cores": "backends microscope",
    "wide": "microscope",
    "compiling": "microscope",
    "peak": "operation backends",
    "reading": "operation exercises",
    "controls": "timing comparing plots pictures checking units",
    "ops": "operation backends tensor_cores wide",
    "data": "",
    "networks": "ops operation backends hardware units",
    "texts": "networks ops hardware units",
    "watched": "",
    "exercises": "ops operation backends checking diagnosis microscope peak watched workers",
    "claims": "timing ops recordings",
    "workers": "data hardware progress",
    "timetables": "pictures plots units workers",
}
MAY_IMPORT_ALL = {"cli", "__init__", "__main__"}  # what stands at the door
# What is taught; the rest is the engine.
LESSONS = {
    "ops", "networks", "texts", "exercises", "claims", "workers", "scenes", "systolic",
    "timetables",
}  # fmt: skip
HEAVY = {"numpy", "numba", "torch", "matplotlib", "ipywidgets"}


def part_of(path, package=PACKAGE):
    """Return the part of the package that a file belongs to: "ops" for gpulessons/ops/copy.py."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imports(path, package=PACKAGE):
    """Yield (line, part of our package) for each of our modules that a file imports anywhere."""
    parents = ("gpulessons", *path.relative_to(package).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parents[: len(parents) + 1 - node.level] if node.level else ()
            home = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{home}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "gpulessons":
                yield node.lineno, rest.partition(".")[0]


def strays(package=PACKAGE):
    """Return "file:line: …" for each import that no arrow allows."""
    found = []
    for path in sorted(package.rglob("*.py")):
        part = part_of(path, package)
        if part in MAY_IMPORT_ALL:
            continue
        if part not in ARROWS:
            found.append(f"{path.name}:1: no arrow starts at {part}; add it to the table above")
            continue
        allowed = {part, *ARROWS[part].split()}
        where = path.relative_to(package.parent)
        for line, name in imports(path, package):
            if name not in allowed:
                found.append(f"{where}:{line}: {part} may not import {name or 'the package'}")
    return found


def test_every_import_follows_an_arrow():
    assert not strays(), "\n".join(strays())


def test_an_import_against_the_arrows_is_named_with_file_and_line(tmp_path):
    package = tmp_path / "gpulessons"
    (package / "hardware").mkdir(parents=True)
    (package / "units.py").write_text("def f():\n    from gpulessons.ops.copy import copy\n")
    (package / "backends.py").write_text("import math\nimport gpulessons.measure.results\n")
    (package / "hardware" / "card.py").write_text("from . import a\nfrom ..controls import live\n")
    (package / "stranger.py").write_text("")
    assert strays(package) == [
        "gpulessons/backends.py:2: backends may not import timing",
        "gpulessons/hardware/card.py:2: hardware may not import controls",
        "stranger.py:1: no arrow starts at stranger; add it to the table above",
        "gpulessons/units.py:2: units may not import ops",
    ]


def test_the_arrows_have_no_cycle_and_no_engine_part_reaches_an_op():
    list(TopologicalSorter({part: to.split() for part, to in ARROWS.items()}).static_order())
    engine = {part: set(to.split()) for part, to in ARROWS.items() if part not in LESSONS}
    # Showing a solution's source needs the exercise: reading is the one part that looks there.
    engine["reading"].discard("exercises")
    assert not [part for part, to in engine.items() if to & LESSONS]


def packages():
    """Yield each folder of the package that holds modules, as its __init__.py."""
    return sorted(PACKAGE.rglob("__init__.py"))


def names_bound(init):
    """Return the functions, classes and imported names that a package's __init__ binds."""
    bound = set()
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names if node.module}
    return bound


@pytest.mark.parametrize("init", packages(), ids=lambda init: init.parent.name)
def test_no_module_hides_a_public_function(init):
    # Importing gpulessons.predict would replace the function gpulessons.predict by the module.
    modules = {path.stem for path in init.parent.glob("*.py")} | {
        path.parent.name for path in init.parent.glob("*/__init__.py")
    }
    public = names_bound(init)
    if init.parent == PACKAGE:
        public |= set(gpulessons.__all__) - set(gpulessons.MODULES)
    assert not modules & public


@pytest.mark.parametrize("name", gpulessons.__all__)
def test_every_public_name_loads(name):
    assert getattr(gpulessons, name) is not None


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import json, sys; before = set(sys.modules); import gpulessons; dir(gpulessons); "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "gpulessons" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert {name for name in loaded if name.startswith("gpulessons")} == {"gpulessons"}


def test_no_file_mentions_a_path_of_one_machine():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("only a git checkout says which files are the project's")
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    forbidden = ["/" + "work/", ".." + "/shared"]  # in two pieces, or this file would be found
    found = [
        f"{path.relative_to(ROOT)} mentions {words}"
        for path in paths if path.is_file()
        for words in forbidden if words.encode() in path.read_bytes()
    ]  # fmt: skip
    assert not found, "\n".join(found)
