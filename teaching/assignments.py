"""The notebooks for a teacher: with their exercises solved, or as assignments for nbgrader.

    python teaching/assignments.py DIR              a copy in which every exercise is solved
    python teaching/assignments.py DIR --nbgrader   a point for each exercise that passes its check

Both are made of the learner's notebooks. A cell that is an exercise's stub, word for word, gets
its solution; the cell that checks it is the one that nbgrader gives a point for. DIR is new, or
empty: what you changed is never written over.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpulessons import exercises
from gpulessons.hardware import files

sys.path.insert(1, str(Path(__file__).parents[1] / "tools"))
from briefly import BRIEFLY

Cells = list[dict[str, Any]]  # of a notebook, as its file has them
Texts = dict[str, bytes]  # {a file's name in the folder: what it holds}

TEACHERS = """

**A teacher's copy.** Each exercise below holds its solution. Run the page to see them all pass.
"""
CHECK = re.compile(
    r"from gpulessons\.exercises import (\w+)(?: as \w+)?\n\ncheck\((\w+), (\w+)\)\n?"
)
GRADED = """\
{head}
verdict = check({exercise}, {attempt})
display(verdict)
### BEGIN HIDDEN TESTS
assert verdict.passed
### END HIDDEN TESTS
"""
LINK = re.compile(r"\]\((\w+)\.ipynb")  # to another notebook of the course
SETTINGS = '''\
"""nbgrader's settings for the course: its id, and how its notebooks are run for grading."""

import os

c = get_config()
c.CourseDirectory.course_id = "gpulessons"
c.ClearSolutions.code_stub = {"python": ""}  # the stub stands above the solution, and stays
c.Execute.timeout = 600  # seconds for a cell: a slow one on a busy machine

# Grading asks whether exercises are right, and not how long anything takes: measure briefly,
# and leave the ceilings and predictions of whoever grades alone.
'''
SETTINGS += "".join(
    f"os.environ.setdefault({name!r}, {value!r})\n" for name, value in BRIEFLY.items()
)


def with_solutions(ours: Texts) -> Texts:
    """The same notebooks with a solution for each stub; what was said of the stubs is gone."""

    def solve(cells: Cells) -> None:
        for cell, exercise in stubs_in(cells):
            written(cell, exercise.solution)
        checks = [cell for cell, _ in checks_in(cells)]
        for cell in checks:
            written(cell, "".join(cell["source"]))
        if checks:
            cells[0]["source"] = lines("".join(cells[0]["source"]).rstrip() + TEACHERS)

    return {name: edited(text, solve) for name, text in ours.items()}


def for_nbgrader(ours: Texts) -> Texts:
    """The same notebooks, each an assignment of its own, in the folders that nbgrader expects."""

    def assign(cells: Cells) -> None:
        for cell, exercise in stubs_in(cells):
            solved = f"### BEGIN SOLUTION\n{exercise.solution}### END SOLUTION"
            written(cell, f"{exercise.stub}{solved}")
            cell["metadata"]["nbgrader"] = marked(f"{exercise.name}-yours", solution=True)
        for cell, (head, name_here, attempt) in checks_in(cells):
            written(cell, GRADED.format(head=head, exercise=name_here, attempt=attempt))
            asked = re.search(r"import (\w+)", head)
            assert asked
            cell["metadata"]["nbgrader"] = marked(asked[1], grade=True, locked=True, points=1)
        for cell in cells:
            if cell["cell_type"] == "markdown":
                cell["source"] = lines(LINK.sub(r"](../\1/\1.ipynb", "".join(cell["source"])))

    return {f"source/{Path(name).stem}/{name}": edited(text, assign) for name, text in ours.items()}


def stubs_in(cells: Cells) -> Iterator[tuple[dict[str, Any], Any]]:
    """(cell, exercise) for each cell that is a stub."""
    known = {exercise.stub.strip(): exercise for exercise in map(by_name, exercises.NAMES)}
    for cell in cells:
        if exercise := known.get("".join(cell["source"]).strip()):
            yield cell, exercise


def checks_in(cells: Cells) -> Iterator[tuple[dict[str, Any], tuple[str, str, str]]]:
    """(cell, (its import, the exercise's name there, the attempt's)) for each that checks one."""
    for cell in cells:
        if found := CHECK.fullmatch("".join(cell["source"])):
            yield cell, (found[0].partition("\n")[0] + "\n", found[2], found[3])


def by_name(name: str) -> Any:
    return getattr(exercises, name)


def written(cell: dict[str, Any], source: str) -> None:
    """Give a code cell another source; what the earlier one showed goes."""
    cell.update(source=lines(source.rstrip("\n")), outputs=[], execution_count=None)


def marked(grade_id: str, **more: Any) -> dict[str, Any]:
    """nbgrader's note about a cell."""
    kind = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"schema_version": 3, "cell_type": "code", "grade_id": grade_id, **kind, **more}


def edited(text: bytes, edit: Callable[[Cells], None]) -> bytes:
    """A notebook's file after edit(its cells), in the form that the course saves."""
    notebook = json.loads(text)
    edit(notebook["cells"])
    return (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def lines(source: str) -> list[str]:
    """A cell's source as files have it."""
    return source.splitlines(keepends=True)


def main(arguments: list[str] | None = None) -> int:
    """Write the copies; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="new, or empty")
    parser.add_argument("--nbgrader", action="store_true", help="assignments for nbgrader")
    options = parser.parse_args(arguments)
    folder = options.folder
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"{folder} is not empty: name another folder")
    ours = {path.name: path.read_bytes() for path in sorted(files.notebooks().glob("*.ipynb"))}
    made = for_nbgrader(ours) if options.nbgrader else with_solutions(ours)
    if options.nbgrader:
        made["nbgrader_config.py"] = SETTINGS.encode()
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    print(f"{len(ours)} notebooks are in {folder.resolve()}")
    if options.nbgrader:
        print("Next, in that folder: nbgrader generate_assignment 02_activations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
