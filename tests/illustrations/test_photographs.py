"""Photographs on a page: lighter than they were, and still what they show."""

import numpy as np
import pytest

from gpulessons.illustrations import photographs


def test_blocks_of_pixels_become_their_mean():
    image = np.arange(24.0).reshape(4, 6)
    assert photographs.thinned(image, across=3).tolist() == [[3.5, 5.5, 7.5], [15.5, 17.5, 19.5]]


def test_colors_stay_apart():
    image = np.zeros((4, 4, 3))
    image[..., 0], image[..., 2] = 1, 0.5
    assert (photographs.thinned(image, across=2) == [1, 0, 0.5]).all()


def test_a_small_picture_keeps_its_pixels():
    image = np.array([[[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [0, 0, 1]]], float)
    assert np.array_equal(photographs.thinned(image, 128), image)


def test_few_pixels_are_shown_under_the_message():
    image = np.random.default_rng(0).random((300, 512, 3))
    picture = photographs.side_by_side({"noise": image, "more": 2 * image}, "Noise.", across=128)
    shown = [axes.images[0].get_array() for axes in picture.figure.axes]
    assert all(array.shape[1] == 128 and array.max() <= 1 for array in shown)
    assert repr(picture) == "Noise. Side by side: noise, more."


@pytest.mark.parametrize("named", [{}, {"a": np.zeros((2, 2)), "b": np.zeros((3, 2))}])
def test_nothing_and_pictures_of_several_shapes_are_refused(named):
    with pytest.raises(ValueError, match="one shape"):
        photographs.side_by_side(named)
