"""The picture of a batch: what it says of a layer is what the layer counts."""

import pytest

from gpulessons import dense
from gpulessons.illustrations.weight_reuse import BATCHES, batch_for, flops_per_byte, weight_reuse
from gpulessons.ops.dense import sized


@pytest.mark.parametrize("batch", [1, 8, 256])
def test_operations_for_each_byte_are_those_of_the_layer_less_its_bias(batch):
    layer = dense.like(sized(4096, 4096), [64])
    problem = layer.inputs(batch)
    assert flops_per_byte(batch) == pytest.approx(
        layer.flops(*problem) / layer.bytes(*problem), rel=0.01
    )


@pytest.mark.parametrize("corner, size", [(14, 4), (103, 4), (206, 2), (0.4, 4)])
def test_from_a_batch_on_there_are_more_operations_for_each_byte_than_the_corner(corner, size):
    batch = batch_for(corner, size=size)
    assert flops_per_byte(batch, size=size) >= corner > flops_per_byte(batch - 1, size=size)


def test_more_operations_than_a_layer_s_width_allows_come_at_no_batch():
    assert batch_for(1025) is None, "4,096 inputs and outputs of 4 bytes: fewer than 1,024"
    assert flops_per_byte(10**9) < 1024


def test_the_picture_marks_the_batch_and_names_what_is_reused():
    picture = weight_reuse(8, {"a corner": 9.8})
    assert repr(picture).startswith("Each weight, fetched once, serves 8 examples: 4 FLOPs")
    assert "a corner: 9.8" in repr(picture)
    left, right = picture.figure.axes
    curve, chosen, corner = right.lines
    assert list(curve.get_xdata()) == list(BATCHES)
    assert (list(chosen.get_xdata()), list(corner.get_ydata())) == ([8], [9.8, 9.8])
    areas = [patch.get_width() * patch.get_height() for patch in left.patches[:3]]
    assert areas == [1, 8, 8], "one weight, an input and an output of each example"


def test_of_a_large_batch_eight_examples_are_drawn_and_that_is_said():
    left, _ = weight_reuse(256).figure.axes
    assert any("(8 of 256 are drawn)" in text.get_text() for text in left.texts)
