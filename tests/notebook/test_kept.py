"""The file of predictions: it outlives kernels, loses no line, and is nobody else's business."""

import json
import os
import subprocess
import sys
import threading
import time

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


# Two at once


WRITER = """
import os, sys
from gpulessons.notebook.controls import kept
from gpulessons.notebook.controls.showing import Scale
for number in range(200):
    event = kept.Event(kept.now(), sys.argv[1], "q" * 90, Scale(1.0, 1000.0, "×"), float(number))
    kept.append([event])
    if number == 20 and sys.argv[1] == "0":
        with open(kept.where(), "ab") as file:
            file.write(b"half a line")
    if number % 40 == 0:
        kept.events()
sys.exit(len(kept.unsaved))
"""


def test_processes_that_write_at_once_lose_no_line_even_while_one_is_set_aside(path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(n)]) for n in range(4)]
    while any(writer.poll() is None for writer in writers):
        kept.events()
        time.sleep(0.01)
    assert [writer.wait() for writer in writers] == [0] * 4
    found = [(event.key, event.guess) for event in kept.events()]
    assert len(found) == 800 and len(set(found)) == 800
    for n in range(4):
        assert [number for key, number in found if key == str(n)] == list(map(float, range(200)))


def test_a_line_written_while_the_file_is_set_aside_is_written_again(path, monkeypatch):
    kept.append([guess(1)])
    real, moves = os.write, [lambda: path.rename(path.with_name("aside"))]

    def write(file, content):
        if moves:
            moves.pop()()
        return real(file, content)

    monkeypatch.setattr(os, "write", write)
    kept.append([guess(2)])
    assert [event.guess for event in kept.events()] == [2]


def test_what_another_adds_just_before_a_line_is_written_stays(path, monkeypatch):
    kept.append([guess(1)])
    real, others = os.write, [guess(2).line]

    def write(file, content):
        if others:
            with open(path, "ab") as another:
                another.write(others.pop())
        return real(file, content)

    monkeypatch.setattr(os, "write", write)
    kept.append([guess(3)])
    assert {event.guess for event in kept.events()} == {1, 2, 3}


def test_a_line_that_was_written_twice_counts_once(path):
    first, second = (guess(n, when=f"2026-11-01T0{n}:00:00+00:00") for n in (1, 2))
    kept.append([first, second, first])
    assert kept.events() == [first, second]
    assert kept.last_guess("key") == 2


CLOCKS = ["2026-11-03T09:00:00+00:00", "2026-11-02T09:00:00+00:00", "2026-11-01T09:00:00+00:00"]


@pytest.mark.parametrize("damaged", [False, True])
def test_after_the_clock_is_set_back_the_last_guess_is_the_one_made_last(path, damaged):
    earlier, later, unsaved = (guess(n, when=when) for n, when in enumerate(CLOCKS))
    kept.append([earlier, later])
    if damaged:
        with open(path, "ab") as file:
            file.write(b"half a line")
    assert kept.events() == [earlier, later]
    kept.unsaved.append(unsaved)
    assert kept.events() == [earlier, later, unsaved]
    assert kept.last_guess("key") == unsaved.guess


def test_what_another_writes_while_a_file_is_set_aside_stands_behind_what_is_moved(
        path, monkeypatch):
    first, second, third = (guess(n, when=when) for n, when in enumerate(CLOCKS))
    kept.append([first, second])
    with open(path, "ab") as file:
        file.write(b"half a line\n")
    real, others = os.rename, [third.line]

    def rename(old, new):
        real(old, new)
        path.write_bytes(others.pop())

    monkeypatch.setattr(type(path), "rename", lambda path, new: rename(path, new))
    kept.events()
    assert kept.events() == [first, second, third]
    assert b"half" not in path.read_bytes()


def test_a_file_that_another_process_mended_is_not_set_aside_again(path):
    kept.append([guess(1)])
    with open(path, "ab") as file:
        file.write(b"half a line\n")
    damaged = kept.Content(path)
    path.rename(path.with_name("aside"))
    kept.append([guess(2)])
    assert [event.guess for event in kept.set_aside(path, damaged)] == [2]
    assert sorted(each.name for each in path.parent.iterdir()) == ["aside", path.name]
    assert b"moved" not in path.read_bytes(), "it is as it was"


def test_where_a_file_never_seems_to_be_itself_a_line_is_written_a_few_times_at_most(
        path, monkeypatch):
    tries = []

    def samestat(one, other):
        tries.append(one)
        assert len(tries) < 10, "without end"
        return False

    monkeypatch.setattr(os.path, "samestat", samestat)
    kept.append([guess(1)])
    assert len(tries) == 3 and not kept.unsaved
    assert [event.guess for event in kept.events()] == [1]


# What is not as it should be


DAMAGE = {
    "half a line": b'{"version": 1, "when": "2026-1',
    "binary": bytes(range(256)) + b"\n",
    "a text": b"Dear diary,\n\xff\xfe\n",
    "JSON of another kind": b'[1, 2]\n"guess"\nnull\n{"guess": 3}\n',
    "no number": b'{"version": 1, "when": "", "key": "k", "question": "q", "guess": NaN, '
                 b'"low": 1, "high": 9, "unit": "x"}\n',
    "far too deep": b"[" * 20_000 + b"\n",
}


def of_version(version, event):
    return event.line.replace(b'"version": 1', b'"version": %s' % version)


def test_lines_of_a_newer_version_stay_and_are_passed_over_with_a_sentence_once(path, capsys):
    path.parent.mkdir()
    newer = of_version(b"2", guess(9))
    whole = guess(1).line + newer + guess(2).line
    path.write_bytes(whole)
    for _ in range(2):
        assert [event.guess for event in kept.events()] == [1, 2]
        kept.tell()
    assert path.read_bytes() == whole and list(path.parent.iterdir()) == [path]
    assert capsys.readouterr().out.count(f"{path} holds lines from a newer gpulessons") == 1
    path.write_bytes(b"half a line\n" + whole)
    assert [event.guess for event in kept.events()] == [1, 2]
    assert newer in path.read_bytes() and len(lines(path)) == 3


@pytest.mark.parametrize("damage", [*DAMAGE, "no version"])
def test_a_damaged_file_is_set_aside_with_a_sentence_and_what_can_be_read_goes_on(
        path, another_kernel, damage, capsys):
    path.parent.mkdir()
    content = DAMAGE.get(damage) or of_version(b'"2"', guess(9))
    whole = guess(1).line + content.rstrip(b"\n") + b"\n" + guess(2).line + content
    path.write_bytes(whole)
    another_kernel()
    assert [event.guess for event in kept.events()] == [1, 2]
    predict(QUESTION, 1, 1000)._repr_mimebundle_()
    aside, = set(path.parent.iterdir()) - {path}
    assert aside.read_bytes() == whole
    assert aside.name.startswith("mine.damaged-") and aside.suffix == ".jsonl"
    assert [line["guess"] for line in lines(path)] == [1, 2]
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and aside.name in said and "could be read of it (2)" in said
    assert [event.guess for event in kept.events()] == [1, 2]
    kept.tell()
    assert capsys.readouterr().out == "" and len(list(path.parent.iterdir())) == 2


def test_a_guess_after_half_a_line_is_not_swallowed_by_it(path):
    path.parent.mkdir()
    path.write_bytes(guess(1).line + b'{"version": 1, "wh')
    kept.append([guess(2)])
    assert [event.guess for event in kept.events()] == [1, 2]


def test_half_a_line_that_is_being_written_is_waited_for(path, monkeypatch):
    path.parent.mkdir()
    whole = guess(1).line + guess(2).line
    path.write_bytes(whole[:-9])
    monkeypatch.setattr(kept.time, "sleep", lambda seconds: path.write_bytes(whole))
    assert [event.guess for event in kept.events()] == [1, 2]
    assert list(path.parent.iterdir()) == [path]


def test_a_last_line_without_its_end_is_no_damage(path):
    path.parent.mkdir()
    path.write_bytes(guess(1).line.strip())
    kept.append([guess(2)])
    assert [event.guess for event in kept.events()] == [1, 2]
    assert list(path.parent.iterdir()) == [path]


FULL = """
import resource, signal, sys
from gpulessons.notebook.controls import kept, predict
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))
for question in "ab":
    prediction = predict(question, 1, 1000)
    prediction.set(40)
    prediction.reveal(3)
    kept.tell()
    assert prediction.value == 40
print(*sorted({event.key for event in kept.events()}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("damaged", [False, True])
def test_a_full_disk_is_said_once_and_loses_nothing(path, damaged):
    kept.append([guess(1), guess(2)])
    if damaged:
        with open(path, "ab") as file:
            file.write(b"x" * 1000 + b"\n")
    before = path.read_bytes()
    limit = 50 if damaged else len(before) + 50
    *said, keys = run(FULL.replace("ROOM", str(limit))).splitlines()
    assert [sentence.split(" (")[0] for sentence in said if "cannot" in sentence] == [
        f"Predictions cannot be written to {path}"]
    assert keys == "a b key"
    assert path.read_bytes().replace(b', "moved": true', b"").startswith(before)
    assert not damaged or list(path.parent.iterdir()) == [path], "there was no room to mend it"
    assert [event.guess for event in kept.events()][:2] == [1, 2]


NOWHERE = """
from gpulessons import predict, predictions
prediction = predict("How fast?", 1, 1000)
prediction.set(40)
for _ in range(2):
    prediction.reveal(3)
print("revealed")
assert predict("How fast?", 1, 1000).value == 40 and len(predictions.kept()) == 1
"""


def test_where_nothing_can_be_written_this_kernel_remembers_and_says_so_once(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "mine.jsonl", tmp_path):
        said = run(NOWHERE, GPULESSONS_PREDICTIONS=str(place))
        assert said.count("\n") == 2 and said.endswith("\nrevealed\n")
        assert said.startswith(f"Predictions cannot be written to {place}")
        assert "only this kernel remembers them" in said
    assert run(NOWHERE, GPULESSONS_PREDICTIONS=os.devnull) == "revealed\n", "it was asked for"


def test_a_user_without_a_home_has_no_file_and_is_told_once(monkeypatch):
    no_home = "import pathlib\ndef home():\n    raise RuntimeError\npathlib.Path.home = home\n"
    said = run(no_home + NOWHERE, GPULESSONS_PREDICTIONS="")
    assert said.count("\n") == 2 and "no home folder" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe has a name on POSIX only")
def test_a_place_that_is_no_file_is_neither_read_nor_deleted(path):
    path.parent.mkdir()
    os.mkfifo(path)
    assert kept.events() == [] and kept.forget() == 0
    assert path.exists()


# Where


@pytest.mark.parametrize(("platform", "env", "expected"), [
    ("linux", {}, "~/.local/share/gpulessons/predictions.jsonl"),
    ("linux", {"XDG_DATA_HOME": "/data"}, "/data/gpulessons/predictions.jsonl"),
    ("linux", {"XDG_DATA_HOME": "data"}, "~/.local/share/gpulessons/predictions.jsonl"),
    ("darwin", {"XDG_DATA_HOME": "/data"},
     "~/Library/Application Support/gpulessons/predictions.jsonl"),
    ("win32", {"APPDATA": "/roaming"}, "/roaming/gpulessons/predictions.jsonl"),
    ("win32", {}, "~/AppData/Roaming/gpulessons/predictions.jsonl"),
    ("linux", {kept.NAME: "~/my.jsonl", "XDG_DATA_HOME": "/data"}, "~/my.jsonl")])
def test_the_file_is_where_programs_keep_what_is_the_users_own(
        platform, env, expected, monkeypatch, tmp_path):
    for name in (kept.NAME, "XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**env, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert str(kept.where()) == expected.replace("~", str(tmp_path))


def test_only_its_owner_may_read_the_file(path):
    kept.append([guess(1)])
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
