"""A recording comes back as it was written, or is refused in a sentence; nothing is half written.

Every machine here is imaginary and says so; no such file ever stands in the package.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpulessons.hardware import Machine
from gpulessons.measure import recordings
from gpulessons.measure.recordings import BadRecording, Recording, joined, load, save
from gpulessons.measure.results import Absent, Comparison, Timing

MACHINE = Machine(
    cpu="Imaginary CPU", cores=2, cores_total=4, simd=None, simd_bits=None,
    caches={"L1d": 1024}, memory=None, gpu={"name": "Imaginary GPU", "memory": 1, "driver": None},
    gpus=1, system="Imaginary 1", python="3.0", libraries={"numpy": "0"},
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


def test_every_sample_comes_back_to_five_digits(tmp_path):
    samples = (1.23456789e-9, 3.3333333e-3, 987.654321)
    entry = timing(samples=samples, waits=samples[:2])
    path = save(Recording(MACHINE, (comparison(entry),)), tmp_path / "r.json")
    (back,) = load(path).comparisons[0].entries
    assert back.samples == pytest.approx(samples, rel=5.1e-5)
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
    """An op's other sizes stay, with the date of their own."""
    small, large = timing(size=10), timing(size=1000)
    older = replace(comparison(small, large), date="2001-01-01")
    newer = comparison(timing(size=10, version="newer"))
    other = comparison(op="other")
    both = joined(Recording(MACHINE, (older, other)), newer)
    assert both.comparisons == (replace(older, entries=(large,)), other, newer)


# -- What is no recording


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path):
    texts = [TEXT[:end] for end in range(0, len(TEXT), 97)]
    texts += ["not JSON", "[]", "null", "{}", '{"format": "1"}', '{"format": 1}', "[" * 100_000]
    for text in texts:
        with pytest.raises(BadRecording, match=r"recording\.json"):
            load(written(tmp_path, text))
    (tmp_path / "r.json").write_bytes(b"\xff\xfe\x00\x9f")
    for path in (tmp_path / "r.json", tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(BadRecording, match="cannot be read"):
            load(path)


def test_what_is_damaged_inside_is_refused(tmp_path):
    entry = ["comparisons", 0, "entries", 0]
    for where, value in (
        ([*entry, "samples"], "fast"), ([*entry, "samples"], []), ([*entry, "samples"], [-1e-3]),
        ([*entry, "samples"], [float("nan")]), (entry, 5), (["comparisons"], None),
        (["comparisons", 0], "relu"), (["machine"], "fast"), ([*entry, "speed"], 5),
        (["machine", "temperature"], 40),
    ):  # fmt: skip
        with pytest.raises(BadRecording, match=r"damaged, or another version .* Record it again"):
            load(written(tmp_path, spoilt(where, value)))
    for part, name in (("comparisons", "date"), ("machine", "gpu")):
        data = json.loads(TEXT)
        inner = data[part][0] if part == "comparisons" else data[part]
        del inner[name]
        with pytest.raises(BadRecording, match="Record it again"):
            load(written(tmp_path, json.dumps(data)))


def test_a_newer_format_says_to_upgrade(tmp_path):
    with pytest.raises(BadRecording, match=r"in format 3; .* Upgrade gpulessons"):
        load(written(tmp_path, spoilt(["format"], 3)))


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


def test_a_recording_lies_beside_a_live_comparison_under_its_own_label(tmp_path):
    recorded = load(save(RECORDING, tmp_path / "r.json")).of("imagined")
    for text in (repr(both := replace(comparison(), beside=recorded)), both._repr_html_()):
        assert "recorded: Imaginary GPU, Imaginary CPU, 2 cores, 2000-01-01" in text
