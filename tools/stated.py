"""What the prose of a notebook states, and whether it can be wrong on somebody else's machine.

    python tools/stated.py [name …]     what is stated without a ground, in all by default

Prose is written once and read beside numbers from any machine. So a quantity in it (a number with
a unit) stands in the page's code or in an output that a test compares, or it has a ground: a count,
a definition, a published figure. An equation in it holds. And who wins *here*, in a sentence
without a condition, is for the page's own output to say, in words made from the numbers.
"""

import json
import operator
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
GROUNDS = Path(__file__).with_name("grounds.json")  # {notebook: {quantity or sentence: its ground}}

UNIT = (
    r"(?:×|%|times\b(?! a)|(?:[munµ]|milli|micro)?s(?:econds?)?\b|[kMGT]?i?B(?:/s)?\b|bytes\b|"
    r"[kMGT]?FLOPs?(?:/s)?\b|[kMG]Hz\b|[kM]?W\b)"
)
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
QUANTITY = re.compile(rf"(?<![\w.])({NUMBER})[ \u00a0]?({UNIT})(?! ?\d)")
EQUATION = re.compile(rf"(?<![\w.])({NUMBER}(?: [+×·/−-] {NUMBER})+) = ({NUMBER})(?![\w.,]*\w)")
ORDER = re.compile(
    r"\b(faster|slower|quicker|fastest|slowest|quickest|beats?|wins?|won|loses?|lost|ahead|behind|"
    r"longer|shorter|cheaper|dearer|ties?|tied)\b", re.IGNORECASE,
)  # fmt: skip
HERE = re.compile(
    r"\b(here|this (?:CPU|machine|computer)|above|below|you (?:just )?(?:saw|measured|have seen)|"
    r"the (?:table|figure|bars?|curves?))\b", re.IGNORECASE,
)  # fmt: skip
CONDITION = re.compile(
    r"\b(may|might|can|could|would|if|where|when|usually|often|should|whether|once|unless|until|how|"
    r"which|what|why|who)\b|\?", re.IGNORECASE,
)  # fmt: skip
SIGNS: dict[str, Any] = {
    "+": operator.add, "×": operator.mul, "·": operator.mul, "/": operator.truediv,
    "−": operator.sub, "-": operator.sub,
}  # fmt: skip


def sentences(notebook: NotebookNode) -> Iterator[str]:
    """The sentences of a notebook's prose, code in them left out; its sources are no statements."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not cell.source.startswith("## Sources"):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell.source)  # a link reads as its words
            text = re.sub(r"`[^`]*`", "", text)
            for paragraph in re.split(r"\n\s*\n|\n(?=[-|>\d])", text):
                yield from re.split(r"(?<=[.!?]) +", " ".join(paragraph.split()))


def quantities(sentence: str) -> Iterator[str]:
    for number, unit in QUANTITY.findall(sentence):
        yield f"{number} {unit}".replace(" ×", "×")


def on_the_page(notebook: NotebookNode) -> set[float]:
    """The numbers of a page's code, and of the outputs that a test compares with new ones."""
    text = ""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            text += re.sub(r"(?<=\d)_(?=\d)", "", cell.source) + "\n"
            if "nbval-check-output" in cell.metadata.get("tags", ()):
                text += json.dumps([said(output) for output in cell.outputs]) + "\n"
    return {value(found) for found in re.findall(NUMBER, text)}


def said(output: NotebookNode) -> str:
    return output.get("text", "") + output.get("data", {}).get("text/plain", "")


def value(number: str) -> float:
    return float(number.replace(",", ""))


def holds(left: str, right: str) -> bool:
    """Whether an equation of numbers is true, × and / before + and −; to the digits it is given."""
    first, *rest = re.split(r" ([+×·/−-]) ", left)
    terms = [value(first)]
    for sign, number in zip(rest[::2], rest[1::2], strict=True):
        if sign in "×·/":
            terms[-1] = SIGNS[sign](terms[-1], value(number))
        else:
            terms.append(SIGNS[sign](0, value(number)))
    digits = len(right.partition(".")[2])
    return abs(sum(terms) - value(right)) <= 0.5 * 10**-digits


def groundless(notebook: NotebookNode, grounds: dict[str, str]) -> list[str]:
    """What a notebook's prose states without a ground, a line for each."""
    page, found = on_the_page(notebook), []
    for sentence in sentences(notebook):
        for quantity in quantities(sentence):
            if value(quantity.split("×")[0].split()[0]) not in page and quantity not in grounds:
                found.append(f"{quantity}: {sentence}")
        for left, right in EQUATION.findall(sentence):
            if not holds(left, right):
                found.append(f"{left} is not {right}: {sentence}")
        order = ORDER.search(sentence) and HERE.search(sentence)
        if order and not CONDITION.search(sentence) and sentence not in grounds:
            found.append(f"an order that another machine may not have: {sentence}")
    return found


def unused(notebook: NotebookNode, grounds: dict[str, str]) -> list[str]:
    """Grounds of what is stated no longer."""
    stated = list(sentences(notebook))
    known = {*stated, *(each for sentence in stated for each in quantities(sentence))}
    return [ground for ground in grounds if ground not in known]


def grounds_of(name: str) -> dict[str, str]:
    """What one notebook states that is true on any machine, and why."""
    return json.loads(GROUNDS.read_text(encoding="utf-8")).get(name, {})


def main() -> None:
    """Print what the notebooks named on the command line state without a ground."""
    import save_notebooks

    names = sys.argv[1:] or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    for name in names:
        notebook = save_notebooks.read(NOTEBOOKS / f"{name}.ipynb")
        for line in groundless(notebook, grounds_of(name)):
            print(f"{name}: {line}")


if __name__ == "__main__":
    main()
