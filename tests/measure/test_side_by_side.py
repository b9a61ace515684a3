"""Machines side by side: what is compared, what is refused. Every machine here is imaginary."""

from dataclasses import replace

import pytest

from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.measure.side_by_side import BEST, side_by_side, unpaired

MACHINE = Machine(
    cpu="Imaginary CPU", cores=4, cores_total=8, simd="AVX2", simd_bits=256, caches={},
    memory=None, gpu=None, gpus=0, accelerator=None, system="Linux 6.1 x86_64", python="3.12.1",
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
    rows = {row.name: row for row in BOTH.of("relu", 1000)}
    assert [entry.median for entry in rows["NumPy"].entries] == [4e-3, 2e-3]
    assert rows["NumPy"].ratios[0] is None and rows["Numba"].ratios[1].median == pytest.approx(4)
    assert rows[BEST].entries[1].version == "Numba" and BOTH.of("relu", 1000)[-1].name == BEST
    assert [side.letter for side in BOTH.sides] == ["A", "B"]
    legend, times = BOTH.tables()
    assert "slow.json" in repr(legend) and "A: a note." in legend.notes
    assert times.head == ("version", "A", "B", "vs A")
    assert [*times.rows[0]] == ["NumPy", "4 ms", "2 ms", "2×"]


def test_the_machine_to_compare_with_is_named_by_letter_or_file():
    for against in ("B", "fast.json"):
        both = side_by_side(SLOW, FAST, against=against)
        found, own = both.rows[0].ratios
        assert found.median == pytest.approx(0.5) and own is None
    with pytest.raises(ValueError, match="no machine 'C' to compare with; there is A, B"):
        side_by_side(SLOW, FAST, against="C")


def test_between_machines_nothing_is_claimed_of_noise_or_of_other_work():
    calm = timed(1e-3)
    assert unpaired(timed(1e-3, spread=0.6), calm).refused == "too noisy"
    assert unpaired(replace(calm, cold=True), calm).refused == "cold, warm"
    assert unpaired(replace(calm, flops=2), calm).refused == "other work"
    assert unpaired(None, calm) is None
    found = unpaired(timed(2e-3), calm)
    assert found.low < found.median < found.high and not found.refused


def test_what_is_absent_on_one_machine_has_its_reason():
    absent = Absent("relu", "Numba", "host", 1000, "no Numba here")
    others = recorded(timed(1e-3), absent, file="none.json")
    table = side_by_side(SLOW, FAST, others).tables()[-1]
    assert [*table.rows[1]] == ["Numba", "2 ms", "500 µs", "4×", "–", ""]
    assert table.notes == ["– Numba: no Numba here"]


def test_what_is_not_shared_is_refused():
    with pytest.raises(ValueError, match="an op at a size that two machines have timed"):
        side_by_side(SLOW, recorded(timed(1e-3, size=50)))
    with pytest.raises(ValueError, match="give the whole recording"):
        side_by_side(SLOW, FAST.comparisons[0])
