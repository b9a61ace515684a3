"""Machines side by side: what is compared, what is refused. Every machine here is imaginary."""

import re
from dataclasses import replace

import pytest

from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.measure.side_by_side import side_by_side, times_as_fast

MACHINE = Machine(
    cpu="Imaginary CPU", cores=4, cores_total=8, simd="AVX2", simd_bits=256, caches={},
    memory=None, gpu=None, gpus=0, system="Linux 6.1 x86_64", python="3.12.1",
    libraries={"numpy": "2.1.0", "numba": "0.61.2"}, date="2026-11-01", commit=None, ceilings={},
    ceiling_threads={},
)  # fmt: skip
ONE = Timing(
    op="relu", version="NumPy", backend="host", size=1000, samples=(1.0,), waits=(), calls=1,
    threads=1, first=0.25, h2d=2e-3, d2h=1e-3, flops=1, bytes=8, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip


def timed(seconds, spread=0.02, **changes):
    samples = tuple(seconds * (1 + spread * s) for s in (-1, -0.5, 0, 0.5, 1))
    return replace(ONE, **{"samples": samples, **changes})


def recorded(*entries, file="", notes=(), **changes):
    machine = replace(MACHINE, **changes)
    compared = tuple(
        Comparison(op, tuple(e for e in entries if e.op == op), machine.name, "2026-11-01",
                   "recorded", notes)
        for op in dict.fromkeys(entry.op for entry in entries)
    )  # fmt: skip
    return Recording(machine, compared, file=file)


SLOW = recorded(timed(4e-3), timed(2e-3, version="Numba"), file="slow.json", notes=("a note",))
FAST = recorded(
    timed(2e-3), timed(5e-4, version="Numba"), file="fast.json", cpu="Imaginary CPU II",
    libraries={"numpy": "2.2.0", "numba": "0.61.2"},
)  # fmt: skip
BOTH = side_by_side(SLOW, FAST)


def test_times_stand_under_the_letters_of_their_machines():
    assert BOTH.head == ("time of one call", "A", "B", "vs A")
    op, *rows = map(list, BOTH.rows)
    assert op[0] == "relu, 1,000 elements" and set(op[1:]) == {""}
    assert rows == [["NumPy", "4 ms", "2 ms", "2×"], ["Numba", "2 ms", "500 µs", "4×"]]
    assert "A: a note." in BOTH.notes
    assert re.search("^A  recorded: Imaginary CPU, .*, 2026-11-01, slow.json$", repr(BOTH), re.M)


def test_between_machines_nothing_is_claimed_of_noise_or_of_other_work():
    calm = timed(1e-3)
    assert times_as_fast(timed(1e-3, spread=0.6), calm) == "too noisy"
    assert times_as_fast(calm, timed(1e-3, spread=0.6)) == "too noisy"
    assert times_as_fast(replace(calm, cold=True), calm) == "cold, warm"
    assert times_as_fast(replace(calm, flops=2), calm) == "other work"
    assert times_as_fast(None, calm) == ""
    assert times_as_fast(timed(2e-3), calm) == "2×"


def test_what_is_absent_on_one_machine_has_a_dash():
    absent = Absent("relu", "Numba", "host", 1000, "no Numba here")
    table = side_by_side(SLOW, FAST, recorded(timed(1e-3), absent, file="none.json"))
    assert [*table.rows[2]] == ["Numba", "2 ms", "500 µs", "4×", "–", ""]


def test_a_class_has_more_machines_than_there_are_letters():
    assert len(side_by_side(*[SLOW] * 30).rows[1]) == 2 * 30


def test_what_is_not_shared_is_refused():
    with pytest.raises(ValueError, match="an op at a size that two machines have timed"):
        side_by_side(SLOW, recorded(timed(1e-3, size=50)))
    with pytest.raises(ValueError, match="give the whole recording"):
        side_by_side(SLOW, FAST.comparisons[0])
