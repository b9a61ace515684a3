"""The digits that several pages learn from."""

import numpy as np

from gpulessons.models.data import digits


def test_the_digits_are_split_once_and_for_all():
    (images, labels), (held, held_labels) = digits()
    assert images.shape == (1437, 8, 8) and held.shape == (360, 8, 8)
    assert images.dtype == held.dtype == np.uint8 and images.max() == held.max() == 16
    assert labels.shape == (1437,) and held_labels.shape == (360,)
    assert set(labels) == set(held_labels) == set(range(10))
    assert held_labels[:4].tolist() == [0, 5, 0, 5]
