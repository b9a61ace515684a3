"""docs/claims.md, the tables of all statements, and three of them in README: made from the figures
that ship with the course and from the evidence.

make notebooks              pages hand over what they find: gpulessons/claims/found.csv
python tools/verdicts.py    write both anew
"""

import os
import re
from pathlib import Path

from gpulessons import claims
from gpulessons.claims import kept
from gpulessons.claims.judge import HERE, WORDS, written

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "claims.md", ROOT / "README.md"
SURPRISING = ("4c", "21c", "25a")  # the statements that README shows: they stand
BEGIN, END = "<!-- verdicts: python tools/verdicts.py -->", "<!-- end of verdicts -->"
HEAD = """# The claims

<!-- made by python tools/verdicts.py from the figures that ship with the course -->

Five pieces of writing made twenty-seven claims about GPUs and deep learning. Each is split into its
statements, and each of these has a word by all its figures, measured, counted, published, modelled
or bounded. Figures of one author are one witness, and all that this course finds is its own.
`gpulessons claims` prints them with their figures, yours in place of ours where you have run the
pages, and [16 · Verdicts](../notebooks/16_verdicts.ipynb) says how they are judged.
"""


def page(found):
    """The Markdown of the page: a table for each word, with a row for each statement."""
    rows = []
    for word, those in found.by_word().items():
        rows += ["", f"## {word.capitalize()}", "", f"{WORDS[word].capitalize()}.", "",
                 "| statement | page | found by |", "|---|---|---|"]  # fmt: skip
        rows += [f"| {each.about.words} | {linked(each.about.notebook)} | {each.support} |"
                 for each in those]  # fmt: skip
    rows += ["", "## No verdict", ""]
    rows += [f"- {each.words} {each.untested}" for each in claims.claims().values()
             if each.untested]  # fmt: skip
    return "\n".join([HEAD.rstrip(), *rows, "", found.sentence, "", machines(found), ""])


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
    return (f"- *{about.words}* **{finding.word.capitalize()}.** {quantity}: "
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
