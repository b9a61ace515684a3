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
SURPRISING = ("4c", "20c", "21c")  # the statements that README shows
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
        for about in claim.statements:
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
    """README's three statements: each with its word, and its figure nearest to another word."""
    return "\n".join(map(line, (found[name] for name in SURPRISING)))


def line(finding):
    """A statement that one of the sources makes, and a figure that speaks with the word's side."""
    about = finding.about
    word = finding.together
    saying = [each for each in finding.figures if finding.says(each) == word]
    nearest = max(saying, key=lambda each: each.high)
    amount, least = nearest.amount(about.unit), written(about.holds, about.unit)
    quantity = about.quantity[0].upper() + about.quantity[1:]
    return (f"- *{about.words}* **{word.capitalize()}.** {quantity}: {amount} "
            f"({nearest.kind}: {nearest.what}), where it would take {least}.")  # fmt: skip


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
