"""The file of predictions: it outlives kernels, loses no line, and is nobody else's business."""

import json
import os
import subprocess
import sys
import threading

import pytest

from gpulessons.notebook.controls import kept, predict
from gpulessons.notebook.controls.kept import Event
from gpulessons.notebook.controls.showing import Scale

QUESTION = "How much faster is “×”?"


def lines(path):
    kept.flush()
    return [json.loads(line) for line in path.read_bytes().splitlines() if line]


def guess(number, key="key", when=None):
    return Event(when or kept.now(), key, QUESTION, Scale(1.0, 1000.0, "×"), float(number))


def run(code, **env):
    """Run code in a new process; return what it printed."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# A kernel, and the next one


def test_a_guess_is_there_in_the_next_kernel_and_one_nobody_made_is_not(path, another_kernel):
    prediction = predict(QUESTION, 1, 1000)
    assert prediction.widget and prediction._repr_mimebundle_() and not path.exists()
    prediction.set(40)
    another_kernel()
    again = predict(QUESTION, 1, 1000)
    assert (again.value, again.slider.value) == (40, 40)
    assert predict("Another question?", 1, 1000).value is None
    assert predict(QUESTION, 1, 20).value is None, "off the scale"


def test_a_guess_survives_the_restart_of_a_kernel_at_once(path):
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel()
    said = []

    def ask(code):
        client.execute_interactive(code, timeout=120, output_hook=lambda m: said.append(
            m["content"].get("text") or m["content"].get("traceback") or ""))

    try:
        ask(f"from gpulessons import predict; predict({QUESTION!r}, 1, 1000).set(40)")
        kernel.restart_kernel()
        client.wait_for_ready(timeout=120)
        ask(f"from gpulessons import predict; print(predict({QUESTION!r}, 1, 1000).value)")
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert "40.0\n" in said
    assert len(lines(path)) == 1


def test_a_slider_that_is_dragged_makes_one_line_once_it_rests(path, monkeypatch):
    timers = []

    class Timer:
        def __init__(self, seconds, call, arguments):
            self.rest = lambda: call(*arguments)

        def start(self):
            timers.append(self)

    monkeypatch.setattr(threading, "Timer", Timer)
    prediction = predict(QUESTION, 1, 1000)
    for stop in prediction.scale.stops[1:31]:
        prediction.slider.value = stop
    for timer in timers[:-1]:
        timer.rest()
    assert len(timers) == 30 and not path.exists(), "it still moves"
    timers[-1].rest()
    assert [line["guess"] for line in lines(path)] == [stop]


def test_a_line_reads_as_what_was_asked_and_said(path):
    prediction = predict(QUESTION, 1, 1000)
    prediction.set(40)
    prediction.reveal((2, 3, 4), tier="recorded", label="recorded on an H200")
    made, shown = lines(path)
    assert QUESTION in path.read_text(encoding="utf-8"), "a person reads it too"
    assert made == {"version": 1, "when": made["when"], "key": QUESTION, "question": QUESTION,
                    "guess": 40, "low": 1, "high": 1000, "unit": "×"}
    assert shown == made | {"when": shown["when"], "measured": [2, 3, 4], "tier": "recorded",
                            "label": "recorded on an H200"}
    assert made["when"] <= shown["when"] and made["when"].endswith("+00:00")


def test_only_the_first_answer_is_kept_also_by_the_next_kernel(path, another_kernel):
    prediction = predict(QUESTION, 1, 1000)
    prediction.set(40)
    prediction.reveal(None)
    assert len(lines(path)) == 1, "nothing was answered"
    prediction.reveal(float("inf"))
    assert len(lines(path)) == 1, "JSON has no infinity"
    prediction.reveal(3)
    prediction.reveal(4)
    another_kernel()
    predict(QUESTION, 1, 1000).reveal(5)
    assert [line.get("measured") for line in lines(path)] == [None, [3, 3, 3]]


def test_a_key_that_is_no_text_stays_in_the_kernel(path):
    prediction = predict(QUESTION, 1, 1000, key=("a", 1))
    prediction.set(40)
    prediction.reveal(3)
    kept.flush()
    assert prediction.value == 40 and not path.exists()


# Files that are shared, torn, full or absent


WRITER = """
import sys
from gpulessons.notebook.controls import kept
from gpulessons.notebook.controls.showing import Scale
for number in range(200):
    scale = Scale(1.0, 1000.0, "×")
    kept.append([kept.Event(kept.now(), sys.argv[1], "q" * 90, scale, float(number))])
sys.exit(len(kept.unsaved))
"""


def test_processes_that_write_at_once_lose_no_line(path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(n)]) for n in range(3)]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0, 0]
    found = [(event.key, event.guess) for event in kept.events()]
    for key in "012":
        assert [guess for writer, guess in found if writer == key] == list(range(200))


def test_after_the_clock_is_set_back_the_last_guess_is_the_one_made_last(path):
    kept.append([guess(1, when="2030-01-01"), guess(2, when="2020-01-01")])
    assert kept.last_guess("key") == 2


@pytest.mark.parametrize("torn", [
    b"torn [", b"{}", b"[3]", b"\xff\xfe", b"[" * 99999, guess(7).line[:30],
    guess(7).line.replace(b'"version": 1', b'"version": 2'), guess(7).line.replace(b"7.0", b"NaN"),
])  # fmt: skip
def test_a_line_that_is_no_event_is_passed_over_and_swallows_none(path, torn):
    path.parent.mkdir()
    path.write_bytes(guess(1).line + torn)
    kept.append([guess(2)])
    assert [event.guess for event in kept.events()] == [1, 2]
    assert torn in path.read_bytes(), "nobody's line is changed"


def test_where_nothing_can_be_written_this_kernel_remembers_and_says_so_once(path, capsys):
    path.parent.write_text("a file where the folder should be")
    kept.append([guess(1)])
    kept.append([guess(2)])
    kept.tell()
    kept.tell()
    assert capsys.readouterr().out.count("only this kernel remembers them") == 1
    assert kept.last_guess("key") == 2
    path.parent.unlink()
    kept.append([guess(3)])
    assert [line["guess"] for line in lines(path)] == [1, 2, 3], "later all of it is written"


def test_a_file_that_cannot_be_read_is_said(path, capsys, monkeypatch):
    kept.append([guess(1)])

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    assert kept.events() == []
    kept.tell()
    assert "cannot be read (Permission denied)" in capsys.readouterr().out


def test_a_user_without_a_home_has_no_file(monkeypatch, another_kernel, capsys):
    def homeless():
        raise RuntimeError

    monkeypatch.delenv(kept.NAME, raising=False)
    monkeypatch.setattr(kept, "data_folder", homeless)
    kept.append([guess(1)])
    kept.tell()
    assert kept.where() is None and kept.last_guess("key") == 1
    assert "no home folder" in capsys.readouterr().out
    another_kernel()


def test_a_place_that_is_no_file_is_neither_written_nor_deleted(monkeypatch, another_kernel):
    monkeypatch.setenv(kept.NAME, os.devnull)
    kept.append([guess(1)])
    assert kept.forget() == 1
    assert os.path.exists(os.devnull)
