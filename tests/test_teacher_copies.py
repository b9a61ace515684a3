"""A teacher's copies: every solution passes where it stands, and nbgrader gives points for that."""

import ast
import importlib.util
import json
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import assignments
import save_notebooks
from gpulessons import exercises
from gpulessons.grader.check import Verdict
from gpulessons.hardware.files import notebooks

OURS = {path.name: path.read_bytes() for path in sorted(notebooks().glob("*.ipynb"))}
LESSONS = [path.name for path in save_notebooks.lessons()]


@pytest.fixture(scope="module")
def solved():
    return assignments.with_solutions(OURS)


@pytest.fixture(scope="module")
def assigned():
    return assignments.for_nbgrader(OURS)


def cells_of(text):
    return json.loads(text)["cells"]


def code(text):
    """[(id, source)] of the code cells."""
    cells = [cell for cell in cells_of(text) if cell["cell_type"] == "code"]
    return [(cell["id"], "".join(cell["source"])) for cell in cells]


def ran(source, names, file):
    """Run a cell; the value of its last line, where that is an expression."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None


def verdicts_with_solutions(text, name):
    """Run what an exercise may count on: the page's imports, and the exercises. The verdicts."""
    names, found = {"display": lambda shown: found.append(shown)}, []
    solutions = {getattr(exercises, each).solution.strip() for each in exercises.NAMES}
    for where, source in code(text):
        file = f"<{name}, {where}>"
        if source.strip() in solutions or "from gpulessons.exercises import" in source:
            found.append(ran(source, names, file))
        elif where != "setup":
            plain = re.sub(r"^%.*$", "", source, flags=re.MULTILINE)
            lines = [node for node in ast.parse(plain).body
                     if isinstance(node, ast.Import | ast.ImportFrom)]  # fmt: skip
            exec(compile(ast.Module(lines, []), file, "exec"), names)
    return [each for each in found if isinstance(each, Verdict)]


@pytest.mark.nightly
@pytest.mark.parametrize("name", LESSONS)
def test_every_solution_passes_its_check_where_it_stands(name, solved):
    verdicts = verdicts_with_solutions(solved[name], name)
    asked = {words[0] for cell, words in assignments.checks_in(cells_of(OURS[name]))}
    assert len(verdicts) == len(asked) > 0
    assert [verdict for verdict in verdicts if not verdict.passed] == []


def test_every_exercise_of_the_course_is_solved_in_one_place_of_the_copy(solved):
    sources = [source.strip() for text in solved.values() for _, source in code(text)]
    every = [getattr(exercises, name) for name in exercises.NAMES]
    assert {e.name: sources.count(e.solution.strip()) for e in every} == dict.fromkeys(
        exercises.NAMES, 1
    )
    assert not [exercise.name for exercise in every if exercise.stub.strip() in sources]


def test_a_copy_says_what_it_is_and_shows_no_verdict_of_a_stub(solved):
    for name, text in solved.items():
        first = "".join(cells_of(text)[0]["source"])
        assert ("**A teacher's copy.**" in first) == (name in LESSONS)
        assert "not yet." not in "".join(map(shown, assignments.checks_in(cells_of(text))))


def shown(checked):
    return json.dumps(checked[0]["outputs"])


def test_all_else_stays_as_the_course_saved_it(solved):
    for name, text in OURS.items():
        assert assignments.edited(text, lambda cells: None) == text
        pairs = list(zip(cells_of(text), cells_of(solved[name]), strict=True))
        changed = [before["id"] for before, after in pairs if before != after]
        exercise = [cell["id"] for cell in cells_of(text) if cell["id"].startswith("ex-")]
        checks = [cell["id"] for cell, _ in assignments.checks_in(cells_of(text))]
        first = [cells_of(text)[0]["id"]] if name in LESSONS else []
        assert changed == sorted({*first, *exercise, *checks}, key=changed.index)


def test_a_folder_that_holds_something_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.ipynb").write_text("my notes")
    with pytest.raises(SystemExit):
        assignments.main([str(tmp_path)])
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.ipynb"]
    assert assignments.main([str(tmp_path / "new")]) == 0
    assert len(list((tmp_path / "new").glob("*.ipynb"))) == len(OURS)


# -- nbgrader


def test_an_assignment_gives_one_point_for_each_exercise(assigned):
    graded, yours = [], []
    for text in assigned.values():
        notes = [cell["metadata"].get("nbgrader", {}) for cell in cells_of(text)]
        graded += [note["grade_id"] for note in notes if note.get("grade")]
        yours += [note["grade_id"] for note in notes if note.get("solution")]
        assert sum(note.get("points", 0) for note in notes) == sum(
            note.get("grade", False) for note in notes
        )
    assert sorted(graded) == exercises.NAMES
    assert sorted(yours) == [f"{name}-yours" for name in exercises.NAMES]


def test_links_between_notebooks_hold_in_nbgraders_folders(assigned):
    linked = set()
    for path, text in assigned.items():
        prose = "".join("".join(c["source"]) for c in cells_of(text) if c["cell_type"] != "code")
        found = re.findall(r"\]\(([^)#]*\.ipynb)", prose)
        linked |= {os.path.normpath(os.path.join(os.path.dirname(path), link)) for link in found}
    assert len(linked) > 10
    assert linked <= set(assigned)


@pytest.mark.nightly
@pytest.mark.skipif(not importlib.util.find_spec("nbgrader"), reason="that needs nbgrader")
def test_nbgrader_releases_the_stubs_and_grades_by_the_checks(tmp_path):
    name, folder = "18_decoding", tmp_path / "grading"
    assignments.main([str(folder), "--nbgrader"])
    settings = folder / "nbgrader_config.py"
    compile(settings.read_text(), settings, "exec")
    source = folder / "source" / name / f"{name}.ipynb"
    source.write_bytes(only_exercises(source.read_bytes()))  # the lesson itself is tested elsewhere
    nbgrader(folder, "generate_assignment", name)
    released = (folder / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    assert "BEGIN" not in released and ".passed" not in released
    part = exercises.token_bytes
    cells = [source.strip() for _, source in code(released)]
    assert exercises.ridge_batch.stub.strip() in cells and part.stub.strip() in cells
    for who, answer in (("ada", part.solution), ("bob", part.stub)):
        there = folder / "submitted" / who / name
        there.mkdir(parents=True)
        text = json.loads(released)
        for cell in text["cells"]:
            if "".join(cell["source"]).strip() == part.stub.strip():
                cell["source"] = answer
            elif cell["metadata"].get("nbgrader", {}).get("grade"):
                cell["source"] = "print('right')"  # who overwrites the check gets it back
        (there / f"{name}.ipynb").write_text(json.dumps(text), encoding="utf-8")
    nbgrader(folder, "autograde", name)
    nbgrader(folder, "export")
    rows = [line.split(",") for line in (folder / "grades.csv").read_text().splitlines()]
    who, score = rows[0].index("student_id"), rows[0].index("score")
    assert {row[who]: float(row[score]) for row in rows[1:]} == {"ada": 1, "bob": 0}


def only_exercises(text):
    """A notebook of its first import, its exercises and their checks."""
    notebook = json.loads(text)
    graded = [cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    first = {**graded[0], "id": "first", "metadata": {}, "source": "from gpulessons import check"}
    notebook["cells"] = [first, *graded]
    return json.dumps(notebook).encode()


def nbgrader(folder, *words):
    found = Path(sys.executable).parent, os.environ["PATH"]  # it calls alembic by name
    path = os.pathsep.join(map(str, found))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PATH": path}
    command = [sys.executable, "-m", "nbgrader", *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
