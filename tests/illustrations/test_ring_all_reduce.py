"""The ring, step by step, and what the pictures of data parallelism say."""

from itertools import chain

import numpy as np
import pytest

from gpulessons.illustrations import data_parallel as draw
from gpulessons.illustrations.ring_all_reduce import Ring, moments
from gpulessons.workers.batches import Reached
from gpulessons.workers.links import Link, Sample, fit, messages
from gpulessons.workers.programs.data_parallel import Trained


@pytest.mark.parametrize("workers", [2, 3, 4, 7])
def test_a_ring_ends_with_the_sums_everywhere_after_as_many_steps_as_its_formula(workers):
    vectors = np.random.default_rng(0).integers(-9, 9, (workers, workers))
    start, *steps = moments(vectors)
    assert (start.values == vectors).all()
    assert len(steps) == 2 * (workers - 1)
    assert (steps[-1].values == vectors.sum(0)).all()
    assert (steps[-1].summed == workers).all()


def test_one_more_piece_is_complete_on_every_worker_after_each_step_of_the_second_half():
    complete = [int((moment.summed == 4).sum()) for moment in moments(np.eye(4, dtype=int))]
    assert complete == [0, 0, 0, 4, 8, 12, 16]


def test_a_ring_of_one_and_vectors_in_other_pieces_are_refused():
    for shape in ((1, 1), (3, 4)):
        with pytest.raises(ValueError, match="cuts each of n vectors into n pieces"):
            Ring(np.zeros(shape, int))


def test_a_ring_says_in_words_what_each_worker_holds():
    assert "worker 1: 4, 6" in Ring(np.array([[1, 2], [3, 4]])).figure(2).alt


def test_the_start_is_shown_and_beside_each_arrow_what_it_carries():
    ring = Ring(np.array([[1, 2], [3, 4]]))
    assert ring.multiples().alt.count("step ") == 3
    words = [text.get_text() for text in ring.figure(1).axes.texts]
    assert {"+1", "+4"} <= set(words)
    assert {"4", "6"} <= {text.get_text() for text in ring.figure(2).axes.texts}


@pytest.mark.parametrize(("way", "power"), [(way, k) for way in
                         ("naive", "tree", "ring", "halving") for k in (1, 2, 3)])  # fmt: skip
def test_the_rounds_drawn_are_those_of_the_model_and_the_busiest_sends_what_it_says(way, power):
    found, n = draw.sends(way, 2**power), 2**power
    assert len(found) == messages(way, n)[0]
    busiest = max(sum(share for who, _, share in chain(*found) if who == w) for w in range(n))
    due = {"naive": n - 1, "tree": power, "ring": 2 * (n - 1) / n, "halving": 2 * (n - 1) / n}
    assert busiest == pytest.approx(due[way])
    for each in found:  # nobody sends two at once, but who has all wires
        assert way == "naive" or len({who for who, _, _ in each}) == len(each)


def worker(*events):
    return Trained((1.0,), 0.5, 1.0, 4, (0.0,), tuple(events))


def test_the_hidden_share_counts_sending_once_and_only_while_the_same_worker_computes():
    first = worker(("compute", 0, 4), ("communicate", 2, 5), ("communicate", 3, 6))
    waiting = worker(("compute", 0, 1), ("communicate", 1, 5))
    assert draw.overlap([first]) == 0.5  # 2 … 4 of 2 … 6
    assert draw.overlap([first, waiting]) == 0.25
    assert draw.overlap([worker(("compute", 0, 1))]) == 0


def test_the_step_shown_is_the_one_of_median_length():
    spans = (0, 1), (2, 3), (10, 11), (12, 15), (20, 21), (28, 29)
    events = [("compute", *span) for span in spans]
    assert draw.middling(events) == 1
    assert draw.steps(events)[1] == (10, 15)
    assert worker(*events).computing == pytest.approx((1 + 1 + 1 + 3 + 1 + 1) / 3)


def test_what_a_thousand_workers_do_is_called_modelled_and_falls_with_the_latency():
    fast, slow = (draw.at_scale(Link(latency, 1e9), 8e7, 0.2).alt for latency in (1e-6, 1e-3))
    assert fast.startswith("Modelled: of their time 1,024 workers compute 56% with halving, 55% ")
    assert "8% with a ring, 11% with a tree, 0% with the naive way." in slow


def test_the_picture_of_a_fit_names_its_two_numbers_and_how_far_off_they_are():
    link = Link(1e-4, 1e9)
    exact = [Sample("backend", 2, n, link.seconds("backend", 2, n)) for n in (4096, 1 << 20)]
    told = draw.fitted(fit(exact), exact).alt
    assert told.startswith("A latency of 100 µs and 1 GB/s fit the backend's times to within 0%")
    assert "backend at 4 KiB: 204 µs; backend at 1 MiB: 1.25 ms." in told


def test_a_link_without_a_bandwidth_is_told_as_one():
    flat = [Sample("backend", 2, n, 1e-3 / (1 + n / 2**20)) for n in (4096, 1 << 20)]
    assert "and no limit on the bytes fit" in draw.fitted(fit(flat), flat).alt


def test_losses_are_told_with_the_bytes_that_they_cost():
    def run(loss, size):
        return Trained((loss,) * 12, 0.5, 1.0, 12 * size, (0.0,), ())

    told = draw.losses({"flat": run(0.25, 4000), "1-bit": run(0.5, 125)}).alt
    assert told.startswith("Flat: a loss of 0.25 at the end; 1-bit: 0.5, for 32× fewer bytes.")
    assert "flat: 0.25 after 4,000 bytes a step; 1-bit: 0.5 after 125 bytes a step." in told


def test_a_timeline_names_each_ways_step_and_how_much_of_its_sending_is_hidden():
    events = ("compute", 0, 4), ("communicate", 2, 6), ("compute", 6, 7)
    told = draw.timeline({"DDP": [worker(*events)] * 2}).alt
    assert told.startswith("DDP: 1 s a step. DDP: 1 s a step, 50% of the sending while computing.")


def test_no_timeline_shows_a_sum_that_is_there_before_somebody_has_begun_to_send():
    first = worker(("compute", 0, 4), ("communicate", 4, 6), ("compute", 6, 7))
    late = worker(("compute", 0, 6.5), ("communicate", 6.5, 8), ("compute", 8, 9))
    assert draw.effects_first([first, late]) and not draw.effects_first([first, first])
    with pytest.raises(ValueError, match="DDP: a sum ends before a worker begins"):
        draw.timeline({"DDP": [first, late]})


def test_larger_batches_are_told_by_the_steps_they_save_and_which_was_there_first():
    found = [Reached(8, 1.0, 1000, 2.0), Reached(64, 2.0, 200, 1.0), Reached(512, 4.0, 100, 3.0)]
    told = draw.returns(found).alt
    assert told.startswith("64 times the batch, 10× fewer steps: the curve bends near a batch of ")
    assert "On one core 64 is there first." in told
    assert "512: 100 steps in 3 s, rate 4." in told


@pytest.mark.filterwarnings("error")
def test_where_larger_batches_show_no_bend_none_is_told():
    found = [Reached(n, 1.0, 4096 // n, 1.0) for n in (4, 64, 1024)]
    assert "256× fewer steps: no bend yet." in draw.returns(found).alt


def test_a_loss_is_told_as_the_mean_of_the_last_ten_steps():
    assert draw.averaged(range(20))[:2] == [0, 0.5]
    assert draw.averaged(range(20))[-1] == 14.5
