"""The picture of occupancy: a slot for each warp, filled by blocks; a curve through our launch."""

import pytest
from matplotlib.patches import Rectangle

from gpulessons import live, slider
from gpulessons.illustrations.occupancy import (
    AXES,
    SHADES,
    SIDE,
    draw_slots,
    occupancy_picture,
    steps,
    summary,
)
from gpulessons.plots.picture import blank
from warplens.model.devices import named
from warplens.model.occupancy import occupancy


def slots(held):
    """(outlines, full shades in order, hatched widths, numbers) of the picture of an Occupancy."""
    _figure, axes = blank()
    draw_slots(axes, held)
    bars = [one for one in axes.patches if isinstance(one, Rectangle) and one.get_width() > 0]
    outlines = [one for one in bars if not one.get_fill() or one.get_facecolor()[3] == 0]
    hatched = [one.get_width() / SIDE for one in outlines if one.get_hatch()]
    full = [one for one in bars if one.get_facecolor()[3]]
    return len(outlines) - len(hatched), full, hatched, [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("on", ["T4", "A100", "RTX 3090"])
def test_every_warp_slot_is_drawn_and_the_taken_ones_filled(on):
    held = occupancy(threads=96, registers=64, on=on)
    outlines, full, hatched, numbers = slots(held)
    assert outlines == held.most_warps and len(full) == held.warps and not hatched
    assert numbers == [str(block) for block in range(1, held.blocks + 1)]


def test_neighboring_blocks_have_other_shades():
    _, full, _, _ = slots(occupancy(threads=64, on="T4"))
    shades = [one.get_facecolor() for one in full]
    assert shades[0] == shades[1] != shades[2] and len(set(shades)) == len(SHADES)


def test_a_warp_with_idle_lanes_takes_its_slot_and_is_hatched():
    held = occupancy(threads=40, on="T4")
    _outlines, full, hatched, _ = slots(held)
    assert len(full) == held.warps and len(hatched) == held.blocks
    assert hatched == pytest.approx([0.75] * held.blocks)


def test_the_title_says_what_limits_and_the_alt_text_says_why():
    picture = occupancy_picture(threads=256, registers=40, shared=8192, on="A100")
    title = "A100: 6 blocks of 256 threads, 48 of 64 warp slots (75%), limited by registers."
    assert picture.figure.get_suptitle() == title
    assert picture.alt.startswith(title)
    assert "registers, room for 6: a block takes 10,240 of the 65,536 registers" in picture.alt
    assert "it is at most 75%, first at 96." in picture.alt
    assert summary(occupancy(1024, on="T4")).startswith("T4: 1 block of 1,024 threads, 32 of 32")


def test_what_does_not_fit_is_drawn_with_its_reason():
    picture = occupancy_picture(threads=1024, registers=255)
    assert picture.alt.startswith("A100: not one block fits: a block takes 262,144 of the 65,536")
    assert picture.figure.axes[1].lines[-1].get_ydata()[0] == 0


@pytest.mark.parametrize("along", AXES)
@pytest.mark.parametrize("asked", [
    {"threads": 256, "registers": 40, "shared": 8192},
    {"threads": 33, "registers": 64, "shared": 20000},
])  # fmt: skip
def test_our_launch_lies_on_the_curve(along, asked):
    curve, here = occupancy_picture(**asked, on="RTX 3090", along=along).figure.axes[1].lines
    (x,), (y,) = here.get_data()
    assert (x, y) == (asked[along], occupancy(**asked, on="RTX 3090").share)
    places, shares = curve.get_data()
    assert shares[next(n for n, place in enumerate(places) if place >= x)] == y
    assert curve.get_drawstyle() == "steps-pre"


def test_the_curve_runs_from_the_least_to_the_most_that_there_is():
    t4 = named("T4")
    assert (steps("threads", t4)[:3], steps("threads", t4)[-1]) == ([1, 32, 64], 1024)
    assert (steps("registers", t4)[0], steps("registers", t4)[-1]) == (1, 255)
    assert (steps("shared", t4)[0], steps("shared", t4)[-1]) == (0, 64 * 1024)


def test_it_turns_under_sliders():
    turned = live(occupancy_picture, threads=slider(32, 1024, 256, step=32),
                  registers=slider(16, 255, 32), shared=slider(0, 99 * 1024, 0, step=1024),
                  on=["T4", "RTX 3090"], along=["threads", "registers", "shared"])  # fmt: skip
    (picture,) = turned.results()
    assert picture.svg and picture.alt.startswith("T4: 4 blocks of 256 threads")


def test_an_unknown_axis_is_refused():
    with pytest.raises(ValueError, match="along one of threads, registers, shared, not 'warps'"):
        occupancy_picture(along="warps")
