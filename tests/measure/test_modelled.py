"""A CUDA version where there is no GPU: its stored times are today's, and only a taught one's."""

import csv

import pytest

import model_kernels
from gpulessons import dense, gpu, relu
from gpulessons.measure import modelled as home
from gpulessons.measure.modelled import Stored, modelled_version, shapes_of, stored
from warplens.model.devices import GPUS, named
from warplens.model.modelling import CannotModel
from warplens.model.value import Modelled

GRID = "CUDA, a thread per element"
ONE = Stored(2e-3, 1e-3, None, "DRAM", "latency")
ANEW = Modelled("k", "T4", 5e-3, 4e-3, 6e-3, {"DRAM": 5e-3, "launch": 0.0}, 1.0, "warps", 3.0,
                "machine code")  # fmt: skip


@pytest.fixture
def file(monkeypatch):
    """What is stored: set by a test; the model answers ANEW to whatever is not."""
    found = {}
    monkeypatch.setattr(home, "stored", lambda: found)
    monkeypatch.setattr(home, "modelled_anew", lambda version, size, gpu: [ANEW])
    return found


def test_a_stored_time_is_found_by_its_size_and_gpu(file):
    file["relu", GRID, "1000", "T4"] = ONE
    file["relu", GRID, "1000", "A100"] = "it is shy"
    version = relu.versions[GRID]
    assert modelled_version(version, 1000, "T4") is ONE
    assert modelled_version(version, 1001, "T4") is ANEW
    with pytest.raises(CannotModel, match="it is shy"):
        modelled_version(version, 1000, "A100")
    assert modelled_version(version, 1000, named("T4").but("mine")) is ANEW


def test_a_learners_version_has_no_stored_time_whatever_its_name(file):
    file["relu", GRID, "1000", "T4"] = ONE
    mine = relu.like()
    assert modelled_version(mine.versions[GRID], 1000, "T4") is ONE
    mine.version(GRID, on=gpu)(lambda x, out: None)
    assert modelled_version(mine.versions[GRID], 1000, "T4") is ANEW


def test_an_op_of_other_inputs_finds_its_times_by_their_shapes(file):
    wide = dense.like(lambda size, rng: dense.make_inputs(2 * size, rng))
    file["dense", "CUDA, fused", shapes_of(wide, 32), "T4"] = ONE
    file["dense", "CUDA, fused", "64", "T4"] = ONE
    assert modelled_version(wide.versions["CUDA, fused"], 32, "T4") is ONE
    assert modelled_version(wide.versions["CUDA, fused"], 64, "T4") is ANEW


def test_every_stored_time_is_of_a_version_that_there_is_and_lies_in_its_interval():
    ops = model_kernels.taught()
    for (op, version, _, gpu_name), found in stored().items():
        assert ops[op].versions[version].backend is gpu and gpu_name in GPUS
        if isinstance(found, Stored):
            assert (found.seconds is None) is (found.high is None)
            assert found.high is None or found.low <= found.seconds <= found.high


@pytest.mark.nightly
def test_the_stored_times_are_what_the_model_says_of_todays_kernels():
    """Of each version the quickest to model; the rest follow from the same kernels."""
    jobs = {(op.name, version.name): place
            for place, (op, version, *_) in reversed(list(enumerate(model_kernels.jobs())))}
    for place in jobs.values():
        for row in model_kernels.rows_of(place, ()):
            found = stored()[row["op"], row["version"], row["inputs"], row["gpu"]]
            if "why" in row:
                assert found == row["why"]
            else:
                times = [float(row[name]) for name in ("seconds", "low") if name in row]
                known = [time for time in (found.seconds, found.low) if time is not None]
                assert known == pytest.approx(times, rel=0.01), row


def test_the_tool_replaces_the_rows_of_the_ops_it_is_asked_for(tmp_path, monkeypatch):
    class Pool:
        def __init__(self, workers): ...
        def __enter__(self): return self
        def __exit__(self, *_): ...
        map = staticmethod(map)

    monkeypatch.setattr(model_kernels, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(model_kernels, "modelled_anew", lambda version, size, *gpus: [ANEW])
    file = tmp_path / "modelled.csv"
    file.write_text(home.FILE.read_text(encoding="utf-8"), encoding="utf-8")
    model_kernels.main(("copy",), file)
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert head.startswith("# modelled on ") and "numba-cuda" in head
    assert {row["seconds"] for row in rows if row["op"] == "copy"} == {"0.005"}
    others = [row for row in rows if row["op"] != "copy"]
    assert len(others) == sum(key[0] != "copy" for key in stored())
