"""`gpulessons collect`: whose exercises are right, and whose machine is how fast."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpulessons import check, exercises
from gpulessons.cli import class_tables, copies, handed_in, main
from gpulessons.cli.handed_in import NOT_TRIED, NOT_YET, RIGHT, Result
from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Comparison, Timing

NAME = "15_buying_throughput.ipynb"
OURS = {path.name: path for path in copies.carried()}
ROOT = Path(__file__).parents[1]


def output_of(verdict):
    """A cell's output as Jupyter saves it."""
    return {"output_type": "display_data", "data": verdict._repr_mimebundle_(), "metadata": {}}


def book(*verdicts, name=NAME):
    """The course's notebook, as a learner saved it: its verdicts are these."""
    notebook = json.loads(OURS[name].read_bytes())
    for cell in notebook["cells"]:
        cell["outputs"] = []
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, verdict in zip(code[-len(verdicts) :], verdicts, strict=False):
        cell["outputs"] = [output_of(verdict)]
    return json.dumps(notebook)


def put(folder, where, text):
    (folder / where).parent.mkdir(parents=True, exist_ok=True)
    (folder / where).write_text(text, encoding="utf-8")


def right(name="which_part"):
    exercise = getattr(exercises, name)
    names = {}
    exec(exercise.solution, names)
    return check(exercise, list(names.values())[-1])


def wrong():
    def which_part(flops, bytes_moved, devices):
        return devices[0][0]

    return check(exercises.which_part, which_part)


@pytest.fixture
def lines(tmp_path, capsys):
    """lines(*options): what collecting tmp_path prints, as lines of words."""

    def collected(*options):
        assert main(["collect", str(tmp_path), *options]) == 0
        said = capsys.readouterr()
        collected.said = said.err
        return [re.split(r" {2,}", line) for line in said.out.splitlines()]

    return collected


def recorded(cpu, seconds):
    """A recording of an imaginary machine."""
    machine = Machine(
        cpu=cpu, cores=4, cores_total=8, simd="AVX2", simd_bits=256, caches={}, memory=None,
        gpu=None, gpus=0, accelerator=None, system="Linux", python="3.12.1", libraries={},
        date="2026-01-02", commit=None, ceilings={}, ceiling_threads={},
    )  # fmt: skip
    timing = Timing(
        op="relu", version="NumPy", backend="host", size=1000, samples=(seconds, 1.01 * seconds),
        waits=(), calls=1, threads=1, first=0.25, h2d=2e-3, d2h=1e-3, flops=1, bytes=8, error=0.0,
        cold=False, stop="settled",
    )  # fmt: skip
    compared = Comparison("relu", (timing,), cpu, "2026-01-02", "recorded")
    return Recording(machine, (compared,)).to_json()


def test_a_learner_is_a_folder_and_right_what_its_checks_say(tmp_path, lines):
    put(tmp_path, f"ada/{NAME}", book(right(), right("break_even_hours")))
    put(tmp_path, f"bob/week 3/{NAME}", book(wrong()))
    put(tmp_path, f"eve/{NAME}", OURS[NAME].read_text())  # as the course saved it
    said = lines()
    assert ["learner", "notebooks handed in", "15", "core right", "extra right"] in said
    assert ["ada", "1", "2/2", "2", "0"] in said
    assert ["bob", "1", "0/2", "0", "0"] in said and ["eve", "1", "0/2", "0", "0"] in said
    trouble = wrong().trouble
    assert ["15 which_part", "core", "1", "1", "1", trouble] in said
    assert ["15 break_even_hours", "core", "1", "0", "2"] in said


def test_a_notebook_that_lies_loose_belongs_to_whom_its_name_begins_with(tmp_path, lines):
    put(tmp_path, f"ada-{NAME}", book(right()))
    put(tmp_path, "bob_15_buying_throughput (1).ipynb", book(wrong()))
    put(tmp_path, "15_buying_throughput_ida.ipynb", book())
    put(tmp_path, "Copy of 15_buying_throughput - Lea K.ipynb", book())
    put(tmp_path, "15_buying_throughput-Copy1.ipynb", book())
    put(tmp_path, "glossary.ipynb", OURS["glossary.ipynb"].read_text(encoding="utf-8"))
    learners = [row[0] for row in lines()[3:8]]
    assert sorted(learners) == sorted(["ada", "bob", "ida", "Lea K", tmp_path.name])


def test_a_folder_of_a_week_or_of_a_notebook_is_no_learner(tmp_path, lines):
    put(tmp_path, f"week2/lea/{NAME}", book(right()))
    put(tmp_path, f"Week 3/tom/{NAME}", book(wrong()))
    put(tmp_path, f"{NAME.removesuffix('.ipynb')}/kim/{NAME}", book(right()))
    put(tmp_path, "week2/15_buying_throughput_ida.ipynb", book())
    (tmp_path / "week2" / "empty").mkdir()
    said = lines()
    assert [row[0] for row in said[3:8]] == ["empty", "ida", "kim", "lea", "tom"]
    assert ["empty", "0", "–", "0", "0"] in said and ["lea", "1", "1/2", "1", "0"] in said


def test_who_has_a_notebook_twice_may_be_several_learners(tmp_path, lines):
    put(tmp_path, f"group one/lea/{NAME}", book(right()))
    put(tmp_path, f"group one/tom/{NAME}", book(right()))
    said = "\n".join("  ".join(row) for row in lines())
    assert "group one handed in notebook 15 in 2 files" in said
    assert f"group one/lea/{NAME}, group one/tom/{NAME}" in said and "give each a folder" in said


def test_of_two_copies_counts_the_one_that_came_further(tmp_path, lines):
    put(tmp_path, f"ada/a/{NAME}", book(right()))
    put(tmp_path, f"ada/b/{NAME}", book(wrong()))
    assert ["ada", "1", "1/2", "1", "0"] in lines()


def test_right_once_is_right_and_words_that_look_like_a_verdict_are_none():
    told = [output_of(right()), output_of(wrong())]
    assert handed_in.states_in([{"outputs": told}]) == {"which_part": (RIGHT, "")}
    said = {"output_type": "stream", "text": "✓ which_part: right. I say so."}
    told = [said, output_of(wrong())]
    assert handed_in.states_in([{"outputs": told}]) == {"which_part": (NOT_YET, wrong().trouble)}


def test_whether_anything_was_tried_is_data_and_not_read_from_the_words():
    untouched = replace(wrong(), untouched=True)
    assert handed_in.states_in([{"outputs": [output_of(untouched)]}]) == {
        "which_part": (NOT_TRIED, "")}  # fmt: skip


def test_a_check_that_stopped_at_an_error_is_not_yet_and_says_which():
    broken = {"output_type": "error", "ename": "NameError", "evalue": "name 'mine' is not defined"}
    source = "from gpulessons.exercises import which_part as part\n\ncheck(part, mine)"
    cell = {"cell_type": "code", "source": source, "outputs": [broken]}
    words = "NameError: name 'mine' is not defined"
    assert handed_in.states_in([cell]) == {"which_part": (NOT_YET, words)}
    assert handed_in.states_in([{"outputs": [output_of(right())]}, cell]) == {
        "which_part": (RIGHT, "")
    }


def test_every_exercise_has_a_home_and_as_the_course_saved_it_nobody_tried_it():
    home = handed_in.home_of()
    assert sorted(home) == exercises.NAMES
    states = {}
    for path in OURS.values():
        states |= handed_in.states_in(handed_in.cells_in(path))
    assert states == dict.fromkeys(home, (NOT_TRIED, ""))


def test_what_is_no_notebook_is_left_out_with_a_sentence_and_the_rest_counts(tmp_path, lines):
    put(tmp_path, f"ada/{NAME}", book(right()))
    put(tmp_path, "bob/broken.ipynb", '{"cells": [1')
    put(tmp_path, "bob/list.ipynb", "[]")
    put(tmp_path, "bob/holiday.ipynb", '{"cells": []}')
    put(tmp_path, "bob/notes.json", '{"a": 1}')
    put(tmp_path, f"ada/.ipynb_checkpoints/{NAME}", book(wrong()))
    put(tmp_path, "__MACOSX/ada/._notes.ipynb", "")
    (tmp_path / "eve").mkdir()
    page, kept = tmp_path / "class.html", tmp_path / "class.csv"
    said = lines("--html", str(page), "--csv", str(kept))
    assert ["ada", "1", "1/2", "1", "0"] in said
    assert ["bob", "0", "–", "0", "0"] in said and ["eve", "0", "–", "0", "0"] in said
    text = "\n".join("  ".join(row) for row in said)
    left = text.partition("Left out:")[2]
    html, rows = page.read_text(encoding="utf-8"), kept.read_text(encoding="utf-8-sig")
    for words in (
        "bob/broken.ipynb cannot be read as a notebook", "bob/list.ipynb cannot be read",
        "bob/holiday.ipynb holds no exercise of the course", "bob/notes.json is no recording",
    ):  # fmt: skip
        assert words in left and f"Left out: {words}" in html and f",,,,left out,{words}" in rows
    assert "eve,,,,no notebook," in rows
    assert "checkpoints" not in text and "MACOSX" not in text


def test_a_folder_without_anything_is_a_sentence(tmp_path, capsys):
    assert main(["collect", str(tmp_path / "none")]) == 2
    assert main(["collect", str(tmp_path)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert "There is no folder" in first and "holds no notebook of the course" in second


def test_a_file_is_no_folder_and_that_is_said(tmp_path, capsys):
    put(tmp_path, NAME, book())
    assert main(["collect", str(tmp_path / NAME)]) == 2
    said = capsys.readouterr().err
    assert f"{NAME} is a file." in said and "a folder for each learner" in said


def test_a_notebook_without_cells_is_left_out_whatever_it_is_called(tmp_path, lines):
    put(tmp_path, f"ada/{NAME}", book(right()))
    for name in (NAME, "glossary.ipynb"):
        put(tmp_path, f"eve/{name}", json.dumps({"cells": []}))
    said = "\n".join("  ".join(row) for row in lines())
    assert f"eve/{NAME} holds no exercise of the course" in said and "glossary" not in said


def test_a_folder_to_keep_the_page_in_is_made_and_that_is_said(tmp_path, lines):
    put(tmp_path, f"ada/{NAME}", book())
    lines("--html", str(tmp_path / "out" / "class.html"))
    assert f"Making the folder {tmp_path / 'out'}" in lines.said
    assert (tmp_path / "out" / "class.html").exists()


def test_the_table_is_kept_as_rows_that_no_spreadsheet_calculates(tmp_path, lines):
    put(tmp_path, f"=ada/{NAME}", book(right()))
    kept = tmp_path / "class.csv"
    lines("--csv", str(kept))
    assert kept.read_bytes().startswith(b"\xef\xbb\xbf")  # or Excel takes it for another encoding
    rows = list(csv.DictReader(kept.open(encoding="utf-8-sig")))
    assert [row["learner"] for row in rows] == ["'=ada", "'=ada"]
    assert {row["exercise"]: row["result"] for row in rows} == {
        "break_even_hours": NOT_TRIED, "which_part": RIGHT,
    }  # fmt: skip


def test_two_recordings_become_one_comparison_that_names_the_learners(tmp_path, lines):
    put(tmp_path, "ada/recording.json", recorded("Laptop", 1e-3))
    put(tmp_path, f"ada/{NAME}", book(right()))
    lines()
    assert "It takes two recordings to lay machines side by side; there is one." in lines.said
    put(tmp_path, "bob/recording.json", recorded("Tower", 2e-3))
    page = tmp_path / "class.html"
    text = "\n".join("  ".join(row) for row in lines("--html", str(page)))
    assert "2 machines side by side. vs ada: how many times as fast as ada" in text
    assert re.search(r"ada  recorded: Laptop.*, 2026-01-02, ada/recording\.json", text)
    assert re.search(r"bob  recorded: Tower.*, bob/recording\.json", text)
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html and "ada/recording.json" in html and ">1/2<" in html


def test_many_machines_are_told_by_their_middle_and_their_ends(tmp_path, lines):
    for n in range(1, 26):
        put(tmp_path, f"learner {n:02}/recording.json", recorded(f"CPU {n}", n * 1e-3))
    page = tmp_path / "class.html"
    said = lines("--html", str(page))
    row = next(row for row in said if row[0].startswith("relu, 1"))
    assert row[1:] == ["25", "13.1 ms", "1.01 ms (learner 01)", "25.1 ms (learner 25)", "25×"]
    assert not [row for row in said if row[0] == "NumPy"]  # 25 columns are nothing to read
    assert "vs learner 01" in page.read_text(encoding="utf-8")


def test_a_noisy_time_says_so_and_gives_no_ratio(tmp_path, lines):
    for who, seconds in (("ada", 1e-3), ("bob", 2e-3)):
        noisy = json.loads(recorded("Laptop", seconds))
        if who == "bob":
            (entry,) = noisy["comparisons"][0]["entries"]
            entry["samples"] = [seconds, 3 * seconds, 9 * seconds]
        put(tmp_path, f"{who}/recording.json", json.dumps(noisy))
    (row,) = [row for row in lines() if row[0].startswith("relu, 1") and len(row) > 3]
    assert row[4].endswith("(bob, too noisy)") and row[5] == "–"


def test_two_recordings_of_one_learner_have_two_names(tmp_path, lines):
    put(tmp_path, "ada/a.json", recorded("Laptop", 1e-3))
    put(tmp_path, "ada/b.json", recorded("Tower", 2e-3))
    text = "\n".join("  ".join(row) for row in lines())
    assert "ada  recorded: Laptop" in text and "ada 2  recorded: Tower" in text


def test_names_are_no_html(tmp_path, lines):
    put(tmp_path, f"<b>ada/{NAME}", book(right()))
    lines("--html", str(tmp_path / "class.html"))
    assert "<b>ada" not in (tmp_path / "class.html").read_text(encoding="utf-8")


def test_a_wrong_ending_is_misspelled_before_anything_is_read(tmp_path, capsys):
    assert main(["collect", str(tmp_path), "--csv", "class.xls"]) == 2
    assert main(["collect", str(tmp_path), "--html", "class.csv"]) == 2
    assert "class.xls should end in .csv" in capsys.readouterr().err


def test_again_runs_the_learners_cells_and_believes_no_saved_output(tmp_path, lines, monkeypatch):
    mine = "from gpulessons import check\nfrom gpulessons.exercises import which_part as part\n"
    told = output_of(right())
    source = f"{mine}{exercises.which_part.stub}\ncheck(part, which_part)"
    broken = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": "1 / 0",
              "execution_count": None}  # fmt: skip
    cells = [broken, {**broken, "id": "b", "source": source, "outputs": [told]}]
    claims = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    honest = claims.replace(json.dumps(source), json.dumps(
        f"{mine}{exercises.which_part.solution}\ncheck(part, which_part)"))  # fmt: skip
    put(tmp_path, "ada/mine.ipynb", honest)
    put(tmp_path, "eve/mine.ipynb", claims)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert ["eve", "1", "1/2", "1", "0"] in lines()
    said = lines("--again")
    assert ["ada", "1", "1/2", "1", "0"] in said and ["eve", "1", "0/2", "0", "0"] in said
    assert (tmp_path / "eve" / "mine.ipynb").read_text() == claims
    assert sorted(path.name for path in (tmp_path / "eve").iterdir()) == ["mine.ipynb"]


def test_a_share_is_of_the_core_exercises_and_an_extra_one_comes_on_top():
    core = [Result("ada", "03", "brighten", RIGHT), Result("ada", "03", "agree", NOT_YET, "No.")]
    tried, done = (Result("ada", "03", "project", state) for state in (NOT_YET, RIGHT))
    assert class_tables.share([*core, tried]) == "1/2" and class_tables.share([]) == "–"
    assert class_tables.share([*core, done]) == "1/2 +1"


def test_core_and_extra_exercises_are_counted_apart(tmp_path, lines):
    name = "12_data_parallelism.ipynb"
    put(tmp_path, f"ada/{name}", book(right("ring_bytes"), right("which_all_reduce"), name=name))
    put(tmp_path, f"bob/{name}", book(right("ring_bytes"), name=name))
    kept, page = tmp_path / "class.csv", tmp_path / "class.html"
    said = lines("--csv", str(kept), "--html", str(page))
    meaning = "3/4 +1: of a notebook's 4 core exercises 3 are right, and 1 extra one"
    assert said[0][0].startswith(f"2 learners. {meaning}")
    assert ["learner", "notebooks handed in", "12", "core right", "extra right"] in said
    assert ["ada", "1", "1/2 +1", "1", "1"] in said and ["bob", "1", "1/2", "1", "0"] in said
    assert ["12 which_all_reduce", "extra", "1", "0", "1"] in said
    assert ["12 forgot_to_average", "core", "0", "0", "2"] in said
    rows = list(csv.DictReader(kept.open(encoding="utf-8-sig")))
    assert {row["exercise"]: row["kind"] for row in rows} == {
        "ring_bytes": "core", "forgot_to_average": "core", "which_all_reduce": "extra",
    }  # fmt: skip
    html = page.read_text(encoding="utf-8")
    assert meaning in html and ">1/2\N{NBSP}+1<" in html
