"""What a page must show when it is saved: its one or two central effects, and figures that agree.

`effects.toml` has a table for each lesson. Under `shows` a sentence names an effect, and an
expression over the notebook's own names says whether it was seen. Under `same` a sentence names a
quantity that the page gives twice, and an expression gives both figures. A page that does not show
its effect is not saved. (On a reader's machine it may not show; then the page says so.)
"""

import json
import tomllib
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

TABLE = Path(__file__).with_name("effects.toml")
APART = 0.2  # two figures of one quantity may differ by this much
ASK = """\
def answer(expression):
    try:
        value = eval(expression, globals())
        return [float(each) for each in value] if isinstance(value, tuple) else bool(value)
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"
import json
print(json.dumps({{each: answer(each) for each in {expressions!r}}}))
"""


def effects(name: str) -> dict[str, dict[str, str]]:
    """A lesson's table, {"shows": {sentence: expression}, "same": …}; {} of what is no lesson."""
    found = tomllib.loads(TABLE.read_text(encoding="utf-8")).get(name)
    return {"shows": {}, "same": {}, **found} if found else {}


def question(table: dict[str, dict[str, str]]) -> NotebookNode:
    """The cell that asks a notebook's kernel for the values, after all others have run."""
    expressions = [*table["shows"].values(), *table["same"].values()]
    return new_code_cell(ASK.format(expressions=expressions))


def missing(table: dict[str, dict[str, str]], asked: NotebookNode) -> list[str]:
    """What the page should have shown and did not, a line for each, from the cell that asked."""
    answers = json.loads("".join(each.get("text", "") for each in asked.outputs))
    lines = [
        f"it does not show that {sentence}: {expression} is {answers[expression]}"
        for sentence, expression in table["shows"].items()
        if answers[expression] is not True
    ]
    return lines + [
        f"{sentence} stands there twice, with figures more than {APART:.0%} apart: {answers[pair]}"
        for sentence, pair in table["same"].items()
        if not agree(answers[pair])
    ]


def agree(figures: object) -> bool:
    """Whether two figures lie close together; whatever else came back does not."""
    if not isinstance(figures, list) or len(figures) != 2:
        return False
    low, high = sorted(figures)
    return low > 0 and high <= (1 + APART) * low
