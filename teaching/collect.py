"""What a class handed in, as one table: who solved which exercises.

    python teaching/collect.py CLASS [--csv FILE]

CLASS holds a folder for each learner. A notebook says itself which exercises are right: `check` has
left its verdict, as data, among the cell's outputs. Nothing that a learner wrote is run. Of several
copies of a notebook the furthest try of each exercise counts.
"""

import argparse
import csv
import json
import re
import sys
from collections import Counter
from pathlib import Path

from gpulessons import exercises
from gpulessons.grader import SAVED
from gpulessons.hardware.files import notebooks
from warplens.tables import Table

IMPORT = re.compile(r"^from gpulessons\.exercises import (\w+)", re.MULTILINE)
RIGHT, NOT_YET, NOT_TRIED = "right", "not yet", "not tried"
ORDER = (NOT_TRIED, NOT_YET, RIGHT)


def cells_in(path):
    """A notebook's cells of code. Raises ValueError where the file is no notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [cell for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as trouble:
        raise ValueError(f"{path} cannot be read as a notebook: empty or damaged.") from trouble


def asked_in(cells):
    """The exercises that a notebook's code imports, each once, in their order."""
    names = [name for cell in cells for name in IMPORT.findall("".join(cell["source"]))]
    return [name for name in dict.fromkeys(names) if name in exercises.NAMES]


def states_in(cells):
    """{exercise: (state, what its check said)}: right where any check of it says so."""
    found = dict.fromkeys(asked_in(cells), (NOT_TRIED, ""))
    verdicts = [out["data"][SAVED] for cell in cells for out in cell.get("outputs", ())
                if SAVED in out.get("data", {})]
    for each in verdicts:
        state = RIGHT if each["passed"] else NOT_TRIED if each["untouched"] else NOT_YET
        if each["subject"] in found and found[each["subject"]][0] != RIGHT:
            found[each["subject"]] = state, each["trouble"] if state == NOT_YET else ""
    return found


def home_of():
    """{exercise: its notebook, "02"}, in the order of the course."""
    return {name: path.name[:2] for path in sorted(notebooks().glob("[0-9]*.ipynb"))
            for name in asked_in(cells_in(path))}


def read(folder):
    """({learner: {exercise: (state, words)}}, [what was left out, in a sentence])."""
    found, left_out = {}, []
    for own in sorted(path for path in folder.iterdir() if path.is_dir()):
        best = found.setdefault(own.name, {})
        for path in sorted(own.rglob("*.ipynb")):
            if any(part.startswith((".", "__")) for part in path.relative_to(own).parts):
                continue  # what Jupyter or an archive hid
            try:
                states = states_in(cells_in(path))
            except ValueError as trouble:
                left_out.append(str(trouble))
                continue
            for name, each in states.items():
                best[name] = max(best.get(name, each), each, key=lambda it: ORDER.index(it[0]))
    loose = sorted(path.name for path in folder.glob("*.ipynb"))
    left_out += [f"{name} lies in no learner's folder." for name in loose]
    return found, left_out


def by_learner(found, home):
    """Exercises right of those handed in, for each notebook."""
    numbers = sorted({home[name] for states in found.values() for name in states})
    rows = [[who, *(share(states, [n for n in states if home[n] == number]) for number in numbers)]
            for who, states in found.items()]
    notes = ["3/4: of 4 exercises 3 are right; –: not handed in."]
    return Table("Who solved what", ["learner", *numbers], rows, notes)


def share(states, names):
    right = sum(states[name][0] == RIGHT for name in names)
    return f"{right}/{len(names)}" if names else "–"


def by_exercise(found, home):
    """How many are right, and what most are told who are not."""
    rows = []
    for name, number in home.items():
        tries = [states[name] for states in found.values() if name in states]
        counts = Counter(state for state, _ in tries)
        words = Counter(words for state, words in tries if state == NOT_YET).most_common(1)
        if tries:
            numbers = [str(counts[state]) for state in ORDER[::-1]]
            rows.append([f"{number} {name}", *numbers, words[0][0] if words else ""])
    return Table("Exercises", ["exercise", *ORDER[::-1], "what most are told"], rows)


def write_csv(path, found, home):
    """A row for each learner and exercise; its first bytes tell Excel that it is UTF-8."""
    with open(path, "w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["learner", "notebook", "exercise", "result", "words"])
        for who, states in found.items():
            for name, (state, words) in states.items():
                rows.writerow(map(safe, [who, home[name], name, state, words]))


def safe(words):
    """A cell that no spreadsheet takes for a formula: learners choose these words."""
    return f"'{words}" if words.startswith(("=", "+", "-", "@")) else words


def main(arguments=None):
    """Print the tables; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="it holds a folder for each learner")
    parser.add_argument("--csv", type=Path, help="keep a row for each learner and exercise")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    found, left_out = read(options.folder)
    if not found:
        parser.error(f"{options.folder} holds no folder: each learner's files belong into one")
    home = home_of()
    print(by_learner(found, home), by_exercise(found, home), *left_out, sep="\n\n")
    if options.csv:
        write_csv(options.csv, found, home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
