"""A recording comes back as it was written, or is refused in a sentence; nothing is half written.

Every machine here is imaginary and says so; no such file ever stands in the package.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpulessons
from gpulessons import op
from gpulessons.backends import gpu, host
from gpulessons.hardware import Machine
from gpulessons.measure import recordings
from gpulessons.measure.compare import compare
from gpulessons.measure.recordings import BadRecording, Recording, joined, load, save
from gpulessons.measure.results import Absent, Comparison, Timing

MACHINE = Machine(
    cpu="Imaginary CPU", cores=2, cores_total=4, simd=None, simd_bits=None,
    caches={"L1d": 1024}, memory=None, gpu={"name": "Imaginary GPU", "memory": 1, "driver": None},
    gpus=1, accelerator=None, system="Imaginary 1", python="3.0", libraries={"numpy": "0"},
    date="2000-01-01", commit=None, ceilings={"host copy": 1.5e9}, ceiling_threads={"host copy": 1},
)  # fmt: skip


def timing(**changes):
    return replace(
        Timing(
            op="imagined", version="fast", backend="host", size=10,
            samples=(1e-3, 1.234567891e-3, 3e-3), waits=(), calls=7, threads=2, first=0.5,
            h2d=1e-6, d2h=2e-6, flops=10, bytes=80, error=1e-7, cold=False, stop="settled",
        ),
        **changes,
    )  # fmt: skip


def comparison(*entries, op="imagined"):
    entries = entries or (timing(),)
    return Comparison(op, entries, MACHINE.name, "2000-01-01", notes=("a note",), unit="rows")


ABSENT = Absent("imagined", "CUDA", "gpu", 10, "no GPU was imagined")
RECORDING = Recording(MACHINE, (comparison(timing(), ABSENT), comparison(op="other")))
TEXT = RECORDING.to_json()
TIMES = st.floats(1e-9, 1e3, allow_nan=False)


def written(folder, text):
    path = folder / "recording.json"
    path.write_text(text)
    return path


def spoilt(where, value):
    """RECORDING's JSON with one value replaced; `where` is the path to it."""
    data = json.loads(TEXT)
    *parents, last = where
    inner = data
    for step in parents:
        inner = inner[step]
    inner[last] = value
    return json.dumps(data)


# -- There and back


@given(samples=st.lists(TIMES, min_size=1, max_size=20), waits=st.lists(TIMES, max_size=3))
def test_every_sample_comes_back_to_five_digits(tmp_path_factory, samples, waits):
    entry = timing(samples=tuple(samples), waits=tuple(waits))
    path = save(Recording(MACHINE, (comparison(entry),)), tmp_path_factory.mktemp("r") / "r.json")
    (back,) = load(path).comparisons[0].entries
    assert back.samples == pytest.approx(samples, rel=5.1e-5)
    assert back.waits == pytest.approx(waits, rel=5.1e-5)
    assert replace(back, samples=(1.0,), waits=()) == replace(entry, samples=(1.0,), waits=())


def test_everything_else_comes_back_equal_and_is_called_recorded(tmp_path):
    back = load(save(RECORDING, tmp_path / "r.json"))
    assert back.machine == MACHINE
    for now, then in zip(back.comparisons, RECORDING.comparisons, strict=True):
        assert now.tier == "recorded"
        assert (now.op, now.machine, now.date, now.notes) == (
            then.op, then.machine, then.date, then.notes
        )  # fmt: skip
    assert back.of("imagined")[0].entries[1] == ABSENT
    again = save(back, tmp_path / "again.json")
    assert load(again) == back  # rounding happens once


def test_what_is_measured_again_takes_the_place_of_the_same_op_and_size():
    newer = comparison(timing(version="newer"))
    both = joined(RECORDING, newer)
    assert both.of("imagined") == (newer,)
    assert both.of("other") == RECORDING.of("other")


def test_an_ops_other_sizes_stay_with_the_date_of_their_own():
    small, large = timing(size=10), timing(size=1000)
    older = replace(comparison(small, large), date="2001-01-01")
    newer = comparison(timing(size=10, version="newer"))
    kept = joined(Recording(MACHINE, (older,)), newer).of("imagined")
    assert kept == (replace(older, entries=(large,)), newer)


# -- What is no recording


@pytest.mark.parametrize("part", [0, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1 / len(TEXT)])
def test_a_truncated_file_is_refused(tmp_path, part):
    path = written(tmp_path, TEXT[: int(part * len(TEXT))])
    with pytest.raises(BadRecording, match=r"recording\.json .*\.$"):
        load(path)


def test_truncation_anywhere_is_refused(tmp_path):
    for end in range(0, len(TEXT), 7):
        with pytest.raises(BadRecording):
            load(written(tmp_path, TEXT[:end]))


@pytest.mark.parametrize(
    "text", ["not JSON", "[]", "3", "null", '"format"', "{}", '{"format": "1"}', "[" * 100_000,
             '{"format": ' + "1" * 5000 + "}", '{"format": 1}', '{"format": 1, "machine": {}}'],
)  # fmt: skip
def test_another_file_is_refused(tmp_path, text):
    with pytest.raises(BadRecording, match=r"recording\.json"):
        load(written(tmp_path, text))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(b"\xff\xfe\x00\x9f")
    with pytest.raises(BadRecording):
        load(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(BadRecording, match="cannot be read"):
            load(path)


def test_a_newer_format_says_to_upgrade(tmp_path):
    with pytest.raises(BadRecording, match=r"in format 3; .* Upgrade gpulessons"):
        load(written(tmp_path, spoilt(["format"], 3)))


ENTRY = ["comparisons", 0, "entries", 0]


@pytest.mark.parametrize(
    "where, value, named",
    [
        ([*ENTRY, "samples"], "fast", "samples"),
        ([*ENTRY, "samples"], [1e-3, "2e-3"], "samples"),
        ([*ENTRY, "samples"], [], "samples of fast"),
        ([*ENTRY, "samples"], [1e-3, -1e-3], "samples of fast"),
        ([*ENTRY, "samples"], [float("nan")], "samples of fast"),
        ([*ENTRY, "size"], "10", "size"),
        ([*ENTRY, "size"], None, "size"),
        ([*ENTRY, "version"], ["fast"], "version"),
        ([*ENTRY, "cold"], "no", "cold"),
        (["comparisons", 0, "entries", 1, "why"], 5, "why"),
        (["comparisons", 0, "entries", 0], 5, "damaged"),
        (["comparisons", 0, "entries"], 5, "damaged"),
        (["comparisons", 0, "op"], 5, "op"),
        (["comparisons", 0, "notes"], [5], "notes"),
        (["comparisons", 0], "relu", "damaged"),
        (["comparisons"], None, "damaged"),
        (["machine"], "fast", "Machine"),
        (["gpulessons"], 2, "gpulessons"),
        (["machine", "cores"], "two", "cores"),
        (["machine", "caches"], {"L1d": "big"}, "caches"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(tmp_path, where, value, named):
    with pytest.raises(BadRecording, match=named):
        load(written(tmp_path, spoilt(where, value)))


def test_a_missing_field_is_named(tmp_path):
    data = json.loads(TEXT)
    del data["comparisons"][0]["date"]
    with pytest.raises(BadRecording, match="it has no 'date'"):
        load(written(tmp_path, json.dumps(data)))


# -- Files of another version of the package


def test_a_recording_names_the_version_that_wrote_it(tmp_path):
    assert json.loads(TEXT)["format"] == 2
    assert json.loads(TEXT)["gpulessons"] == gpulessons.__version__
    later = load(written(tmp_path, spoilt(["gpulessons"], "9.9")))
    assert later.gpulessons == "9.9"
    assert load(save(later, tmp_path / "again.json")).gpulessons == "9.9", "it did not write those"


def first_format():
    """RECORDING as gpulessons 0.1.0 wrote it: no version, no note, two fields by other names."""
    data = json.loads(TEXT) | {"format": 1}
    del data["gpulessons"], data["machine"]["note"]
    for one in data["comparisons"]:
        for entry in one["entries"]:
            if "samples" in entry:
                entry["send"], entry["fetch"] = entry.pop("h2d"), entry.pop("d2h")
    return data


def test_a_file_of_the_first_format_is_read_whole_and_of_an_unknown_version(tmp_path):
    old = load(written(tmp_path, json.dumps(first_format())))
    now = load(written(tmp_path, TEXT))
    assert replace(old, gpulessons=now.gpulessons) == now
    assert (old.gpulessons, old.unread) == ("", ())


def test_what_a_later_version_adds_is_left_out_and_named(tmp_path):
    data = json.loads(TEXT) | {"gpulessons": "9.9"}
    data["machine"]["temperature"] = 40
    data["comparisons"][0]["entries"][0]["energy"] = 1.5
    data["comparisons"][0]["entries"][1]["hint"] = "buy one"
    later = load(written(tmp_path, json.dumps(data)))
    assert later.unread == ("energy", "hint", "temperature")
    assert replace(later, gpulessons=gpulessons.__version__, unread=()) == load(
        written(tmp_path, TEXT)
    )


@pytest.mark.parametrize("name", sorted(recordings.UNKNOWN))
def test_what_a_card_lacks_is_unknown(tmp_path, name):
    data = json.loads(TEXT)
    del data["machine"][name]
    assert getattr(load(written(tmp_path, json.dumps(data))).machine, name) in (None, "")


@pytest.mark.parametrize("name", ["gpu", "gpus", "cores", "libraries", "python", "date"])
def test_a_card_without_what_nobody_may_guess_is_refused_with_what_to_do(tmp_path, name):
    data = json.loads(TEXT)
    del data["machine"][name]
    with pytest.raises(BadRecording, match=f"it has no '{name}'. Record it again with this one"):
        load(written(tmp_path, json.dumps(data)))


@pytest.mark.parametrize("name", ["samples", "waits", "cold", "flops", "threads"])
def test_a_timing_without_one_of_its_fields_is_refused(tmp_path, name):
    data = json.loads(TEXT)
    del data["comparisons"][0]["entries"][0][name]
    with pytest.raises(BadRecording, match="Record it again"):
        load(written(tmp_path, json.dumps(data)))


# -- Whole or not at all


@pytest.mark.parametrize("crash", ["write_bytes", "replace"])
def test_a_crash_while_saving_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, crash):
    path = save(RECORDING, tmp_path / "r.json")
    before = path.read_bytes()

    def crashing(self, *_, **__):
        if crash == "write_bytes":
            with open(self, "wb") as file:
                file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, crash, crashing)
    with pytest.raises(KeyboardInterrupt):
        save(joined(RECORDING, comparison(op="third")), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# -- Beside a live comparison


def test_without_shipped_files_there_is_nothing_and_with_one_only_its_op(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "SHIPPED", tmp_path)
    assert recordings.shipped("imagined") == ()
    save(RECORDING, tmp_path / "imaginary.json")
    (found,) = recordings.shipped("imagined")
    assert (found.op, found.tier) == ("imagined", "recorded")
    assert recordings.shipped("relu") == ()


def test_no_imaginary_recording_ships_with_the_course():
    for path in recordings.SHIPPED.glob("*.json"):
        assert "Imaginary" not in path.read_text(encoding="utf-8")
        load(path)


@pytest.fixture
def doubled():
    @op(inputs=lambda size, rng: (rng.normal(size=size),), flops=lambda x: x.size, sizes=(10,))
    def imagined(x):
        return 2 * x

    imagined.version("again", on=host)(lambda x: x + x)
    return imagined


def test_a_recording_lies_beside_a_live_comparison_under_its_own_label(tmp_path, doubled):
    recorded = load(save(RECORDING, tmp_path / "r.json")).of("imagined")
    beside = compare(doubled, budget=0.01, recorded=recorded)
    assert beside.beside == recorded
    assert beside.tier == "live"
    for text in (repr(beside), re.sub("<[^>]+>", "", beside._repr_html_())):
        assert "recorded: Imaginary GPU, Imaginary CPU, 2 cores, 2000-01-01" in text


def test_without_a_recording_the_comparison_says_that_there_is_no_gpu_figure(doubled):
    assert "no GPU figure" not in repr(compare(doubled, budget=0.01)), "nobody asked for one"
    doubled.version("on a GPU", on=gpu)(lambda x: 2 * x)
    if gpu.why_not():
        assert "no GPU figure" in repr(compare(doubled, budget=0.01))


def test_a_recorded_gpu_time_is_a_gpu_figure(tmp_path, doubled):
    on_gpu = Recording(MACHINE, (comparison(timing(backend="gpu")),))
    recorded = load(save(on_gpu, tmp_path / "r.json")).of("imagined")
    notes = compare(doubled, budget=0.01, recorded=recorded).notes
    assert not any("no GPU figure" in note for note in notes)
