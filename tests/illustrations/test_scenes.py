"""Scenes: shapes that close, pictures of the right plane, warps that wait as long as they say."""

from html import escape as escape_html

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gpulessons.illustrations import scenes
from gpulessons.ops.shade import LIMIT, escape

some_turns = arrays(np.int32, (4, scenes.WARP), elements=st.integers(1, LIMIT))


def texts(picture):
    return [text.get_text() for axes in picture.figure.axes for text in axes.texts]


def test_every_corner_of_a_torus_lies_on_it_and_has_four_neighbors():
    points, edges = scenes.torus(rings=8, sides=5, thickness=0.25)
    x, y, z, w = points.T
    assert points.shape == (40, 4) and points.dtype == np.float32 and (w == 1).all()
    assert np.allclose((np.hypot(x, y) - 1) ** 2 + z**2, 0.25**2, atol=1e-6)
    assert (np.bincount(edges.ravel(), minlength=40) == 4).all()
    assert len({frozenset(edge) for edge in edges.tolist()}) == 80


def test_edges_of_a_torus_are_short():
    points, edges = scenes.torus()
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    assert lengths.max() < 0.4


def test_a_wireframe_divides_by_w_and_draws_the_nearest_last():
    corners = np.array([[0, 0, 0, 1], [1, 0, 0, 1], [0, 4, 4, 2], [4, 4, 4, 2]], np.float32)
    picture = scenes.wireframe(corners, np.array([[2, 3], [0, 1]]))
    far, near = (line.get_xydata() for line in picture.axes.lines)
    assert np.array_equal(far, [[0, 0], [1, 0], [np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(near, [[0, 2], [2, 2], [np.nan, np.nan]], equal_nan=True)
    faint, strong = (line.get_alpha() for line in picture.axes.lines)
    assert faint < strong
    assert repr(picture).startswith("4 corners, 2 edges, one 4 × 4 matrix.")
    assert "2.00 wide, 2.00 high" in repr(picture)


def test_a_flat_scene_can_be_drawn():
    points, edges = scenes.torus(thickness=0)
    assert scenes.wireframe(points, edges).svg


def test_a_window_is_centered_runs_row_by_row_and_y_goes_up():
    x, y = scenes.window(-0.5, 0.25, zoom=2, shape=(4, 6))
    assert x.dtype == y.dtype == np.float32 and x.shape == y.shape == (24,)
    assert (x.mean(), y.mean()) == pytest.approx((-0.5, 0.25))
    assert np.allclose(np.diff(x[:6]), 0.25) and (y[:6] == y[0]).all()
    assert y[0] > y[-1]


def test_pixels_that_never_escape_are_dark_and_counted():
    turns = escape(*scenes.window(-0.6, 0, 1, (32, 48)))
    picture = scenes.pixels(turns, LIMIT, (32, 48), note=" in no time")
    light = picture.axes.images[0].get_array()
    assert light.shape == (32, 48)
    assert (light.ravel()[turns == LIMIT] == 0).all() and 0.9 < light.max() <= 1
    assert repr(picture).startswith(f"1,536 pixels, {turns.sum():,} turns in no time.")
    assert f"{(turns == LIMIT).mean():.0%} never escape" in repr(picture)


@pytest.mark.parametrize("everywhere", [1, LIMIT])
def test_a_picture_of_one_color_can_be_drawn(everywhere):
    assert scenes.pixels(np.full(24, everywhere), LIMIT, (4, 6)).svg


@given(some_turns)
def test_waiting_is_what_is_left_of_the_slowest(turns):
    lanes = sum(warp.max() * scenes.WARP for warp in turns)
    assert scenes.waiting(turns.ravel()) == pytest.approx(1 - turns.sum() / lanes)
    assert scenes.waiting(np.full(64, 7)) == 0


@given(some_turns)
def test_the_typical_warp_is_one_of_them_and_none_is_nearer_by_a_percent(turns):
    chosen, overall = scenes.typical(turns.ravel()), scenes.waiting(turns)
    gaps = [abs(scenes.waiting(warp) - overall) for warp in turns]
    assert any((chosen == warp).all() for warp in turns)
    assert abs(scenes.waiting(chosen) - overall) == pytest.approx(min(gaps), abs=0.01)


def test_of_equally_typical_warps_the_one_that_works_most_is_shown():
    assert scenes.typical(np.repeat([1, 64, 5], 32)).tolist() == [64] * 32


def test_warps_draw_a_lane_as_long_as_its_slowest_neighbor():
    one_slow = np.array([2] * 31 + [64])
    picture = scenes.warps({"mixed": one_slow, "alike": np.full(32, 5)})
    panels = picture.figure.axes
    for axes, top in zip(panels, (64, 5), strict=True):
        working, slowest = (patch.get_data().values for patch in axes.patches)
        assert working.max() == top and set(slowest) == {top}
    assert repr(picture).startswith("In the loop alone, a warp's lanes wait: mixed 94%, alike 0%.")
    assert "mixed: this warp's lanes take 2 to 64 turns" in repr(picture)


def test_prices_say_who_pays_more():
    picture = scenes.prices({"Pixels": (2.75, 1.35), "Packing": (1.331, 15.5), "Sums": (1, 1.05)})
    assert repr(picture).startswith(
        "Pixels: the GPU pays more. Packing: the CPU pays more. Sums: both pay about the same."
    )
    assert [text.split(": ")[1] for text in texts(picture)] == [
        "2.75×", "1.35×", "1.33×", "15.5×", "1×", "1.05×",
    ]  # fmt: skip
    assert "Packing: 1.33× on a GPU by count, 15.5× on this CPU by the clock" in repr(picture)


def test_prices_are_dots_at_their_factors():
    dots = scenes.prices({"Pixels": (2.75, 0.5)}).axes.lines[1:]
    assert [float(dot.get_xdata()[0]) for dot in dots] == [2.75, 0.5]


def test_a_torus_is_few_shapes_and_all_its_edges():
    points, edges = scenes.torus()
    lines = scenes.wireframe(points, edges).axes.lines
    assert len(lines) <= scenes.DEPTHS
    assert sum(len(line.get_xdata()) // 3 for line in lines) == len(edges)


def test_pictures_have_alt_text_in_html():
    points, edges = scenes.torus(8, 4)
    pictures = [
        scenes.wireframe(points, edges),
        scenes.pixels(np.arange(1, 25), LIMIT, (4, 6)),
        scenes.warps({"any": np.arange(1, 33)}),
        scenes.prices({"any": (1, 2)}),
    ]
    for picture in pictures:
        assert f'alt="{escape_html(repr(picture))}"' in picture._repr_html_()
