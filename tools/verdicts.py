"""docs/claims.md, the table of all claims, and three of them in README: made from the findings that
ship with the course.

gpulessons claims --json gpulessons/claims/found/NAME.json     judge them all on this machine
python tools/verdicts.py                                       write both anew
"""

import re
from pathlib import Path
from string import ascii_lowercase

from gpulessons.claims import recorded
from gpulessons.claims.claim import SEVERAL

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "claims.md", ROOT / "README.md"
SURPRISING = (15, 20, 21)  # the claims that README shows
BEGIN, END = "<!-- verdicts: python tools/verdicts.py -->", "<!-- end of verdicts -->"
HEAD = """# The claims

<!-- made by python tools/verdicts.py from the findings that ship with the course -->

Five pieces of writing made these claims about GPUs and deep learning. Each is put to the test by
`gpulessons claims`, on any machine; the words below are those of one machine and one day. The
lessons say why, and [16 · Verdicts](../notebooks/16_verdicts.ipynb) shows each test with its
figures. {several}
"""


def page(machines):
    """Return the Markdown of the page: the claims, and a column for each machine."""
    return f"{HEAD.format(several=SEVERAL)}\n{table(machines)}\n"


def table(machines):
    """Return its table, and below it where and when each column was found."""
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
    """Return a notebook's number as a link to it, from docs/."""
    path = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
    return f"[{number}](../notebooks/{path.name})"


def three(found):
    """README's three verdicts: each claim, its word and why."""
    shown = [found[number] for number in SURPRISING]
    lines = [f"- *{each.claim}* **{each.verdict.capitalize()}.** {each.why}" for each in shown]
    return "\n".join([*lines, "", f"Found on {found.machine}, {found.date}."])


def filled(readme, found):
    """README with today's three between its marks."""
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not marked.search(readme):
        raise SystemExit(f"{README.name} has no marks {BEGIN} and {END}.")
    return marked.sub(lambda _: f"{BEGIN}\n{three(found)}\n{END}", readme)


if __name__ == "__main__":
    machines = recorded()
    PAGE.write_text(page(machines), encoding="utf-8")
    README.write_text(filled(README.read_text(encoding="utf-8"), machines[0]), encoding="utf-8")
