"""Central effects: each page names its own, and is saved only where they show."""

import ast
import contextlib
import io
import tomllib

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

import effects
import save_notebooks
from test_names_in_cells import bound_and_taken

SEEN = "[effect]\nshows = {'a is large' = 'a > 2'}\nsame = {'the time' = 'a, b'}\n"


@pytest.mark.parametrize("path", save_notebooks.lessons(), ids=lambda path: path.stem)
def test_each_page_names_its_one_or_two_effects_by_names_of_its_own(path):
    table = effects.effects(path.stem)
    code = [cell for cell in save_notebooks.read(path).cells if cell.cell_type == "code"]
    bound = set().union(*(bound_and_taken(cell.source)[0] for cell in code))
    assert table and 1 <= len(table["shows"]) <= 2
    for expression in [*table["shows"].values(), *table["same"].values()]:
        _, taken, _ = bound_and_taken(expression)
        assert taken - set(dir(__builtins__)) <= bound, expression
    pairs = [ast.parse(pair).body[0].value for pair in table["same"].values()]
    assert all(isinstance(pair, ast.Tuple) and len(pair.elts) == 2 for pair in pairs)


def test_no_table_is_left_of_a_page_that_is_gone():
    tables = tomllib.loads(effects.TABLE.read_text(encoding="utf-8"))
    assert set(tables) == {path.stem for path in save_notebooks.lessons()}


@pytest.mark.parametrize(("source", "says"), [
    ("a, b = 3, 3.1", ""),
    ("a, b = 1, 1", "it does not show that a is large: a > 2 is False"),
    ("a, b = 3, 4", "the time stands there twice, with figures more than 20% apart: [3.0, 4.0]"),
    ("a, b = 3, 0", "the time stands there twice"),
    ("a, b = 3, float('nan')", "the time stands there twice"),
    ("a = 3", "NameError"),
    ("a, b = None, 1", "TypeError"),
])  # fmt: skip
def test_a_page_whose_effect_does_not_show_stays_as_it_was(source, says, tmp_path, monkeypatch):
    (tmp_path / "effects.toml").write_text(SEEN)
    monkeypatch.setattr(effects, "TABLE", tmp_path / "effects.toml")
    path = tmp_path / "effect.ipynb"
    cells = [new_code_cell("1", id="x"), new_code_cell(source, id="y")]
    book = nbformat.v4.new_notebook(cells=cells)
    before = save_notebooks.text(save_notebooks.canonical(book, "effect"))
    path.write_text(before)
    monkeypatch.setattr(save_notebooks, "run", pretend)
    if says:
        with pytest.raises(SystemExit) as stopped:
            save_notebooks.save(path)
        assert says in str(stopped.value) and path.read_text() == before
    else:
        save_notebooks.save(path)
        assert [cell.id for cell in save_notebooks.read(path).cells][1:] == ["x", "y"]


def pretend(notebook, name):
    """Run the cells here, without a kernel: what they print is the last one's output."""
    names, said = {}, io.StringIO()
    with contextlib.redirect_stdout(said):
        for cell in notebook.cells[1:]:
            exec(cell.source, names)
    notebook.cells[-1].outputs = [new_output("stream", text=said.getvalue())]
    return []
