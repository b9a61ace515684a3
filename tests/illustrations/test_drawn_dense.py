"""Pictures of layers and networks: they say what is computed, and draw what they say."""

import dataclasses

import numpy as np
import pytest

from gpulessons.illustrations import dense as draw
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.models.digits import Epoch
from gpulessons.plots.picture import COLORS

MICRO = 1e-6


def timing(version, size, seconds, backend="host"):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    named = {"op": "dense", "version": version, "backend": backend, "size": size}
    return Timing(**{**fields, **named, "samples": (seconds,) * 3})


def comparison(*entries):
    return Comparison("dense", entries, "a machine", "2026-01-01", unit="examples")


BATCHES = comparison(
    timing("rows", 1, 100 * MICRO), timing("rows", 64, 1600 * MICRO),
    timing("tiles", 1, 900 * MICRO), timing("tiles", 64, 640 * MICRO),
    Absent("dense", "CUDA", "gpu", 1, "no GPU"),
)  # fmt: skip


def test_an_example_s_share_of_a_batch_is_said_and_drawn():
    picture = draw.per_example(BATCHES)
    # Alone at best 100 µs; in a batch of 64 at best 10 µs.
    assert repr(picture).startswith(
        "Alone an example takes 100 µs, in a batch of 64 it takes 10 µs."
    )
    rows, tiles = picture.axes.lines
    assert rows.get_ydata() == pytest.approx([100 * MICRO, 25 * MICRO])
    assert tiles.get_ydata() == pytest.approx([900 * MICRO, 10 * MICRO])
    assert rows.get_color() == tiles.get_color() == COLORS["host"]
    assert rows.get_marker() != tiles.get_marker()
    assert rows.get_linestyle() != tiles.get_linestyle()
    assert "tiles at 64: 10 µs" in repr(picture)


def test_a_time_that_was_too_noisy_stands_in_no_title():
    wild = dataclasses.replace(timing("rows", 1, MICRO), samples=(MICRO, 20 * MICRO, 90 * MICRO))
    steady = [timing("rows", size, size * MICRO) for size in (4, 64)]
    said = repr(draw.per_example(comparison(wild, *steady)))
    assert said.startswith("In a batch of 4 an example takes 1 µs, in a batch of 64 it takes 1 µs.")
    said = repr(draw.per_example(comparison(wild, steady[0])))
    assert said.startswith("Too noisy to say what an example takes in a batch.")


def test_a_model_is_a_thin_line_of_its_own_for_one_example():
    picture = draw.per_example(BATCHES, {"bound": lambda batch: 80 * MICRO})
    *_, model = picture.axes.lines
    assert model.get_linewidth() == 1
    assert model.get_ydata()[[0, -1]] == pytest.approx([80 * MICRO, 1.25 * MICRO])
    assert "bound" in [text.get_text() for text in picture.axes.texts]


def test_time_against_parameters_says_how_both_grow():
    alone, many = {100: MICRO, 400: 4 * MICRO}, {100: 50 * MICRO, 400: 150 * MICRO}
    picture = draw.against_parameters({"one": alone, "64": many}, {"bytes": alone})
    assert repr(picture).startswith(
        "4 times the parameters take 4 times as long for one, 3 times as long for 64."
    )
    assert len(picture.axes.lines) == 3


def test_where_some_sizes_have_no_time_the_growth_is_of_those_that_have_all():
    alone, many = {400: 4 * MICRO}, {100: 50 * MICRO, 400: 150 * MICRO}
    picture = draw.against_parameters({"one": alone, "64": many})
    assert repr(picture).startswith("4 times the parameters take 3 times as long for 64.")
    none = draw.against_parameters({"one": {}, "64": {}})
    assert repr(none).startswith("Too noisy to say how the time grows.")
    assert not none.axes.lines


def epochs(*accuracies, seconds):
    return [Epoch(n, 1 / n, a, n * seconds) for n, a in enumerate(accuracies, 1)]


def test_curves_say_what_was_reached_and_how_long_each_took():
    runs = {"NumPy": epochs(0.8, 0.96, seconds=2), "Numba": epochs(0.8, 0.96, seconds=1)}
    picture = draw.curves(runs)
    assert repr(picture).startswith(
        "96.0% of the held-out digits after 2 epochs. In one run each: NumPy 4 s, Numba 2 s."
    )
    left, right = picture.figure.axes
    assert [list(line.get_xdata()) for line in left.lines] == [[1, 2], [1, 2]]
    assert [list(line.get_xdata()) for line in right.lines] == [[2, 4], [1, 2]]
    runs["CUDA"] = epochs(0.5, 0.6, seconds=3)
    assert repr(draw.curves(runs)).startswith("60.0% to 96.0%")


def test_every_toolkit_has_a_curve_of_its_own():
    from gpulessons.models.digits import TOOLKITS

    assert set(draw.TOOLKITS) == set(TOOLKITS)
    assert len(set(draw.TOOLKITS.values())) == len(TOOLKITS)


def test_wrong_digits_are_those_misread_the_surest_first():
    images, labels = np.arange(4 * 64).reshape(4, 8, 8), np.array([3, 5, 7, 9])
    said = np.full((4, 10), 0.01)
    said[[0, 1, 2, 3], [3, 6, 1, 9]] = (0.9, 0.5, 0.8, 0.9)
    picture = draw.wrong(images, labels, said)
    assert repr(picture).startswith("2 of 4 held-out digits are read wrongly.")
    assert "7, read as 1, 80% sure; 5, read as 6, 50% sure" in repr(picture)
    assert np.array_equal(picture.axes.images[0].get_array(), images[2])
    assert "the 1 it is surest of" in repr(draw.wrong(images, labels, said, most=1))


def test_a_network_without_mistakes_is_a_picture_too():
    labels = np.array([1])
    assert "0 of 1" in repr(draw.wrong(np.zeros((1, 8, 8)), labels, np.eye(10)[labels]))


def test_weights_are_drawn_around_zero_and_the_strongest_first():
    w = np.ones((3, 64)) * np.array([[1], [-5], [2]])
    picture = draw.weights(w, most=2)
    assert repr(picture).startswith("2 of 3 outputs, pixel by pixel")
    first = picture.axes.images[0]
    assert first.get_array()[0, 0] == -5
    assert first.get_clim() == (-5, 5)
