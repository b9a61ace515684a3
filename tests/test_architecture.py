"""The shape of the house: who may import whom, what a bare import costs, what no file mentions."""

import ast
import json
import re
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
    "timing": "operation units hardware",
    "problem": "operation",
    "rounds": "timing operation units hardware",
    "measuring": "problem rounds timing operation backends units hardware",
    "diagnosis": "backends",
    "checking": "operation backends microscope diagnosis",
    "recordings": "timing hardware",
    "progress": "",
    "comparing": "timing rounds measuring checking recordings hardware units progress",
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
    "peak": "backends",
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
# The rooms of the microscope, in the same way: what is read, what is run, what is told.
MICROSCOPE = {
    "faults": "",
    "lanes": "faults",
    "source": "lanes faults",
    "report": "lanes faults",
    "arguments": "lanes",
    "signatures": "arguments",
    "runner": "source lanes report arguments signatures",
    "device": "lanes",
    "programs": "runner report device signatures faults",
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


def imports(path, package=PACKAGE, home="gpulessons"):
    """Yield (line, part of the package `home`) for each of its modules that a file imports."""
    parents = (*home.split("."), *path.relative_to(package).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = parents[: len(parents) + 1 - node.level] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if f"{name}.".startswith(f"{home}."):
                yield node.lineno, name.removeprefix(home).removeprefix(".").partition(".")[0]


def strays(package=PACKAGE, arrows=ARROWS, home="gpulessons"):
    """Return "file:line: …" for each import that no arrow allows."""
    found = []
    for path in sorted(package.rglob("*.py")):
        part = part_of(path, package)
        if part in MAY_IMPORT_ALL:
            continue
        if part not in arrows:
            found.append(f"{path.name}:1: no arrow starts at {part}; add it to the table above")
            continue
        allowed = {part, *arrows[part].split()}
        where = path.relative_to(package.parent)
        for line, name in imports(path, package, home):
            if name not in allowed:
                found.append(f"{where}:{line}: {part} may not import {name or 'the package'}")
    return found


def test_every_import_follows_an_arrow():
    assert not strays(), "\n".join(strays())


def test_every_import_inside_the_microscope_follows_an_arrow():
    found = strays(PACKAGE / "microscope", MICROSCOPE, "gpulessons.microscope")
    assert not found, "\n".join(found)


def test_every_arrow_of_the_microscope_is_used_and_none_leads_back():
    list(TopologicalSorter({room: to.split() for room, to in MICROSCOPE.items()}).static_order())
    folder, used = PACKAGE / "microscope", {}
    for path in folder.rglob("*.py"):
        room = part_of(path, folder)
        used.setdefault(room, set()).update(
            name for _, name in imports(path, folder, "gpulessons.microscope") if name != room
        )
    del used["__init__"]
    assert used == {room: set(to.split()) for room, to in MICROSCOPE.items()}


def test_the_microscopes_reading_order_names_files_that_are_there():
    folder = PACKAGE / "microscope"
    named = re.findall(r"\b(?:source|lanes|report)/\w+", gpulessons.microscope.__doc__)
    assert {Path(name).parent.name for name in named} == {"source", "lanes", "report"}
    assert not [name for name in named if not (folder / f"{name}.py").exists()]


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
    (package / "hardware" / "cache.py").write_text("from .card import a\nfrom ..units import b\n")
    rooms = {"card": "", "cache": ""}
    assert strays(package / "hardware", rooms, "gpulessons.hardware") == [
        "hardware/cache.py:1: cache may not import card",
        "hardware/card.py:1: card may not import a",
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
