"""docs/claims.md, the table of all statements, and three of them in README: made from the figures
that ship with the course and from the evidence.

make notebooks              pages hand over what they find: gpulessons/claims/found.csv
python tools/verdicts.py    write both anew
"""

import os
import re
from pathlib import Path

from gpulessons import claims
from gpulessons.claims import kept
from gpulessons.claims.judge import HERE, written

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "claims.md", ROOT / "README.md"
SURPRISING = ("4c", "21c", "25a")  # the statements that README shows: they stand
BEGIN, END = "<!-- verdicts: python tools/verdicts.py -->", "<!-- end of verdicts -->"
HEAD = """# The claims

<!-- made by python tools/verdicts.py from the figures that ship with the course -->

Five pieces of writing made twenty-seven claims about GPUs and deep learning. Each is split into its
statements, and each of these has a word by what this package *measured* on the machines named
below, one by *the evidence* (what is counted, published, modelled or bounded), or both. Where the
range of a figure leaves several words possible, all of them stand there.
`gpulessons claims` prints them with their figures, yours in place of ours where you have run the
pages, and [16 · Verdicts](../notebooks/16_verdicts.ipynb) says how they are judged.
"""


def page(found):
    """The Markdown of the page: a table with a row for each statement, under its claim."""
    rows = ["| | statement | notebook | measured | by the evidence |", "|---|---|---|---|---|"]
    for number, claim in claims.claims().items():
        rows.append(f"| **{number}** | **{claim.words}** | | | |")
        for about in (each for each in claim.statements if not each.by_definition):
            each = found[about.name]
            words = f"{each.here} | {each.by_evidence}"
            rows.append(f"| {about.name} | {about.words} | {linked(about.notebook)} | {words} |")
        if claim.untested:
            rows.append(f"| | No verdict. {claim.untested} | | – | – |")
    return "\n".join([HEAD, *rows, "", found.sentence, "", machines(found), ""])


def machines(found):
    """Where and when what is shown was measured."""
    where = {f.where for each in found for f in each.figures if f.kind in HERE}
    return f"Measured on {'; '.join(sorted(where)) or 'no machine yet'}."


def linked(number):
    """A notebook's number as a link to it, from docs/."""
    path = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"))
    return f"[{number}](../notebooks/{path.name})"


def three(found):
    """README's three statements: each with its word, and its least and largest figure."""
    return "\n".join(map(line, (found[name] for name in SURPRISING)))


def line(finding):
    """A statement, its word, and the ends of its figures."""
    about = finding.about
    ends = [min(finding.figures, key=lambda each: each.low),
            max(finding.figures, key=lambda each: each.high)]  # fmt: skip
    amounts = [f"{each.amount(about.unit)} ({each.kind}: {each.what})" for each in ends]
    quantity = about.quantity[0].upper() + about.quantity[1:]
    return (f"- *{about.words}* **{finding.together.capitalize()}.** {quantity}: "
            f"{' to '.join(dict.fromkeys(amounts))}, where it would take "
            f"{written(about.holds, about.unit)}.")  # fmt: skip


def filled(readme, found):
    """README with today's three between its marks."""
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not marked.search(readme):
        raise SystemExit(f"{README.name} has no marks {BEGIN} and {END}.")
    return marked.sub(lambda _: f"{BEGIN}\n{three(found)}\n{END}", readme)


def shipped():
    """The findings by the figures that ship alone, whatever was found on this machine."""
    os.environ[kept.NAME] = os.devnull
    return claims.judged()


if __name__ == "__main__":
    PAGE.write_text(page(found := shipped()), encoding="utf-8")
    README.write_text(filled(README.read_text(encoding="utf-8"), found), encoding="utf-8")
