"""Each page runs to its end whatever befalls the machine.

`make test` disturbs two pages, others every day; `make test-all` each page in one way, another
every day; `make disturbed` every page in every way.
"""

import os
import re
from datetime import date
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output

import disturbances
import save_notebooks
from briefly import BRIEFLY

EVERY = "GPULESSONS_EVERY_DISTURBANCE"
HANGS = 600  # seconds after which a cell counts as hung
TAGS = re.compile(r"<(style|svg|script|pre)\b.*?</\1>|<[^>]*>", re.DOTALL)
CHECK = re.compile(r"^check\(", re.MULTILINE)
NO_FIGURE = re.compile(r"(?<![\w.])(nan|inf|None(?! of))(?![\w.])")


def chosen(day):
    """(page, name of a disturbance): one for each page, and the next one tomorrow; or all."""
    names = list(disturbances.ALL)
    for n, path in enumerate(save_notebooks.lessons()):
        today = names if os.environ.get(EVERY) else [names[(day + n) % len(names)]]
        yield from ((path, name) for name in today)


def nonsense(notebook):
    """The cells that show a figure that is none, each with the words around it.

    Not those of checks, whose words have what an answer was asked and said: that may be None.
    """
    for cell in notebook.cells:
        if CHECK.search(cell.source):
            continue
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = TAGS.sub(" ", data.get("text/html", ""))
            text = html or output.get("text") or data.get("text/plain", "")
            yield from ((cell.id, text[max(0, m.start() - 40) : m.end() + 40])
                        for m in NO_FIGURE.finditer(text))  # fmt: skip


def marked(day):
    """The pairs of `chosen`, all but two of them nightly."""
    pairs = list(chosen(day))
    first = 2 * day % len(pairs)
    for n, pair in enumerate(pairs):
        daily = n in (first, first + 1)
        yield pytest.param(*pair, marks=() if daily else pytest.mark.nightly)


@pytest.mark.parametrize(
    ("path", "name"), list(marked(date.today().toordinal())),
    ids=lambda each: getattr(each, "stem", each),
)  # fmt: skip
def test_it_runs_whatever_befalls_it(path, name, tmp_path):
    notebook = save_notebooks.read(path)
    taught = {cell for cell, _ in nonsense(notebook)}  # how exp overflows, say
    first = f"""\
import sys
sys.path.append({str(Path(__file__).parent)!r})
import disturbances
disturbances.ALL[{name!r}]()
"""
    notebook.cells.insert(0, new_code_cell(first))
    NotebookClient(
        notebook, timeout=HANGS, startup_timeout=HANGS, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}}, extra_arguments=["--log-level=ERROR"],
    ).execute(env={**os.environ, **BRIEFLY})  # fmt: skip
    assert not [(cell, words) for cell, words in nonsense(notebook) if cell not in taught]


@pytest.mark.parametrize(("text", "found"), [
    ("a ratio of nan", 1), ("inf× as fast, and None", 2), ("information, None of it", 0),
])  # fmt: skip
def test_a_figure_that_is_none_is_found(text, found):
    cell = new_code_cell("x", id="x", outputs=[new_output("stream", text=text)])
    html = new_output("display_data", {"text/html": f"<b>{text}</b>"})
    page = new_code_cell("x", id="y", outputs=[html])
    assert len(list(nonsense(new_notebook(cells=[cell, page])))) == 2 * found


def test_nine_days_have_every_disturbance_of_every_page(monkeypatch):
    monkeypatch.delenv(EVERY, raising=False)
    seen = {pair for day in range(len(disturbances.ALL)) for pair in chosen(day)}
    monkeypatch.setenv(EVERY, "1")
    assert seen == set(chosen(0))
