"""The notebooks: they run anywhere, without an error, and read completely as static pages."""

import ast
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import save_notebooks
from first_cell import ID, address_in, first_cell
from gpulessons.hardware import budget
from gpulessons.notebook.controls import kept
from gpulessons.progress import EMPTY
from save_notebooks import WIDGET, canonical

PATHS = save_notebooks.lessons()
ROUGHLY = {budget.NAME: "0.02"}  # what is timed stays unread here; `make bench` has the seconds
HANGS = 600  # seconds after which a cell, or a kernel that starts, counts as hung
LINES = 14  # of code in one cell
PICTURES = {"image/png", "image/jpeg", "image/svg+xml"}

# The level-2 headings of a lesson, in order; a heading may go on after the words.
PARTS = (
    "The claim", "Predict", "Measure", "Why", "Break it", "Your turn", "Quiz", "Recap", "Sources",
)  # fmt: skip
SECOND = "Predict", "Your turn", "The answer", "Further", "Sources"  # of pages from one question
WITHOUT = {"00_start_here": {"The claim"}}  # it teaches how to measure, and claims nothing

each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def quoted(notebook):
    """Return the ids of cells whose value is a text, which Jupyter shows in quotes."""

    def a_text(node):
        if isinstance(node, ast.IfExp):
            return a_text(node.body) or a_text(node.orelse)
        return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)

    def shown_so(cell):
        values = [output.data.get("text/plain", "") for output in cell.outputs if "data" in output]
        last = ast.parse(cell.source).body[-1:]
        return any(value[:1] in {"'", '"'} for value in values) or any(
            isinstance(each, ast.Expr) and a_text(each.value) for each in last
        )

    return [cell.id for cell in code(notebook) if shown_so(cell)]


class Images(HTMLParser):
    """Gathers the alt text of each <img> of a page."""

    def __init__(self, page):
        super().__init__()
        self.alts = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.alts.append(dict(attributes).get("alt") or "")


def silent_pictures(notebook):
    """Return where pictures say nothing to someone who cannot see them, in words."""
    pages = [(text[:40], text) for text in prose(notebook)]
    found = [f"![]() in {text[:40]!r}" for text in prose(notebook) if "![](" in text]
    for cell in code(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            pages.append((f"cell {cell.id}", data.get("text/html", "")))
            kinds = PICTURES & set(data)
            alts = [output.metadata.get(kind, {}).get("alt") for kind in kinds]
            said = data.get("text/plain", "")
            words = said and not said.startswith("<")  # Matplotlib's "<Figure size …>" is no text
            if kinds and not ("text/html" in data or words or any(alts)):
                found.append(f"the picture of cell {cell.id}")
    found += [f"<img> in {where}" for where, page in pages if not all(Images(page).alts)]
    return found


def missing_parts(notebook, name):
    """Return the parts of a lesson whose level-2 heading does not follow the one before it."""
    lines = "\n".join(prose(notebook)).splitlines()
    left = iter([line[3:] for line in lines if line.startswith("## ")])  # those not yet read
    parts = SECOND if "## Further" in lines else PARTS
    wanted = [part for part in parts if part not in WITHOUT.get(name, ())]
    return [part for part in wanted if not any(heading.startswith(part) for heading in left)]


def nbval(path, folder, patience=HANGS):
    """Run a copy of a notebook in an otherwise empty folder; return the finished process.

    Every cell must run without error; those tagged nbval-check-output must show what was saved.
    """
    shutil.copy(path, folder)
    env = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    options = ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={patience}"]
    options += [f"--nbval-kernel-startup-timeout={HANGS}", f"--rootdir={folder}"]
    return subprocess.run(
        [*command, *options, path.name], cwd=folder, env=env | ROUGHLY,
        capture_output=True, text=True,
    )  # fmt: skip


# Each notebook of the course


@each_notebook
def test_it_runs_in_an_empty_folder(path, tmp_path):
    done = nbval(path, tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]


@each_notebook
def test_it_is_saved_in_canonical_form(path):
    assert save_notebooks.is_canonical(path), f"run: make notebooks ARGS={path.stem}"


@each_notebook
def test_it_opens_with_a_title_its_minutes_and_the_cell_that_installs_the_course(path):
    notebook = save_notebooks.read(path)
    first = notebook.cells[0]
    assert (first.cell_type, first.source[:2]) == ("markdown", "# ")
    assert re.search(r"\d+ minutes", first.source)
    assert address_in(code(notebook)[0].source) is not None


def test_all_were_saved_with_one_address():
    # Which one is the saver's: a clone from elsewhere is no reason to save them again.
    assert len({address_in(code(save_notebooks.read(path))[0].source) for path in PATHS}) == 1


@each_notebook
def test_it_has_the_parts_of_a_lesson(path):
    assert not missing_parts(save_notebooks.read(path), path.stem)


@each_notebook
def test_its_cells_are_short_and_ended_well(path):
    for cell in code(save_notebooks.read(path)):
        most = LINES + 4 * cell.id.startswith("ex-")  # a stub has kernels and their launcher
        assert len(cell.source.splitlines()) <= most, f"cell {cell.id} is too long"
        assert "error" not in [output.output_type for output in cell.outputs], cell.id


@each_notebook
def test_it_shows_a_picture_and_every_picture_has_words(path):
    notebook = save_notebooks.read(path)
    outputs = [output.get("data", {}) for cell in code(notebook) for output in cell.outputs]
    assert any(PICTURES & set(data) or "<img" in data.get("text/html", "") for data in outputs)
    assert not silent_pictures(notebook)


@each_notebook
def test_a_sentence_is_printed_and_never_a_cells_value_in_quotes(path):
    assert quoted(save_notebooks.read(path)) == []


@each_notebook
def test_no_machine_shows_through(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?<![\w.+/])/(?:home|root|Users|tmp)/[\w./-]+", text)


# The canonical form


def book(*cells, **metadata):
    plain = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(plain)  # new_notebook would mend ids that a test spoiled


def shown(data, **metadata):
    return new_code_cell("show()", outputs=[new_output("display_data", data, metadata=metadata)])


def saved_outputs(*outputs):
    """Return the outputs of one code cell as they are saved."""
    return canonical(book(new_code_cell("x", outputs=list(outputs))), "n").cells[-1].outputs


def test_the_canonical_form_is_its_own_canonical_form_and_leaves_its_argument_alone():
    cell = new_code_cell("print(1)", execution_count=7, outputs=[new_output("stream", text="1\n")])
    notebook = book(new_markdown_cell("# Title"), cell, new_code_cell(""))
    before = save_notebooks.text(notebook)
    once = canonical(notebook, "n")
    assert save_notebooks.text(notebook) == before
    assert canonical(once, "n") == once
    nbformat.validate(once)


def test_ids_stay_and_missing_ones_come_from_the_name_and_place():
    cells = [new_markdown_cell("a"), new_code_cell("b"), new_code_cell("c"), new_code_cell("d")]
    cells[1].id, cells[3].id = "kept", "n-03"
    del cells[0]["id"], cells[2]["id"]
    ids = [cell.id for cell in canonical(book(*cells), "n").cells]
    assert ids == ["n-00", ID, "kept", "n-04", "n-03"]


def test_what_belongs_to_one_machine_or_one_run_is_not_saved():
    cell = new_code_cell(
        "x",
        execution_count=42,
        metadata={"execution": {"iopub.status.busy": "today"}, "tags": ["t"], "scrolled": True},
        outputs=[new_output("execute_result", {"text/plain": "1"}, execution_count=42)],
    )
    kernel = {"display_name": "my env", "language": "python", "name": "my-env"}
    saved = canonical(book(cell, kernelspec=kernel, widgets={"state": {}}, vscode={}), "n")
    assert saved.metadata == save_notebooks.METADATA
    assert saved.cells[1].metadata == {"tags": ["t"]}
    assert [c.execution_count for c in saved.cells] == [1, 2]
    assert saved.cells[1].outputs[0].execution_count == 2


def test_the_code_of_a_quiz_is_collapsed_for_it_has_the_answers_in_it():
    cells = new_code_cell('quiz("Which?", {})', metadata={"tags": ["t"]}), new_code_cell("1")
    _, asked, other = canonical(book(*cells), "n").cells
    assert asked.metadata == {"tags": ["t"], "jupyter": {"source_hidden": True}}
    assert other.metadata == {} and cells[0].metadata == {"tags": ["t"]}


def test_a_control_that_leaves_nothing_to_read_is_refused_by_cell():
    view = {WIDGET: {"model_id": "1"}, "text/plain": "IntSlider(value=0)"}
    with pytest.raises(ValueError, match=r"n, cell n-01: IntSlider.* Display it with text/html"):
        cell = shown(view)
        del cell["id"]
        canonical(book(cell), "n")


def test_progress_bars_go_and_warnings_stay():
    bar = " 40%|████      | 2/5 [00:01<00:01,  2.00it/s]"
    err = new_output("stream", name="stderr", text=f"\r{bar}\r{bar}\nbeware\n")
    widget = new_output("display_data", {WIDGET: {"model_id": "1"}, "text/plain": bar})
    assert saved_outputs(widget, new_output("stream", name="stderr", text=bar)) == []
    assert saved_outputs(new_output("display_data", EMPTY)) == []
    assert [output.text for output in saved_outputs(err, widget)] == ["beware\n"]


def test_the_set_up_cell_is_put_in_before_the_first_code_and_then_kept_current():
    cells = [new_markdown_cell("# Title"), new_markdown_cell("more"), new_code_cell("x", id="x")]
    once = canonical(book(*cells), "n")
    assert [cell.get("id") for cell in once.cells[2:]] == [ID, "x"]
    once.cells[2].source = "an older cell"
    twice = canonical(once, "n", "git+https://example.org/course")
    assert len(twice.cells) == 4
    assert twice.cells[2].source == first_cell("git+https://example.org/course")


def test_a_new_address_changes_the_first_cell_and_nothing_else(tmp_path, monkeypatch):
    path, address = tmp_path / "n.ipynb", "git+https://example.org/course"
    before = book(new_code_cell("x", id="x", outputs=[new_output("stream", text="1")]))
    path.write_text(save_notebooks.text(canonical(before, "n")))
    first, *rest = save_notebooks.read(path).cells
    monkeypatch.setattr(save_notebooks.published, "address", lambda: address)
    save_notebooks.readdress(path)
    assert save_notebooks.read(path).cells == [{**first, "source": first_cell(address)}, *rest]


# What the tests above would catch


def test_no_run_of_a_test_reads_or_writes_the_predictions_of_whoever_starts_it(tmp_path):
    path = tmp_path / "there" / "x.ipynb"
    path.parent.mkdir()
    cell = new_code_cell("from gpulessons import predictions; assert predictions.where() is None")
    nbformat.write(book(cell), path)
    (tmp_path / "empty").mkdir()
    assert nbval(path, tmp_path / "empty").returncode == 0


@pytest.mark.parametrize(
    ("source", "output", "patience", "says"),
    [
        ("print(open('x.txt').read())", "", HANGS, "FileNotFoundError"),
        ("print(1 + 1)", "3\n", HANGS, "Cell outputs differ"),
        ("while True: pass", "", 1, "Timeout of 1 seconds exceeded"),
    ],
    ids=["an error, as where a file lay beside the notebook", "a changed output", "a hang"],
)
def test_running_finds(source, output, patience, says, tmp_path):
    said = new_output("stream", name="stdout", text=output)
    tags = {"tags": ["nbval-check-output"]}
    cell = new_code_cell(source, execution_count=1, outputs=[said], metadata=tags)
    path = tmp_path / "there" / "x.ipynb"
    path.parent.mkdir()
    nbformat.write(book(cell), path)
    (path.parent / "x.txt").touch()
    (tmp_path / "empty").mkdir()
    done = nbval(path, tmp_path / "empty", patience)
    assert done.returncode == 1
    assert says in done.stdout


def test_saving_stops_at_an_error_with_notebook_cell_and_message(tmp_path, capsys):
    path = tmp_path / "x.ipynb"
    text = save_notebooks.text(book(new_code_cell("print('fine')"), new_code_cell("1 / 0")))
    path.write_text(text)
    with pytest.raises(SystemExit, match="x stopped there: ZeroDivisionError: division by zero"):
        save_notebooks.save(path)
    assert re.search(r"cell 3 of 3\s+in: 1 / 0", capsys.readouterr().out)
    assert path.read_text() == text


def test_a_full_disk_leaves_the_notebook_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "x.ipynb"
    path.write_text(save_notebooks.text(book(new_code_cell("1"))))
    before = path.read_bytes()

    def full(file, text):
        with open(file, "wb") as opened:
            opened.write(text[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(save_notebooks, "run", lambda notebook, name: None)
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "write_text", lambda file, text, **_: full(file, text.encode()))
    with pytest.raises(SystemExit, match=r"x was not saved: .*No space left"):
        save_notebooks.save(path)
    assert [(file, file.read_bytes()) for file in tmp_path.iterdir()] == [(path, before)]


def test_a_saved_page_shows_and_keeps_nobodys_predictions(tmp_path, monkeypatch):
    mine, path = tmp_path / "mine.jsonl", tmp_path / "x.ipynb"
    monkeypatch.setenv(kept.NAME, str(mine))
    kept.append(kept.Event(kept.now(), "How fast?", "How fast?", 777.0, 1.0, 1000.0, "×"))
    before = mine.read_bytes()
    asked = "from gpulessons import predict, predictions; guess = predict('How fast?', 1, 1000)"
    cells = [new_code_cell(source) for source in (asked, "guess", "guess.reveal(3)",
                                                  "predictions.kept()")]  # fmt: skip
    path.write_text(save_notebooks.text(book(*cells)))
    save_notebooks.save(path)
    text = path.read_text(encoding="utf-8")
    assert "How fast?" in text and "777" not in text and "You said" not in text
    assert "No predictions yet" in text
    assert mine.read_bytes() == before


def test_saving_runs_the_cells_in_full_and_writes_the_canonical_form(tmp_path, monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.02")  # a page that is saved was measured with care
    path = tmp_path / "x.ipynb"
    cell = new_code_cell(f"import os; print(os.listdir(), os.environ.get({budget.NAME!r}))")
    path.write_text(save_notebooks.text(book(new_markdown_cell("# X"), cell)))
    save_notebooks.save(path)
    assert save_notebooks.is_canonical(path)
    assert save_notebooks.read(path).cells[-1].outputs[0].text == "[] None\n"
