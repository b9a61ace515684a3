"""The file of predictions: it outlives kernels, loses no line, and is nobody else's business."""

import json
import subprocess
import sys
import warnings

import pytest

from gpulessons.notebook.controls import kept, predict
from gpulessons.notebook.controls.kept import Event

QUESTION = "How much faster is “×”?"


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines() if line]


def guess(number, key="key", when=None):
    return Event(when or kept.now(), key, QUESTION, float(number), 1, 1000, "×")


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


def test_where_a_slider_was_dragged_to_is_the_guess(path, another_kernel):
    prediction = predict(QUESTION, 1, 1000)
    for stop in prediction.scale.stops[1:9]:
        prediction.slider.value = stop
    another_kernel()
    assert predict(QUESTION, 1, 1000).value == stop


def test_a_line_reads_as_what_was_asked_and_said(path):
    prediction = predict(QUESTION, 1, 1000)
    prediction.set(40)
    prediction.reveal((2, 3, 4), tier="recorded", label="recorded on an H200")
    made, shown = lines(path)
    assert QUESTION in path.read_text(encoding="utf-8"), "a person reads it too"
    assert made == {"version": 1, "when": made["when"], "key": QUESTION, "question": QUESTION,
                    "guess": 40, "low": 1, "high": 1000, "unit": "×", "measured": None, "tier": "",
                    "label": ""}
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
    assert [line["measured"] for line in lines(path)] == [None, [3, 3, 3]]


def test_a_key_that_is_no_text_stays_in_the_kernel(path):
    prediction = predict(QUESTION, 1, 1000, key=("a", 1))
    prediction.set(40)
    prediction.reveal(3)
    assert prediction.value == 40 and not path.exists()


# Files that are shared, torn, full or absent


WRITER = """
import sys
from gpulessons.notebook.controls import kept
for number in range(200):
    kept.append(kept.Event(kept.now(), sys.argv[1], "q" * 90, float(number), 1, 1000, "×"))
sys.exit(len(kept.unsaved))
"""


def test_processes_that_write_at_once_lose_no_line(path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(n)]) for n in range(3)]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0, 0]
    found = [(event.key, event.guess) for event in kept.events()]
    for key in "012":
        assert [guess for writer, guess in found if writer == key] == list(range(200))


def test_after_the_clock_is_set_back_the_last_guess_is_the_one_made_last(path):
    kept.append(guess(1, when="2030-01-01"))
    kept.append(guess(2, when="2020-01-01"))
    assert kept.last_guess("key") == 2


def test_a_line_that_was_written_before_still_reads(path):
    path.parent.mkdir()
    path.write_text('{"version": 1, "when": "2026-11-01", "key": "key", "question": "How?", '
                    '"guess": 40, "low": 1, "high": 9, "unit": "×"}\n', encoding="utf-8")
    assert kept.last_guess("key") == 40


@pytest.mark.parametrize("strange", [b"torn [", b"{}", b"[3]", b"3", b"\xff\xfe"])
def test_a_line_that_is_no_event_is_skipped_with_a_word(path, strange):
    kept.append(guess(1))
    path.write_bytes(strange + b"\n" + path.read_bytes())
    with pytest.warns(UserWarning, match=r"mine.jsonl: 1 of its lines cannot be read"):
        assert [event.guess for event in kept.events()] == [1]
    kept.append(guess(2))
    assert path.read_bytes().startswith(strange), "nobody's line is changed"


def test_where_nothing_can_be_written_this_kernel_remembers_and_says_so(path):
    path.parent.write_text("a file where the folder should be")
    prediction = predict(QUESTION, 1, 1000)
    prediction.set(40)
    unread = pytest.warns(UserWarning, match="cannot be read")
    with unread, pytest.warns(UserWarning, match="only this kernel remembers them"):
        prediction.reveal(3)
    path.parent.unlink()
    with warnings.catch_warnings(action="error"):
        predict("Another?", 1, 9).reveal(3)
    assert [line["guess"] for line in lines(path)] == [40, 40, None], "later all of it is written"


def test_a_file_that_cannot_be_read_is_said(path, monkeypatch):
    kept.append(guess(1))

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.warns(UserWarning, match=r"cannot be read: .*Permission denied"):
        assert kept.events() == []


def test_a_user_without_a_home_has_no_file(path, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kept, "where", homeless)
    kept.append(guess(1))
    with pytest.warns(UserWarning, match="Could not determine home directory"):
        assert kept.last_guess("key") == 1


def test_the_file_is_where_the_system_keeps_what_is_the_users_own(monkeypatch, tmp_path):
    monkeypatch.delenv(kept.NAME)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if sys.platform.startswith("linux"):
        assert kept.where() == tmp_path / "gpulessons" / "predictions.jsonl"
    assert kept.where().name == "predictions.jsonl"
