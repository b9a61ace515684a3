"""The picture of hidden latency obeys Little's law, counted and not assumed, and says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons import live, slider
from gpulessons.illustrations.latency_hiding import (
    CLOCKS,
    ISSUES,
    READY,
    SLOTS,
    WAITS,
    enough,
    latency_hiding,
    message,
    pieces,
    run,
    steady,
)

launches = {
    "warps": st.integers(1, SLOTS), "work": st.integers(1, 8), "latency": st.integers(1, 64),
}  # fmt: skip


def test_two_warps_take_turns_while_each_waits():
    assert run(2, work=2, latency=3, clocks=12) == ["##...##...##", "--##...##..."]


def test_a_warp_that_is_ready_is_no_longer_waiting():
    assert run(3, work=2, latency=1, clocks=9) == ["##.---##.", "--##.---#", "----##.--"]


@given(**launches)
def test_a_clock_issues_one_instruction_of_one_warp_and_is_empty_only_where_all_wait(
    warps, work, latency
):
    for clock in zip(*run(warps, work, latency), strict=True):
        assert clock.count(ISSUES) == (WAITS * warps != "".join(clock))


@given(**launches)
def test_every_wait_is_one_latency_and_follows_the_work_of_one_turn(warps, work, latency):
    for row in run(warps, work, latency, 400):
        whole = list(pieces(row))[:-1]  # the last piece may be cut off
        assert {length for state, _, length in whole if state == WAITS} <= {latency}
        assert {length for state, _, length in whole if state == ISSUES} <= {work}


@given(**launches)
def test_littles_law_holds_and_nothing_more_is_gained_beyond_enough_warps(warps, work, latency):
    busy, loads, flying = steady(warps, work, latency)
    assert flying == pytest.approx(loads * latency)
    assert busy == pytest.approx(min(1, warps * work / (work + latency)))
    assert (busy == 1) == (warps >= enough(work, latency))


def test_the_title_says_how_many_warps_would_do():
    assert (
        message(4, 4, 36) == "4 warps: an instruction in 40% of the clocks; 10 would fill them all."
    )
    assert message(1, 1, 64).endswith("in 2% of the clocks; not even 16 fill them all.")
    assert message(10, 4, 36) == "10 warps: an instruction in every clock. The latency is hidden."
    assert message(11, 4, 36).endswith("10 would do; the others queue.")


def drawn(axes):
    """{(row, clock): its patch} of all boxes."""
    found = {}
    for patch in axes.patches:
        for box in patch.get_path().to_polygons(closed_only=False):
            (left, right), row = (min(box[:, 0]), max(box[:, 0])), (box[0, 1] + box[2, 1]) / 2
            for clock in range(round(left), round(right)):
                assert (round(row), clock) not in found
                found[round(row), clock] = patch
    return found


def test_a_wait_does_not_look_like_work_and_the_rows_are_what_was_run():
    rows = run(3, 4, 10)
    above, slot, curve = latency_hiding(warps=3, work=4, latency=10).figure.axes
    patches, issues = drawn(above), drawn(slot)
    assert {state for row in rows for state in row} == {ISSUES, WAITS, READY}
    assert len(patches) == 3 * CLOCKS and len(above.patches) == 3
    for at, row in enumerate(rows):
        for clock, state in enumerate(row):
            patch = patches[at, clock]
            assert bool(patch.get_hatch()) == (state == WAITS) == (not any(patch.get_facecolor()))
            assert (patch.get_alpha() is not None) == (state == READY)
    assert set(issues) == {(0, t) for t in range(CLOCKS) if ISSUES in "".join(r[t] for r in rows)}
    line, here = curve.lines
    assert here.get_xydata()[0].tolist() in line.get_xydata().tolist()
    (empty,) = above.collections
    assert len(empty.get_paths()) == SLOTS - 3


def test_the_alt_text_has_the_law_the_count_and_the_occupancy():
    said = latency_hiding(warps=4, work=4, latency=36).alt
    assert "0.100 loads a clock × 36 clocks = 3.6 in flight; counted in the picture: 3.6." in said
    assert "occupancy: 4 of 16 warp slots, 25%" in said


def test_it_turns_under_sliders():
    (picture,) = live(
        latency_hiding, warps=slider(1, SLOTS, 4), work=slider(2, 8, 4, step=2)
    ).results()
    assert picture.svg and picture.alt.startswith("4 warps")


@pytest.mark.parametrize("asked", [{"warps": 17}, {"warps": 0}, {"work": 0}, {"latency": 0}])
def test_what_does_not_fit_is_refused_in_words(asked):
    with pytest.raises(ValueError, match="Give 1 to 16 warps and at least 1 instruction"):
        latency_hiding(**asked)
