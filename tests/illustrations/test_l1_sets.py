"""The sets of L1: which lines wait for each other, as the model counts them."""

import numpy as np
import pytest

from gpulessons.illustrations.l1_sets import ROWS, l1_sets, looked_up
from warplens.model.sampling import TAG_SETS, tag_clocks


@pytest.mark.parametrize(("columns", "clocks"), [(4096, 16), (4104, 4), (4128, 4)])
def test_a_request_takes_the_clocks_that_the_model_counts(columns, clocks):
    byte = 4 * columns * np.arange(ROWS, dtype=np.int64)
    assert tag_clocks(np.zeros(ROWS, np.int64), byte) == max(map(len, looked_up(columns))) == clocks
    assert f"in {clocks} clocks" in l1_sets(columns).alt


def test_each_line_has_its_box_and_no_other():
    picture = l1_sets(4104)
    assert sorted(row for rows in looked_up(4104) for row in rows) == list(range(ROWS))
    assert len(picture.axes.patches) == ROWS
    assert f"in {TAG_SETS} of {TAG_SETS} sets" in picture.alt
