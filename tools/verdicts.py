"""README's table of claims, made from the findings that ship with the course.

gpulessons claims --json gpulessons/claims/found/NAME.json     judge them all on this machine
python tools/verdicts.py                                       write the table anew
"""

import re
from pathlib import Path
from string import ascii_lowercase

from gpulessons.claims import recorded

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- claims: python tools/verdicts.py -->", "<!-- end of claims -->"


def table(machines):
    """Return the Markdown between the two marks: the claims, and a column for each machine."""
    marks = [f" ({letter})" for letter in ascii_lowercase[: len(machines)]]
    marks = marks if len(machines) > 1 else [""]
    head = ["", "claim", "notebook", *(f"verdict{mark}" for mark in marks)]
    rows = [head, ["---"] * len(head)]
    for each in machines[0]:
        verdicts = [f"**{found[each.number].verdict}**" for found in machines]
        notebooks = ", ".join(map(linked, each.notebooks))
        rows.append([str(each.number), each.claim, notebooks, *verdicts])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    keys = [
        f"Found{mark} on {found.machine}, {found.date}. {found.sentence}"
        for mark, found in zip(marks, machines, strict=True)
    ]
    return "\n".join([*lines, "", *keys])


def linked(number):
    """Return a notebook's number as a link to it."""
    path = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
    return f"[{number}](notebooks/{path.name})"


def filled(text, machines):
    """Return the page with the table between its marks."""
    found = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.S)
    if not found.search(text):
        raise SystemExit(f"{README.name} has no marks {BEGIN} and {END}.")
    return found.sub(lambda _: f"{BEGIN}\n{table(machines)}\n{END}", text)


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8"), recorded()), encoding="utf-8")
