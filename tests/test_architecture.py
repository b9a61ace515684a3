"""The shape of the house: who may import whom, what a bare import costs, what no file mentions."""

import ast
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

import gpulessons
import warplens
import website
from rooms import DOOR, PACKAGE, PAGE, ROOT, arrows, drawn, imports, room_of

# Each room of the package, and the rooms it imports. A room may always import itself.
ROOMS = {
    "units": "",
    "progress": "",
    "evidence": "",
    "hardware": "progress units",
    "backends": "hardware",
    "operation": "backends",
    "plots": "units",
    "microscope": "plots",
    "grader": "operation backends",
    "measure": "operation backends hardware progress units",
    "comparing": "measure grader operation progress",
    "ops": "operation backends",
    "models": "ops",
    "money": "evidence",
    "workers": "models hardware progress",
    "exercises": "evidence ops workers grader operation backends units",
    "claims": "evidence ops hardware backends units",
    "notebook": "hardware plots",
    "illustrations": "evidence models workers measure ops hardware plots units",
}
# Lines that each room may have: now, and when the last page is rewritten. "gpulessons" is what
# stands directly in it. Whoever adds looks first for what can go.
COURSE = 22_000, 22_000
BUDGETS = {
    "gpulessons": (853, 853),
    "claims": (942, 900),
    "cli": (565, 565),
    "evidence": (203, 200),
    "exercises": (2_344, 2_344),
    "grader": (691, 500),
    "hardware": (1_507, 900),
    "illustrations": (2_520, 2_520),
    "measure": (1_732, 1_300),
    "models": (211, 211),
    "money": (273, 273),
    "notebook": (1_635, 1_600),
    "ops": (4_119, 4_119),
    "plots": (1_720, 1_400),
    "workers": (2_680, 1_300),
    "warplens": (10_367, 10_000),
    "tests": (19_414, 16_500),
}
# What is read, what is run, what is said; then machine code, and times.
WARPLENS = {
    "units": "",
    "tables": "",
    "faults": "",
    "signatures": "",
    "lanes": "faults",
    "report": "lanes faults tables units",
    "device": "lanes faults",
    "arguments": "lanes device faults",
    "source": "lanes faults arguments device signatures",
    "runner": "source lanes report arguments signatures",
    "programs": "runner report device signatures lanes faults",
    "findings": "report",
    "webgpu": "arguments device faults lanes programs signatures source",
    "code": "arguments tables units",
    "model": "code programs runner report lanes faults tables units",
    "pytest_plugin": "findings programs",
}
# What torchrun runs, who starts it, and the parts that programs share.
WORKERS = {
    "worker": "",
    "collectives": "",
    "links": "",
    "schedules": "",
    "training": "",
    "batches": "links training",
    "gradients": "collectives",
    "emulated": "collectives links",
    "memory": "worker",
    "seldom": "",
    "restarts": "training",
    "launcher": "worker",
    "programs": "collectives emulated gradients links memory restarts training worker",
}
HOUSES = {"gpulessons": ROOMS, "warplens": WARPLENS, "gpulessons.workers": WORKERS}
# The rest is the engine.
LESSONS = {"ops", "models", "money", "workers", "claims", "exercises", "illustrations"}
HEAVY = {"numpy", "numba", "torch", "matplotlib", "ipywidgets"}

each_house = pytest.mark.parametrize("home", HOUSES)


def folder_of(home):
    return ROOT.joinpath(*home.split("."))


def strays(package=PACKAGE, rooms=ROOMS, home="gpulessons"):
    """Return "file:line: …" for each import that no arrow allows."""
    found = []
    for path in sorted(package.rglob("*.py")):
        room = room_of(path, package)
        if room in DOOR:
            continue
        if room not in rooms:
            found.append(f"{path.name}:1: no arrow starts at {room}; add it to the table above")
            continue
        allowed = {room, *rooms[room].split()}
        where = path.relative_to(package.parent)
        for line, name in imports(path, package, home):
            if name not in allowed:
                found.append(f"{where}:{line}: {room} may not import {name or 'the package'}")
    return found


@each_house
def test_every_import_follows_an_arrow(home):
    found = strays(folder_of(home), HOUSES[home], home)
    assert not found, "\n".join(found)


@each_house
def test_every_arrow_is_of_use_and_none_leads_back(home):
    table = {room: set(to.split()) for room, to in HOUSES[home].items()}
    list(TopologicalSorter(table).static_order())
    assert table == arrows(folder_of(home), home)


def test_the_microscopes_reading_order_names_files_that_are_there():
    folder = ROOT / "warplens"
    named = re.findall(r"\b(?:source|lanes|report)/\w+", warplens.__doc__)
    assert {name.partition("/")[0] for name in named} == {"source", "lanes", "report"}
    assert not [name for name in named if not (folder / f"{name}.py").exists()]


def test_an_import_against_the_arrows_is_named_with_file_and_line(tmp_path):
    package = tmp_path / "gpulessons"
    (package / "hardware").mkdir(parents=True)
    (package / "units.py").write_text("def f():\n    from gpulessons.ops.copy import copy\n")
    (package / "backends.py").write_text("import math\nimport gpulessons.measure\n")
    (package / "hardware" / "card.py").write_text("from . import a\nfrom ..notebook import live\n")
    (package / "stranger.py").write_text("")
    assert strays(package) == [
        "gpulessons/backends.py:2: backends may not import measure",
        "gpulessons/hardware/card.py:2: hardware may not import notebook",
        "stranger.py:1: no arrow starts at stranger; add it to the table above",
        "gpulessons/units.py:2: units may not import ops",
    ]
    (package / "hardware" / "cache.py").write_text("from .card import a\nfrom ..units import b\n")
    rooms = {"card": "", "cache": ""}
    assert strays(package / "hardware", rooms, "gpulessons.hardware") == [
        "hardware/cache.py:1: cache may not import card",
        "hardware/card.py:1: card may not import a",
    ]


def test_no_engine_room_reaches_an_op_and_nothing_but_notebooks_an_illustration():
    engine = {room: set(to.split()) for room, to in ROOMS.items() if room not in LESSONS}
    assert not [room for room, to in engine.items() if to & LESSONS]
    assert not [room for room, to in ROOMS.items() if "illustrations" in to.split()]


def test_few_modules_stand_at_the_front_door():
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_the_instrument_knows_nothing_of_the_course_and_no_heavy_library():
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in (ROOT / "warplens").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(from|import) (gpulessons|torch|matplotlib|ipywidgets|IPython)\b", line)
    ]
    assert not found, "\n".join(found)


def lines_of(folder, pattern="**/*.py"):
    files = (ROOT / folder).glob(pattern)
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


@pytest.mark.parametrize("room", BUDGETS)
def test_each_room_keeps_to_its_lines(room):
    most, _ = BUDGETS[room]
    if room == "gpulessons":
        lines = lines_of(room, "*.py")
    else:
        home = room if room in ("warplens", "tests") else f"gpulessons/{room}"
        lines = lines_of(home)
    assert lines <= most, f"{room} has {lines} lines, {lines - most} more than it may: what can go?"


def test_the_budgets_add_up():
    ours = [BUDGETS[room] for room in BUDGETS if room not in ("warplens", "tests")]
    now, then = (sum(column) for column in zip(*ours, strict=True))
    assert now <= COURSE[0] and then <= COURSE[1]
    rooms = {path.name for path in PACKAGE.iterdir() if list(path.glob("*.py"))}
    assert rooms | {"gpulessons", "warplens", "tests"} == set(BUDGETS), "each room has a budget"


def test_the_picture_of_the_rooms_is_that_of_the_code():
    picture = f"```mermaid\n{drawn(arrows())}\n```"
    assert picture in PAGE.read_text(encoding="utf-8"), "run: python tools/rooms.py"


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


def test_every_public_name_loads():
    for package in (gpulessons, warplens):
        for name in package.__all__:
            assert getattr(package, name) is not None, name


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


def test_no_name_of_ours_begins_with_an_underscore():
    # What a room is for says its folder; what Python and IPython ask for ends in one, too.
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
                name = node.attr
            else:
                continue
            if name.startswith("_") and not name.endswith("_"):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_paths_that_a_page_names_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    named = re.findall(r"`((?:[\w.]+/)+(?:[\w.]+\.\w+)?)`|\w\]\((?!http)([\w./]+)\)", prose)
    paths = [one or other for one, other in named]
    homes = (ROOT, PACKAGE)  # in a walk a room is named without the package it is in
    assert not [path for path in paths if not any((home / path).exists() for home in homes)]


def test_every_document_that_a_page_links_to_is_in_the_websites_contents(tmp_path):
    """Sphinx stops `make site` at one that is not; here without rendering, so at every change."""
    listed = {website.FRONT}.union(*website.sections().values())
    assert {file for file in website.gather(tmp_path).known if file.endswith(".md")} <= listed
