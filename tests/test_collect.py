"""teaching/collect.py: whose exercises are right, read from what their checks left on the page."""

import csv
import json
import re

import pytest

import collect
from gpulessons import check, exercises
from gpulessons.hardware.files import notebooks

NAME = "18_decoding.ipynb"


def book(*verdicts):
    """The course's notebook, as a learner saved it: its checks have left these verdicts."""
    notebook = json.loads((notebooks() / NAME).read_bytes())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in code:
        cell["outputs"] = []
    for cell, verdict in zip(code, verdicts, strict=False):
        data = verdict._repr_mimebundle_()
        cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    return json.dumps(notebook)


def put(folder, where, text):
    (folder / where).parent.mkdir(parents=True, exist_ok=True)
    (folder / where).write_text(text, encoding="utf-8")


def right(name="token_bytes"):
    exercise = getattr(exercises, name)
    names = {}
    exec(exercise.solution, names)
    return check(exercise, list(names.values())[-1])


def wrong():
    return check(exercises.token_bytes, lambda *asked: 0)


@pytest.fixture
def lines(tmp_path, capsys):
    """lines(*options): what collecting tmp_path prints, as lines of cells."""

    def collected(*options):
        assert collect.main([str(tmp_path), *map(str, options)]) == 0
        return [re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines()]

    return collected


def test_a_learner_is_a_folder_and_right_what_its_checks_say(tmp_path, lines):
    put(tmp_path, f"ada/{NAME}", book(right(), right("ridge_batch")))
    put(tmp_path, f"bob/week 3/{NAME}", book(wrong()))
    put(tmp_path, f"eve/{NAME}", book())
    (tmp_path / "zoe").mkdir()
    found = lines()
    assert [row for row in found if row[0] in ("learner", "ada", "bob", "eve", "zoe")] == [
        ["learner", "18"], ["ada", "2/2"], ["bob", "0/2"], ["eve", "0/2"], ["zoe", "–"]]
    assert ["18 token_bytes", "1", "1", "1", wrong().trouble] in found
    assert ["18 ridge_batch", "1", "0", "2"] in found


def test_of_two_copies_the_furthest_try_counts(tmp_path, lines):
    put(tmp_path, f"ada/a/{NAME}", book(right()))
    put(tmp_path, f"ada/b/{NAME}", book(wrong()))
    put(tmp_path, f"ada/.ipynb_checkpoints/{NAME}", book(right("ridge_batch")))
    assert ["ada", "1/2"] in lines()


def test_what_does_not_count_is_named(tmp_path, lines):
    put(tmp_path, "ada/02.ipynb", "{")
    put(tmp_path, NAME, book(right()))
    text = " ".join(" ".join(row) for row in lines())
    assert "ada/02.ipynb cannot be read as a notebook" in text
    assert f"{NAME} lies in no learner's folder" in text


def test_the_csv_has_a_row_for_each_exercise_and_no_formula(tmp_path, lines):
    put(tmp_path, f"=ada/{NAME}", book(wrong()))
    lines("--csv", tmp_path / "class.csv")
    with open(tmp_path / "class.csv", encoding="utf-8-sig", newline="") as file:
        rows = {row["exercise"]: row for row in csv.DictReader(file)}
    assert rows["token_bytes"] == {
        "learner": "'=ada", "notebook": "18", "exercise": "token_bytes",
        "result": "not yet", "words": wrong().trouble}
    assert rows["ridge_batch"]["result"] == "not tried"


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(SystemExit):
            collect.main([str(folder)])
    assert "there is no folder" in capsys.readouterr().err
