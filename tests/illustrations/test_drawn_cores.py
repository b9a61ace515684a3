"""The picture of the K80 over a CPU: a dot for each way of counting, where it says."""

from dataclasses import replace

from gpulessons.illustrations import cores as draw
from gpulessons.money.cores import Cores

CPU = Cores(cores=2, core_flops=4e10, flops=8.74e10, bandwidth=2.4e10, simd_bits=512)


def test_each_way_of_counting_has_its_dot():
    picture = draw.ratios(CPU)
    dots = [float(line.get_xdata()[0]) for line in picture.axes.lines if line.get_marker() == "o"]
    assert dots == list(CPU.ratios().values())
    names = [label.get_text() for label in picture.axes.get_yticklabels()]
    assert names == list(CPU.ratios())


def test_the_title_sets_cores_against_flops():
    told = draw.ratios(CPU).alt
    assert told.startswith("A K80 has 2,500× the cores and 100× the FLOP/s.")
    assert "bytes/s 20×" in told


def test_a_machine_faster_than_a_k80_is_drawn_too():
    picture = draw.ratios(replace(CPU, flops=9e13, simd_bits=None))
    assert picture.svg and picture.axes.get_xlim()[0] < 0.1
