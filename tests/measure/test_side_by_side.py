"""Machines side by side: what is compared, what is refused, what is said about the rest.

Every machine here is imaginary, and so are its times.
"""

import json
import math
import re
from dataclasses import replace

import pytest

from gpulessons import recordings
from gpulessons.hardware import Machine
from gpulessons.measure.recordings import Recording, load, save
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.measure.side_by_side import conditions, side_by_side
from gpulessons.measure.side_by_side.rows import OF_ALL, unpaired
from gpulessons.measure.side_by_side.sides import letters

MACHINE = Machine(
    cpu="Imaginary CPU", cores=4, cores_total=8, simd="AVX2", simd_bits=256, caches={},
    memory=None, gpu=None, gpus=0, accelerator=None, system="Linux 6.1 x86_64", python="3.12.1",
    libraries={"numpy": "2.1.0", "numba": "0.61.2", "jupyterlab": "4.0"}, date="2026-11-01",
    commit=None, ceilings={}, ceiling_threads={},
)  # fmt: skip
ONE = Timing(
    op="relu", version="NumPy", backend="host", size=1000, samples=(1.0,), waits=(), calls=1,
    threads=1, first=0.25, h2d=2e-3, d2h=1e-3, flops=1, bytes=8, error=0.0, cold=False,
    stop="settled",
)  # fmt: skip


def timed(seconds, spread=0.02, **changes):
    samples = tuple(seconds * (1 + spread * s) for s in (-1, -0.5, 0, 0.5, 1))
    return replace(ONE, **{"samples": samples, **changes})


def recorded(*entries, file="", date="2026-11-01", notes=(), gpulessons="0.2.0", **changes):
    """A recording of these entries, one comparison for each op, on a changed MACHINE."""
    machine = replace(MACHINE, **changes)
    ops = dict.fromkeys(entry.op for entry in entries)
    compared = tuple(
        Comparison(op, tuple(e for e in entries if e.op == op), machine.name, date, "recorded",
                   notes)
        for op in ops
    )  # fmt: skip
    return Recording(machine, compared, gpulessons=gpulessons, file=file)


SLOW = recorded(timed(4e-3), timed(2e-3, version="Numba", threads=4), file="slow.json")
FAST = recorded(
    timed(2e-3), timed(5e-4, version="Numba", threads=8), file="fast.json", cpu="Imaginary CPU II"
)
BOTH = side_by_side(SLOW, FAST)


def stripped(html):
    return re.sub("<[^>]+>", " ", html)


def said(both):
    return "\n".join(both.differences)


# -- Ratios


def test_a_ratio_says_how_many_times_as_fast_and_ranges_from_quartile_to_quartile():
    ratio = BOTH.ratio("relu", 1000, "NumPy", "B")
    assert ratio.median == pytest.approx(2)
    assert ratio.low == pytest.approx(2 * 0.99 / 1.01)
    assert ratio.high == pytest.approx(2 * 1.01 / 0.99)
    assert BOTH.ratio("relu", 1000, "Numba", "B").median == pytest.approx(4)
    assert BOTH.ratio("relu", 1000, "NumPy", "A") is None, "a machine has no ratio to itself"


def test_samples_of_two_machines_are_never_paired():
    """A drift that both machines have would cancel in pairs, and must not here."""
    there, here = (timed(0, samples=tuple(n * s for n in range(10, 15))) for s in (2e-3, 1e-3))
    ratio = unpaired(there, here)
    assert ratio.median == 2 and ratio.low < 1.9 and ratio.high > 2.1


def test_any_machine_can_be_the_one_to_compare_with():
    for name in ("B", "fast.json"):
        other = side_by_side(SLOW, FAST, against=name)
        assert other.against == "B"
        assert other.ratio("relu", 1000, "NumPy", "A").median == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"no machine 'C'.* there is A \(slow.json\), B"):
        side_by_side(SLOW, FAST, against="C")


def test_where_one_was_too_noisy_there_is_no_ratio_and_a_noisy_one_is_marked():
    noisy = recorded(timed(2e-3, spread=0.15), timed(1e-3, spread=0.6, version="Numba"))
    both = side_by_side(SLOW, noisy)
    assert math.isnan(both.ratio("relu", 1000, "Numba", "B").median)
    text = repr(both)
    assert re.search(r"^NumPy +4 ms +2 ms ~ +2× \(", text, re.M)
    assert re.search(r"^Numba +2 ms +1 ms ~ +too noisy$", text, re.M)
    assert "~ noisy: " in text and "too noisy: the middle half" in text


def test_cold_is_not_compared_with_warm_nor_one_work_with_another():
    cold = recorded(timed(1e-3, cold=True), timed(1e-3, version="Numba", flops=2))
    both = side_by_side(SLOW, cold)
    assert both.ratio("relu", 1000, "NumPy", "B").refused == "cold, warm"
    assert both.ratio("relu", 1000, "Numba", "B").refused == "other work"
    assert "caches were flushed" in repr(both) and "FLOPs or bytes of the op differ" in repr(both)
    assert "A was measured warm, B partly cold: a cold time" in said(both)


def test_the_best_of_each_machine_may_be_another_version():
    a = recorded(timed(3e-3), timed(9e-3, version="Numba"))
    b = recorded(timed(3e-3), timed(1e-3, version="Numba"), cpu="another")
    both = side_by_side(a, b)
    assert both.ratio("relu", 1000, OF_ALL, "B").median == pytest.approx(3)
    assert "best of all: NumPy (A); Numba (B)" in repr(both)


def test_each_backend_has_its_best_unless_it_is_a_row_already():
    both = side_by_side(
        recorded(timed(3e-3), timed(2e-3, version="Numba"), timed(1e-3, version="PyTorch on CPU",
                                                                  backend="torch_cpu")),
        recorded(timed(2e-3), timed(3e-3, version="Numba"), timed(1e-3, version="PyTorch on CPU",
                                                                  backend="torch_cpu"), cpu="b"),
    )  # fmt: skip
    names = [row.name for row in both.rows]
    assert names == ["NumPy", "Numba", "PyTorch on CPU", "best (CPU)", "best of all"]


# -- What is compared


def test_a_size_or_a_version_or_an_op_of_one_machine_alone_is_left_out_and_named():
    a = recorded(timed(1e-3), timed(1e-3, size=200), timed(1e-3, op="only_a"))
    b = recorded(timed(1e-3), timed(1e-3, size=300), timed(1e-3, version="new"), cpu="b")
    both = side_by_side(a, b)
    assert both.shared == [("relu", 1000)]
    assert [row.name for row in both.rows] == ["NumPy", OF_ALL]
    for text in (repr(both), stripped(both._repr_html_())):
        assert "left out, on one machine alone: only_a (A)" in text
        assert "left out of relu, sizes on one machine alone: 200 (A), 300 (B)" in text
        assert "left out of relu, versions on one machine alone: new (B)" in text


def test_sizes_stand_in_order_and_ops_as_the_first_machine_has_them():
    entries = [timed(1e-3, op=op, size=size) for op in ("z", "a") for size in (300, 20)]
    both = side_by_side(recorded(*entries), recorded(*reversed(entries), cpu="b"))
    assert both.shared == [("z", 20), ("z", 300), ("a", 20), ("a", 300)]


def test_an_op_and_a_version_that_this_package_does_not_know_are_names_like_others():
    entries = timed(1e-3, op="of_tomorrow", version="qubits, entangled")
    both = side_by_side(recorded(entries), recorded(entries, cpu="b"))
    assert "of_tomorrow, 1,000 elements" in repr(both) and "qubits, entangled" in repr(both)


def test_why_a_version_has_no_time_on_one_machine_is_said():
    absent = Absent("relu", "CUDA", "gpu", 1000, "no GPU was imagined")
    cuda = timed(1e-4, version="CUDA", backend="gpu")
    both = side_by_side(recorded(absent, timed(1e-3)), *(
        recorded(cuda, timed(1e-3), cpu=name) for name in ("b", "c")
    ))  # fmt: skip
    assert re.search(r"^CUDA +– +100 µs +100 µs$", repr(both), re.M)
    assert "– CUDA (A): no GPU was imagined" in repr(both)
    assert both.ratio("relu", 1000, "CUDA", "B") is None
    assert "There is no ratio where A has no time." in repr(both)
    assert "There is no ratio" not in repr(BOTH)
    assert "A GPU's time is that of its own clock" in repr(both)
    assert "own clock" not in repr(BOTH)


def test_a_machine_that_has_nothing_of_a_size_takes_no_column_there():
    a, b = (recorded(timed(1e-3), timed(1e-3, size=20), cpu=name) for name in "ab")
    both = side_by_side(a, b, recorded(timed(1e-3), cpu="c"))
    assert "relu, 20 elements: time of one call (not measured on C)" in repr(both)
    head, *_ = both.table("relu", 20, both.there("relu", 20))
    assert head == ["version", "A", "B", "vs A"]


@pytest.mark.parametrize(
    "others, named",
    [
        ((), "slow.json has relu at 1,000."),
        ((recorded(file="empty.json"),), "empty.json has nothing."),
        ((recorded(timed(1e-3, op="gelu"), file="g.json"),), "g.json has gelu at 1,000."),
        ((recorded(timed(1e-3, size=2), file="2.json"),), "2.json has relu at 2."),
        ((SLOW,), "slow.json once more: slow.json."),
        ((replace(SLOW, file="copy.json"),), "slow.json once more: copy.json."),
    ],
)
def test_where_nothing_is_shared_a_sentence_says_what_each_has(others, named):
    with pytest.raises(ValueError, match=r"takes an op at a size that two machines") as refused:
        side_by_side(SLOW, *others)
    assert named in str(refused.value)


def test_beside_two_that_share_an_empty_one_and_a_copy_are_left_out_by_name():
    both = side_by_side(SLOW, FAST, recorded(file="empty.json"), replace(FAST, file="copy.json"))
    assert [side.file for side in both.sides] == ["slow.json", "fast.json"]
    assert "left out, for it is fast.json once more: copy.json" in repr(both)
    assert "left out, for nothing in it is shared: empty.json" in repr(both)


def test_two_days_of_one_machine_are_two_columns_told_apart_by_day_and_file():
    later = replace(SLOW, file="later.json", comparisons=tuple(
        replace(one, date="2026-11-09") for one in SLOW.comparisons
    ))  # fmt: skip
    both = side_by_side(SLOW, later)
    assert both.sides[0].machine.name == both.sides[1].machine.name
    assert both.legend == [
        "A  recorded: Imaginary CPU, 4 cores, 2026-11-01, slow.json",
        "B  recorded: Imaginary CPU, 4 cores, 2026-11-09, later.json",
    ]


def test_live_comparisons_are_one_column_with_this_machines_card(monkeypatch):
    from gpulessons.measure.side_by_side import sides

    monkeypatch.setattr(sides, "machine", lambda: MACHINE)
    live = [Comparison(op, (timed(1e-3, op=op),), "here", "2026-11-02") for op in ("relu", "gelu")]
    there = recorded(timed(2e-3), timed(2e-3, op="gelu"), cpu="b", file="b.json")
    both = side_by_side(live[0], there, live[1])
    assert [side.tier for side in both.sides] == ["live", "recorded"]
    assert both.shared == [("relu", 1000), ("gelu", 1000)]
    assert both.sides[0].gpulessons == conditions.VERSION
    with pytest.raises(ValueError, match="Give the whole recording"):
        side_by_side(live[0], there.comparisons[0])


# -- Differences in words


def test_a_librarys_versions_are_named_with_what_follows():
    others = [recorded(timed(1e-3), cpu=name) for name in "acd"]
    odd = recorded(timed(1e-3), libraries=MACHINE.libraries | {"numba": "0.68.1"})
    assert (
        "B has numba 0.68.1, the others 0.61.2: compiled loops may differ for that reason alone."
        in side_by_side(others[0], odd, *others[1:]).differences
    )


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"python": "3.11.0"}, "A has Python 3.12.1, B 3.11.0: plain loops"),
        ({"cores": 1}, "A has 4 of 8 cores, B 1 of 8 cores: "),
        ({"simd": "AVX-512", "simd_bits": 512}, "A has AVX2 (256 bits), B AVX-512 (512 bits)"),
        ({"simd": None, "simd_bits": None}, "B unknown vector instructions"),
        ({"system": "Darwin 24.1.0 arm64"}, "A runs on Linux x86_64, B Darwin arm64"),
        ({"gpulessons": "0.1.0"}, "A has gpulessons 0.2.0, B 0.1.0: the ops themselves"),
        ({"gpulessons": ""}, "A has gpulessons 0.2.0, B of an unknown version"),
        ({"commit": "abc"}, "A has gpulessons 0.2.0, B 0.2.0 at abc"),
        ({"libraries": {"numpy": "2.1.0"}}, "A has numba 0.61.2, B (not there)"),
        ({"date": "2027-02-01"}, "92 days lie between A (2026-11-01) and B (2027-02-01)"),
        ({"note": "in a hurry: rough"}, "B: in a hurry: rough."),
        ({"notes": ("in a hurry: rough",)}, "B: in a hurry: rough."),
    ],
)
def test_a_difference_is_pointed_out(changes, words):
    both = side_by_side(recorded(timed(1e-3)), recorded(timed(1e-3), cpu="b", **changes))
    assert words in said(both)
    assert repr(both).index(words) < repr(both).index("\nversion "), "before the times"
    assert "".join(words.split()) in "".join(stripped(both._repr_html_()).split())


def test_what_nobody_knows_is_not_the_same():
    a, b = (recorded(timed(1e-3), cpu=name, gpulessons="", simd=None) for name in "ab")
    both = side_by_side(a, b)
    assert "A and B have gpulessons of an unknown version: the ops" in said(both)
    assert "A and B have unknown vector instructions: " in said(both)
    assert "unknown" not in both.differences[0]


def test_what_does_not_bear_on_a_time_is_no_difference():
    changes = {"libraries": MACHINE.libraries | {"jupyterlab": "5"}, "system": "Linux 7.0 x86_64"}
    both = side_by_side(recorded(timed(1e-3)), recorded(timed(1e-3), cpu="b", **changes))
    assert len(both.differences) == 1
    assert both.differences[0] == (
        "The same on both: gpulessons 0.2.0, Python 3.12.1, numpy 2.1.0, numba 0.61.2, "
        "Linux x86_64, 4 of 8 cores, AVX2 (256 bits), at most 1 thread and measured warm."
    )


def test_thread_counts_and_a_note_of_one_op_are_said():
    assert "A used at most 4 threads, B 8 threads" in said(BOTH)
    a = recorded(timed(1e-3), timed(1e-3, op="gelu"))
    relu, gelu = a.comparisons
    a = replace(a, comparisons=(replace(relu, notes=("interrupted",)), gelu))
    b = recorded(timed(1e-3), timed(1e-3, op="gelu"), cpu="b")
    assert "all: relu: interrupted." in said(side_by_side(a, replace(a, file="b", unread=("x",))))
    assert "A: relu: interrupted." in said(side_by_side(a, b))


def test_what_was_not_read_is_said(tmp_path):
    data = json.loads(FAST.to_json()) | {"gpulessons": "9.9"}
    data["machine"]["temperature"] = 40
    (tmp_path / "later.json").write_text(json.dumps(data))
    both = side_by_side(SLOW, load(tmp_path / "later.json"))
    assert "unknown here and left out: temperature." in said(both)
    assert "B 9.9: the ops themselves may have changed" in said(both)


# -- As a page, as JSON, and of a whole class


def test_html_is_escaped_scrolls_and_reads_without_its_tags():
    entries = timed(1e-3, version="<script>"), timed(5e-4, version="<i>")
    evil = recorded(*entries, cpu="<b>&", file="<i>.json", notes=("<u>note",), python="<py>")
    page = side_by_side(recorded(timed(2e-3, version="<script>")), evil)._repr_html_()
    assert not re.search("<(script|i|b|u|py)>", page)
    assert '<div style="overflow-x: auto"><table>' in page
    plain = stripped(page).replace("\N{NBSP}", " ")
    for words in ("&lt;script&gt;", "1 ms", "2× (", "&lt;u&gt;note", "&lt;py&gt;"):
        assert words in plain


def test_json_holds_what_is_shown():
    cold = recorded(timed(1e-3, cold=True), timed(1e-3, version="Numba"), cpu="c")
    both = side_by_side(SLOW, FAST, cold)
    data = json.loads(both.to_json())
    assert [each["label"] for each in data["machines"]] == [side.label() for side in both.sides]
    assert data["machines"][1]["machine"]["cpu"] == "Imaginary CPU II"
    first = data["rows"][0]["machines"]
    assert first["B"]["ratio"] == pytest.approx([2 * 0.99 / 1.01, 2, 2 * 1.01 / 0.99])
    assert first["C"]["no ratio"] == "cold, warm" and "ratio" not in first["A"]
    assert "NaN" not in both.to_json()


def test_a_whole_class_fits_a_terminal():
    long = "Numba, blocked, every core"
    those = [
        recorded(timed(n * 1.234e-3, version=long), timed(n * 1e-3), file=f"{n}.json")
        for n in range(1, 31)
    ]  # fmt: skip
    both = side_by_side(*those)
    assert [side.letter for side in both.sides][25:28] == ["Z", "AA", "AB"]
    lines = repr(both).splitlines()
    table = [line for line in lines if line.startswith((long, "NumPy ", "version "))]
    assert max(map(len, table)) <= 100
    heads = [cell for line in table if line.startswith("version") for cell in line.split()[1:]]
    assert [cell for cell in heads if cell not in ("vs", "A")][:3] == ["B", "C", "D"]
    assert {side.letter for side in both.sides} <= set(heads)


def test_letters_never_end_and_never_repeat():
    first = [letter for letter, _ in zip(letters(), range(1000), strict=False)]
    assert len(set(first)) == 1000


def test_the_public_way_is_recordings_side_by_side(tmp_path):
    files = [save(each, tmp_path / f"{n}.json") for n, each in enumerate((SLOW, FAST))]
    both = recordings.side_by_side(*map(recordings.load, files))
    assert [side.file for side in both.sides] == list(map(str, files))
    assert both.rows == BOTH.rows
