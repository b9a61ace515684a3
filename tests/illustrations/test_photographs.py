"""Photographs on a page: lighter than they were, and still what they show."""

import numpy as np
import pytest

from gpulessons.illustrations import photographs

RNG = np.random.default_rng(0)


def test_blocks_of_pixels_become_their_mean():
    image = np.arange(24.0).reshape(4, 6)
    assert photographs.thinned(image, across=3).tolist() == [[3.5, 5.5, 7.5], [15.5, 17.5, 19.5]]


def test_a_small_picture_keeps_its_pixels_and_its_colors():
    image = np.array([[[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [0, 0, 1]]], float)
    assert np.array_equal(photographs.thinned(image, 128), image)
    assert np.array_equal(photographs.few_colors(image, 8), 255 * image)


def test_there_are_few_pixels_and_few_colors():
    image = RNG.random((300, 512, 3))
    picture = photographs.side_by_side({"noise": image, "more": image**2}, "Noise.")
    shown = [axes.images[0].get_array() for axes in picture.figure.axes]
    assert all(array.shape[1] == photographs.ACROSS for array in shown)
    colors = {tuple(color) for array in shown for color in array.reshape(-1, 3).tolist()}
    assert len(colors) <= photographs.COLORS < 255
    assert repr(picture) == "Noise. Side by side: noise, more."


def test_numbers_outside_of_0_to_1_are_black_and_white_and_one_number_is_grey():
    shown = photographs.few_colors(np.array([[-1.0, 0.5, 7.0]]), 8)
    assert shown[0, 0].tolist() == [0, 0, 0] and shown[0, 2].tolist() == [255, 255, 255]
    assert shown.shape == (1, 3, 3) and len(set(shown[0, 1].tolist())) == 1


@pytest.mark.parametrize("named", [{}, {"a": np.zeros((2, 2)), "b": np.zeros((3, 2))}])
def test_nothing_and_pictures_of_several_shapes_are_refused(named):
    with pytest.raises(ValueError, match="one shape"):
        photographs.side_by_side(named)
