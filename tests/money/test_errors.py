"""The error of a prediction: planted caches, threads and launches are found and named."""

import dataclasses

import numba
import pytest
from test_devices import CARD, MACHINE
from test_prediction import timed

from gpulessons.backends import host
from gpulessons.measure.problem import Problem
from gpulessons.measure.recordings import Recording
from gpulessons.measure.results import Comparison
from gpulessons.money import errors
from gpulessons.money.devices import Device
from gpulessons.money.errors import Measured, by_ceilings, by_shares, elsewhere, measured
from gpulessons.money.prediction import Work, predict
from gpulessons.ops.matmul import matmul
from gpulessons.ops.reduce import total

ONE = Device("one core", 1, flop_rate=1e9, bandwidth=1e9, kind="live")
TWO = Device("two cores", 2, flop_rate=2e9, bandwidth=2e9, kind="live")


def stream(seconds, threads=2, nbytes=1e9, **more):
    return Work("stream", 1, nbytes, 7, "v", seconds, threads, **more)


def one(work, cache=None):
    return Measured(ONE, [work], cache)


def two(work, cache=None):
    return Measured(TWO, [work], cache)


def test_by_its_ceilings_the_error_is_the_share_that_is_reached():
    (miss,) = by_ceilings(two(stream(0.625))).misses
    assert miss.predicted == pytest.approx(0.5) and miss.measured == 0.625
    assert miss.off == pytest.approx(1.25) and miss.why == ""


def test_the_same_share_there_is_right_where_nothing_but_the_roof_differs():
    found = by_shares(one(stream(4.0)), two(stream(2.0)))  # a quarter of the roof, both times
    assert found.misses[0].prediction.share == 0.25 and found.median == pytest.approx(1)
    assert found.misses[0].predicted == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (two(stream(0.1), cache=1e10), "caches: its 954 MiB fit"),
        (two(stream(0.1), cache=1e8), "faster than what was taken for the roof"),
        (two(stream(1.0, threads=None)), "threads: it computes in one"),
        (two(stream(1.0)), "neither limit"),
        (two(stream(8e-5, nbytes=1e3)), "launch"),
        (two(Work("product", 1e9, 1, None, "", 0.1, 2), cache=1e10), "faster than what was taken"),
    ],
)
def test_what_broke_is_named_by_the_ceilings(there, words):
    assert by_ceilings(there).worst.why.startswith(words)


@pytest.mark.parametrize(
    ("here", "there", "words"),
    [
        (one(stream(1.0)), two(stream(1.0, threads=None)), "threads: it computes in one"),
        (one(stream(1.0)), two(stream(0.9)), "threads: part of it runs in one, starting"),
        (one(stream(1.0)), two(stream(0.1), cache=1e10), "caches: its 954 MiB fit"),
        (one(stream(0.1), cache=1e10), two(stream(0.5)), "caches: its 954 MiB fit the last one"),
        (one(stream(0.1), 1e10), two(stream(0.01), 1e10), "caches: its 954 MiB fit the last one"),
        (one(stream(9e-6, nbytes=1e3)), two(stream(9e-6, nbytes=1e3)), "launch"),
        (one(stream(1.0)), two(stream(0.2)), "the share: it is 5× as fast, under a roof 2× as"),
        (one(stream(9.0)), two(dataclasses.replace(stream(0.5), version="w")), "another program"),
    ],
)
def test_what_broke_is_named_by_the_shares(here, there, words):
    assert by_shares(here, there).worst.why.startswith(words)


def test_the_verdict_has_the_typical_error_and_the_worst_with_its_reason():
    works = [stream(0.5), dataclasses.replace(stream(1.0), name="b"),
             dataclasses.replace(stream(4.0, threads=None), name="c")]  # fmt: skip
    alone = [dataclasses.replace(work, seconds=1.0) for work in works]  # at the roof of one core
    found = by_shares(Measured(ONE, alone), Measured(TWO, works))
    assert found.median == pytest.approx(2) and found.worst.work.name == "c"
    assert found.within(2) == 2
    told = "2 of 3 predictions are within a factor of 2; typically off by 2×, at worst 8× the "
    assert found.verdict.startswith(told + "predicted time, c at 7 (threads: ")
    assert "predicted (modelled)" in repr(found) and "measured (live)" in found._repr_html_()
    few = dataclasses.replace(found, misses=found.misses[1:])
    assert few.verdict.startswith("1 of 2 predictions is within")


def test_a_roof_is_reached_in_part_and_never_off():
    found = by_ceilings(Measured(TWO, [stream(0.5), dataclasses.replace(stream(2.0), name="b")]))
    assert found.verdict == "They reach 25% to 100% of the roof, in the median 62%."
    assert "at its roof (modelled)" in repr(found) and "off by" not in repr(found)


def test_one_guess_for_all_stands_below_the_table_and_not_in_each_row():
    works = [stream(2.0), dataclasses.replace(stream(3.0), name="b")]
    table = by_ceilings(Measured(TWO, works)).table()
    assert table.head[-1] == "measured (live)" and len(table.rows[0]) == len(table.head)
    assert any("the same for each): neither limit" in note for note in table.notes)


def test_a_share_above_the_roof_is_marked():
    for alone, marked in ((0.8, True), (1.0, False)):
        table = by_shares(one(stream(alone)), two(stream(alone / 2))).table()
        assert any("Above 100%" in note for note in table.notes) == marked


def test_being_too_fast_is_as_wrong_as_being_too_slow():
    assert by_ceilings(two(stream(0.125))).median == by_ceilings(two(stream(2.0))).median == 4


def test_a_miss_is_told_as_a_multiple_of_the_predicted_time_in_the_line_and_in_the_table():
    for seconds, words in ((2.0, "4× the predicted time"), (0.125, "0.25× the predicted time"),
                           (0.5004, "as predicted")):  # fmt: skip
        found = by_shares(one(stream(1.0)), two(stream(seconds)))
        assert repr(found.worst).endswith(f", {words}")
        assert found.table().rows[0][5] == words and "× shorter" not in repr(found)


def test_the_roof_s_own_table_shows_the_share_reached_and_the_other_the_share_assumed():
    alone = by_ceilings(two(stream(2.0))).table()
    assert alone.head[2] == "share reached" and alone.rows[0][2] == "25%"
    guessed = by_shares(one(stream(2.0)), two(stream(2.0))).table()  # half of one core's roof
    assert guessed.head[2] == "share assumed" and guessed.rows[0][2] == "50%"
    assert alone.head[-1] == guessed.head[-1] == "where it broke (a guess)"


def test_what_was_measured_on_one_side_only_is_not_judged():
    found = by_shares(one(stream(1.0)), two(dataclasses.replace(stream(1.0), size=8)))
    assert found.misses == [] and "Nothing could be judged" in repr(found)
    bare = Measured(Device("bare"), [stream(1.0)])
    assert by_ceilings(bare).misses == [] == by_shares(bare, two(stream(1.0))).misses


def test_a_machine_s_fastest_timings_stand_for_its_cpu_and_its_gpu():
    timings = [timed("relu", 1, 8, t, backend=b, version=f"{b} {t}")
               for b, t in (("host", 3), ("torch_cpu", 2), ("host", 4), ("gpu", 1))]  # fmt: skip
    cpu, card = measured(dataclasses.replace(MACHINE, gpu=CARD), timings)
    assert [w.version for w in cpu.works] == ["torch_cpu 2"] and card.works[0].version == "gpu 1"
    assert cpu.cache == 2**20 and card.device.name == "A card"
    assert len(measured(MACHINE, timings)) == 1


def test_a_recording_is_predicted_from_here():
    entries = (timed("relu", 1, 3e10, 2.0),)  # half of MACHINE's 3e10 bytes/s
    recording = Recording(MACHINE, (Comparison("relu", entries, "m", "2001-02-03", "recorded"),))
    here = Measured(TWO, [Work("relu", 1, 3e10, 5, "v", 30.0, 2)])  # half of the roof as well
    (found,) = elsewhere(here, recording)
    assert found.device.kind == "recorded" and found.median == pytest.approx(1)
    assert "measured (recorded)" in repr(found)


# -- One core and all.


def test_one_core_and_all_are_both_measured_and_checked(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "cores", lambda: 2)
    trial = errors.one_core_to_all([(matmul, "NumPy", 64), (total, "NumPy", 1000)])
    assert [w.label for w in trial.one.works] == ["matmul at 64", "total at 1,000"]
    assert [len(e.misses) for e in (trial.by_ceilings, trial.by_shares)] == [2, 2]
    assert "rough" in trial.note and trial.every.device.cores == 2
    for miss in trial.by_shares.misses:  # the share of one core, under the roof of all
        best = predict(miss.work, trial.every.device).seconds
        here = trial.one.find(miss.work)
        assert miss.predicted == pytest.approx(
            best * here.seconds / predict(here, trial.one.device).seconds
        )
    assert "measured (live)" in repr(trial) and "<table" in trial._repr_html_()


def test_on_one_core_one_thread_computes_both_under_the_clock_and_for_the_ceilings(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    most = numba.config.NUMBA_NUM_THREADS
    seen = []
    watched = total.like()

    @watched.version("watched", on=host)
    def add(x):
        seen.append(numba.get_num_threads())
        return x.sum(keepdims=True)

    took = errors.in_turn(Problem(watched, 100), "watched", (1, most), 1e-3)
    late = seen[len(seen) // 2 :]  # after what is only for warming up
    assert list(took) == [1, most] and set(late) == {1, most}

    def rate(n):
        return errors.ceilings.Rate((n, numba.get_num_threads()), n)

    rates = dict.fromkeys(("host float32", "host read", "host copy", "host triad"), rate)
    monkeypatch.setattr(errors.ceilings, "host", lambda nbytes: rates)
    assert errors.rates_of((1, most)) == {n: ((n, n), (n, n)) for n in (1, most)}


def test_an_op_that_cannot_run_here_is_left_out_and_no_op_at_all_is_said(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "cores", lambda: 2)
    monkeypatch.setattr(errors, "rates_of", lambda counts: {n: (1e10 * n, 1e10) for n in counts})

    def fails(*_):
        raise RuntimeError("not here")

    monkeypatch.setattr(errors, "in_turn", fails)
    found = errors.one_core_to_all()
    assert found.every and found.by_shares.worst is None and not found.by_shares.misses


def test_on_one_core_there_is_no_trial_and_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(errors, "cores", lambda: 1)
    trial = errors.one_core_to_all()
    assert "has one core" in repr(trial) and "has one core" in trial._repr_html_()
    assert "has one core" in repr(trial.by_shares) and not trial.by_ceilings.misses


def test_a_version_that_fails_its_check_is_left_out(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "cores", lambda: 2)
    monkeypatch.setattr(errors, "rates_of", lambda counts: dict.fromkeys(counts, (1.0, 1.0)))
    real = errors.in_turn

    def failing(problem, *rest):
        found = real(problem, *rest)
        return {n: object() for n in found} if problem.op is matmul else found

    monkeypatch.setattr(errors, "in_turn", failing)
    trial = errors.one_core_to_all([(matmul, "NumPy", 64), (total, "NumPy", 1000)])
    assert [w.name for w in trial.one.works] == [w.name for w in trial.every.works] == ["total"]


def test_where_all_cores_are_slower_than_one_the_reader_is_told():
    (told,) = errors.crowded(
        Measured(ONE, [stream(1.0)] * 2), Measured(TWO, [stream(0.5), stream(1.3)])
    )
    assert told.startswith(
        "1 of 2 took longer on all cores than on one: something else was running"
    )
    assert not list(errors.crowded(one(stream(1.0)), two(stream(1.1))))
    slow = dataclasses.replace(TWO, flop_rate=0.9e9)
    (told,) = errors.crowded(one(stream(1.0)), Measured(slow, [stream(0.6)]))
    assert "0 of 1" in told and "their ceiling was lower" in told


def test_one_small_op_of_many_may_lose_by_threads():
    works = [stream(1.0)] * 10
    assert not list(errors.crowded(Measured(ONE, works),
                                   Measured(TWO, [*works[1:], stream(1.3)])))  # fmt: skip
    assert list(errors.crowded(Measured(ONE, works),
                               Measured(TWO, [*works[2:], *[stream(1.3)] * 2])))  # fmt: skip


def test_a_memory_that_one_core_fills_is_no_disturbance_and_a_halved_one_is():
    for bandwidth, doubts in ((0.95e9, 0), (0.5e9, 1)):
        every = dataclasses.replace(TWO, bandwidth=bandwidth)
        found = list(errors.crowded(one(stream(1.0)), Measured(every, [stream(1.0)])))
        assert len(found) == doubts


def test_a_disturbed_trial_is_no_result_and_guesses_no_reason():
    alone, works = [stream(1.0)], [stream(1.5)]
    calm = errors.Trial(Measured(ONE, alone), Measured(TWO, [stream(0.9)]))
    assert not calm.disturbed and calm.by_shares.worst.why and not calm.by_shares.disturbed
    assert not errors.Trial(why="one core").disturbed
    busy = errors.Trial(Measured(ONE, alone), Measured(TWO, works), note="something else ran.")
    assert busy.disturbed
    for found in (busy.by_shares, busy.by_ceilings):
        assert found.disturbed and [m.why for m in found.misses] == [""]
        assert found.verdict == "No result: something else ran."
        assert repr(found).count("something else ran.") == 1 and "within" not in repr(found)


@pytest.mark.parametrize("second", [(3.0, 2.0), (0.5, 0.5)])
def test_ceilings_below_those_of_one_core_are_measured_once_more(monkeypatch, second):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "cores", lambda: 2)
    asked = []

    def rates_of(counts):
        asked.append(counts)
        return {1: (1.0, 1.0), 2: second if len(asked) > 1 else (0.9, 2.5)}

    monkeypatch.setattr(errors, "rates_of", rates_of)
    trial = errors.one_core_to_all([(total, "NumPy", 1000)])
    assert len(asked) == 2
    device = trial.every.device
    assert (device.flop_rate, device.bandwidth) == (max(0.9, second[0]), 2.5)
    assert ("ceiling was lower" in trial.note) == (second[0] < 1)


def test_a_step_of_each_network_is_measured_at_a_size_that_fits(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    monkeypatch.setattr(errors, "machine", lambda: MACHINE)
    found = errors.steps_here()
    assert [w.name for w in found.works][:2] == ["FCN-5", "FCN-8"] and len(found.works) == 6
    assert all(w.seconds > 0 and w.size <= 128 for w in found.works)
    assert len(by_ceilings(found).misses) == 6
