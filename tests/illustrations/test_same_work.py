"""A copy, ReLU and GELU as versions of one op."""

import numpy as np
import pytest

from gpulessons import check, copy
from gpulessons.illustrations.same_work import unchanged


def test_it_has_three_ops_on_one_core_and_on_every_core_and_leaves_copy_as_it_was():
    both = ["one core", "every core"]
    assert list(unchanged.versions) == [
        f"{op}, {c}" for op in ("copy", "relu", "gelu") for c in both
    ]
    assert "copy, one core" not in copy.versions


@pytest.mark.parametrize("name", unchanged.versions)
def test_none_of_them_changes_a_bit(name):
    (x,) = unchanged.inputs(1_201)
    out = np.empty_like(x)
    unchanged.versions[name].function(x, out)
    assert np.array_equal(out, x)
    assert check(unchanged, unchanged.versions[name].function).passed
