"""Pictures of attention say what was given: who attends to whom, the growth, shares and bytes."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons import bias_gelu, layer_norm, softmax
from gpulessons.illustrations import attention as draw
from gpulessons.illustrations import online_softmax, transformer
from gpulessons.measure.results import Timing


def test_the_strongest_attention_is_named_and_every_row_s_is_said():
    shares = np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0, 0.7, 0.3]])
    picture = draw.attending(["she", "reads", "it"], shares)
    assert "The strongest attention: “reads” to “it”, 80%." in picture.alt
    assert picture.alt.endswith("she to she: 50%; reads to it: 80%; it to reads: 70%.")
    said = [text.get_text() for text in picture.axes.texts]
    assert said == ["50", "25", "25", "10", "10", "80", "70", "30"]
    (squares,) = picture.axes.collections
    assert squares.get_facecolors()[:, 3] == pytest.approx(0.6 * shares.ravel())


SCORES = [2, 1, 3, 0, 2, 1, 5, 2, 4, 1, 3]


@pytest.mark.parametrize("tile", [1, 3, 4, 11, 64])
def test_a_sweep_ends_at_the_sum_that_two_passes_have(tile):
    *_, last = states = online_softmax.taken_in(SCORES, tile)
    assert last.row_max == max(SCORES) and last.stop == len(SCORES)
    assert last.total == pytest.approx(sum(math.exp(score - max(SCORES)) for score in SCORES))
    assert len(states) == -(-len(SCORES) // tile)


def test_a_tile_with_a_larger_score_rescales_what_was_summed_and_no_other_does():
    film = online_softmax.Sweep(SCORES, 3)
    assert [now.rescale == 1 for now in film.states] == [False, True, False, True]
    assert "so the sum so far is rescaled: 2.056 × 0.14. Now it is 1.696" in film.figure(2).alt
    assert "3 stays the largest" in film.figure(1).alt
    assert "rescaled once, and ends at 1.850" in film.multiples().alt
    heights = [bar.get_height() for bar in film.figure(2).figure.axes[1].patches]
    assert math.exp(3 - 3) in heights and math.exp(3 - 5) in heights


def test_the_ladder_adds_the_parts_up_and_compares_with_the_tiled_launch():
    counted = {64: {"scores": 2000, "softmax": 48, "tiled": 512},
               128: {"scores": 8000, "softmax": 192, "tiled": 2048}}  # fmt: skip
    picture = draw.ladder(counted, "tiled")
    assert picture.alt.startswith("128 tokens, one head: separate kernels ask for 8 KiB, 4× the ")
    assert "the tiled launch; 98% of it for scores." in picture.alt
    assert "64 tokens: all 2: 2 KiB" in picture.alt
    assert [line.get_xdata()[0] for line in picture.axes.lines] == [
        2000, 48, 2048, 512, 8000, 192, 8192, 2048,
    ]  # fmt: skip


def test_who_is_ahead_is_said_only_where_the_intervals_are_apart():
    def band(version, low, high, **more):
        return SimpleNamespace(version=version, quartiles=(low, high), noise="", **more)

    few, many = band("few", 1, 2), band("many", 3, 5)
    assert draw.ahead(many, few).startswith("few is ahead: its interval lies 1.5× below")
    assert "open" in draw.ahead(few, band("many", 1.5, 5))
    assert "open" in draw.ahead(many, band("few", 1, 1, at_least=True))
    assert "Too noisy" in draw.ahead(few, SimpleNamespace(noise="too noisy"))


def test_each_version_is_compared_with_itself_across_lengths():
    def timed(version, size, seconds):
        fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
        return Timing(**{**fields, "version": version, "backend": "host", "size": size,
                         "samples": (seconds,)})  # fmt: skip

    run = SimpleNamespace(
        timings=[timed("all", 64, 1e-3), timed("tiled", 64, 1e-3),
                 timed("all", 256, 20e-3), timed("tiled", 256, 8e-3)],
        versions=["all", "tiled"], unit="tokens", label=lambda: "live",
    )  # fmt: skip
    picture = draw.per_pair(run)
    assert picture.alt.startswith("4 times the tokens (64 to 256) take 8 to 20 times as long.")
    assert picture.axes.lines[0].get_ydata() == pytest.approx([1e-3 / 64**2, 20e-3 / 256**2])
    wild = (1e-3, 9e-3, 1e-3, 9e-3, 2e-3)
    run.timings[-1] = dataclasses.replace(run.timings[-1], samples=wild)
    assert "take 20 times as long" in draw.per_pair(run).alt
    run.timings, run.sizes = [], [64, 256]
    assert "take a time that could not be compared here." in draw.per_pair(run).alt


def test_the_layer_s_operations_are_those_that_its_ops_count():
    work = transformer.layer_flops(128, 128)
    products = sum(work[name] for name in transformer.PRODUCTS)
    weights = 4 * 768**2 + 2 * 768 * 3072
    assert products == 2 * 128 * weights + 4 * 128**2 * 768
    assert work["softmax"] == softmax.flops(np.empty((12 * 128, 128)))
    assert work["bias + GELU"] == bias_gelu.flops(np.empty((128, 3072)), np.empty(3072))
    row = np.empty(768)
    assert work["layer norm"] == layer_norm.flops(np.empty((128, 768)), row, row)


def test_the_quadratic_products_of_a_layer_grow_with_the_length_and_the_boxes_say_it():
    assert "the two that grow with the square of the length, 3%." in transformer.encoder(128).alt
    assert "length, 31%" in transformer.encoder(2048).alt
    said = [text.get_text() for text in transformer.encoder(512).axes.texts]
    assert any(text.startswith("12 × 512\n× 512") for text in said)


def test_a_batch_shares_weights_and_no_keys_or_values():
    one, many = (transformer.token_bytes(batch, 512) for batch in (1, 64))
    assert one["weights"] == 64 * many["weights"]
    assert one["keys and values"] == many["keys and values"] == 12 * 2 * 512 * 768 * 4
    assert one["weights"] == 4 * (12 * (4 * 768**2 + 2 * 768 * 3072) + 30_522 * 768)


def test_heads_that_share_keys_and_values_read_as_many_fewer():
    all_heads, groups = (transformer.token_bytes(1, 512, heads) for heads in (12, 4))
    assert all_heads["keys and values"] == 3 * groups["keys and values"]
    assert groups["weights"] < all_heads["weights"]
    picture = transformer.generation(32, 512, 12)
    assert picture.alt.startswith("12 heads of keys and values, 512 tokens behind, a batch of 32: ")
    weights, cached, together = (line.get_ydata() for line in picture.axes.lines[:3])
    assert weights[0] == 512 * weights[-1] and cached[0] == cached[-1]
    assert list(together) == pytest.approx(np.add(weights, cached))


@pytest.mark.parametrize(
    "costs, factor",
    [({64: 5, 512: 3, 1024: 12}, 4), ({256: 1, 1024: 16}, 4), ({100: 7, 200: 14}, 2)],
)
def test_what_a_doubling_costs_is_read_off_the_last_two_lengths(costs, factor):
    assert draw.doubling(costs) == pytest.approx(factor)
    assert draw.doubling(dict(reversed(costs.items()))) == pytest.approx(factor)


def test_the_title_of_the_peaks_has_the_growth_of_each_way():
    ways = {"all": {256: 2**18, 512: 2**20}, "tiled": {256: 2**16, 512: 2**17}}
    picture = draw.peaks(ways)
    assert picture.alt.startswith("Twice the length, and memory grows: 4.0 times for all, 2.0 ")
    assert [list(line.get_ydata()) for line in picture.axes.lines] == [
        [2**18, 2**20], [2**16, 2**17],
    ]  # fmt: skip


def test_parts_are_shares_of_their_own_whole():
    picture = transformer.parts({"operations": {"products": 990, "the rest": 10},
                           "time": {"products": 3, "the rest": 1}})  # fmt: skip
    assert picture.alt.startswith("Products: 99.0% of the operations; 75% of the time.")
    bars = picture.axes.patches[:4]
    assert [bar.get_x() for bar in bars] == pytest.approx([0, 0.99, 0, 0.75])
    assert [bar.get_width() for bar in bars] == pytest.approx([0.99, 0.01, 0.75, 0.25])


def test_a_part_that_one_way_has_not_leaves_no_gap():
    picture = transformer.parts({"one": {"a": 1, "b": 1, "c": 2}, "two": {"a": 1, "c": 1}})
    assert picture.alt.endswith("two: a 50%, c 50%.")
    assert [bar.get_x() for bar in picture.axes.patches[3:6]] == pytest.approx([0, 0.5, 0.5])
