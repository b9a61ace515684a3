"""The harness catches what makes a number a lie: each fault is planted here, and must be found."""

import gc
import itertools
import math
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons.backends import BACKENDS, Host, host
from gpulessons.hardware import timer
from gpulessons.measure import rounds
from gpulessons.measure.compare import not_cold
from gpulessons.measure.results import Absent, Comparison, Timing
from gpulessons.measure.rounds import Run
from gpulessons.measure.timings import timings
from gpulessons.operation import op

BEFORE_TIMING = re.compile(r"WrongAnswer: off by \S+ where \S+ is allowed")
QUICK = 0.02  # seconds for each version: these tests ask what is said, not how fast it is


@pytest.fixture
def double():
    """A throwaway op, to hang faulty versions on."""

    @op(inputs=normal, flops=lambda x: x.size, sizes=(8, 64))
    def double(x):
        return 2 * x

    return double


def normal(size, rng):
    return (rng.standard_normal(size, np.float32),)


def measured(op, *names, size=8, budget=QUICK, **options):
    """The entries of these versions (all, when none is named) at one size."""
    entries = list(timings(op, size, names or None, budget=budget, **options))
    return entries[0] if len(names) == 1 else entries


def refused(op, name, **options):
    """The reason why a version has no timing."""
    entry = measured(op, name, **options)
    assert isinstance(entry, Absent), f"{name} passed as right: {entry}"
    return entry.why


class Clock(Host):
    """A CPU, and a caller's clock, whose time passes only when told to: nobody can disturb it."""

    now = own = others = 0.0  # seconds; those that the caller and other threads computed meanwhile

    def pass_by(self, seconds, helpers=0, computing=1.0):
        self.now += seconds
        self.own += computing * seconds
        self.others += helpers * computing * seconds

    def mark(self):
        return self.now * 1e9

    def perf_counter(self):
        return self.now

    def thread_time(self):
        return self.own


def started(clock, monkeypatch):
    """This backend, known to all, and the only clock that the harness looks at."""
    monkeypatch.setitem(BACKENDS, "clock", clock)
    for module in (rounds, timer):
        monkeypatch.setattr(module, "time", clock)
    card = SimpleNamespace(last_cache=1 << 10, bandwidth=lambda _: None)
    monkeypatch.setattr(rounds, "machine", lambda: card)  # which would measure by this clock
    monkeypatch.setattr(rounds, "computed_by_others", lambda: clock.others)
    return clock


@pytest.fixture
def clock(monkeypatch):
    return started(Clock(), monkeypatch)


def takes(op, clock, name, seconds):
    """Give an op a right version whose calls take so long, or these times in turn."""
    turns = itertools.cycle(np.atleast_1d(seconds).tolist())
    op.version(name, on=clock)(lambda x: (clock.pass_by(next(turns)), 2 * x)[1])


# -- Wrong answers have no time.


def test_a_right_version_is_timed(double):
    entry = measured(double, "NumPy")
    assert isinstance(entry, Timing)
    assert entry.median > 0 and entry.error < 1e-6 and entry.bytes == 64 and entry.flops == 8


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e-3])
def test_one_wrong_element_is_refused(double, wrong):
    @double.version("wrong", on=host)
    def version(x, out):
        np.multiply(x, 2, out=out)
        out[-1] += wrong

    assert BEFORE_TIMING.match(refused(double, "wrong"))


@pytest.mark.parametrize(
    "answer",
    [lambda x: x[:-1] * 2, lambda x: None, lambda x: (2 * x, 2 * x), lambda x: 2 * x[None]],
)
def test_an_answer_of_another_shape_is_refused(double, answer):
    double.version("shape", on=host)(answer)
    assert "WrongAnswer" in refused(double, "shape")


def test_a_result_that_was_never_computed_is_refused(double):
    """Also when the version before has left the right answer in the output they share."""

    @double.version("right", on=host)
    def right(x, out):
        np.multiply(x, 2, out=out)

    @double.version("idle", on=host)
    def idle(x, out):
        if x.size < 64:
            np.multiply(x, 2, out=out)

    before, after = measured(double, "right", "idle", size=64)
    assert isinstance(before, Timing) and BEFORE_TIMING.match(after.why)


def test_a_version_that_stops_computing_is_refused(double):
    calls = itertools.count()

    @double.version("tired", on=host)
    def tired(x, out):
        if next(calls) < 20:
            np.multiply(x, 2, out=out)

    assert "after timing" in refused(double, "tired")


def test_an_answer_cached_by_identity_is_refused(double):
    answers = {}

    @double.version("cached", on=host)
    def cached(x):
        return answers.setdefault(x.ctypes.data, (2 * x, x))[0]  # x stays, and so its address

    assert "after timing" in refused(double, "cached")


def test_a_version_that_changes_its_input_is_refused_and_harms_no_other(double):
    @double.version("in place", on=host)
    def in_place(x):
        return 2 * x if x.size < 64 else np.multiply(x, 2, out=x)

    entry, other = measured(double, "in place", "NumPy", size=64)
    assert "changed its input" in entry.why and isinstance(other, Timing)


def test_a_version_that_raises_ends_only_itself(double):
    calls = itertools.count()

    @double.version("raises", on=host)
    def raises(x):
        if next(calls) >= 40:
            raise OSError("the fan fell off")
        return 2 * x

    numpy, raised = measured(double)
    assert isinstance(numpy, Timing) and raised.why == "OSError: the fan fell off"


# -- Work that is still going on when the launch returns.


class Queue(Clock):
    """A make-believe GPU: work is launched, goes on by itself, and sync() waits for it."""

    name, label = "queue", "make-believe"
    free_at = 0.0

    def launch(self, seconds):
        self.pass_by(1e-5)  # what the launch itself takes
        self.free_at = max(self.free_at, self.now) + seconds

    def sync(self):
        self.now = max(self.now, self.free_at)

    def mark(self):
        return 1e9 * max(self.free_at, self.now)  # an event: when the work gets there


def asynchronous(op, queue, monkeypatch):
    """A version that launches 5 ms of work and returns at once."""
    started(queue, monkeypatch)

    @op.version("asynchronous", on=queue)
    def version(x, out):
        queue.launch(5e-3)
        np.multiply(x, 2, out=out)

    return measured(op, "asynchronous")


def test_work_that_outlasts_its_launch_is_in_both_times(double, monkeypatch):
    entry = asynchronous(double, Queue(), monkeypatch)
    assert [*entry.samples, *entry.waits] == pytest.approx([5.01e-3] * 2 * len(entry.samples))


def test_an_answer_made_ready_beforehand_is_refused(double):
    """What a version prepares is not timed: so it may not be the answer."""

    @double.version("prepared", on=host, prepares=True)
    def prepared(x, out):
        answer = 2 * x
        return lambda: np.copyto(out, answer)

    entry = measured(double, "prepared")
    assert isinstance(entry, Absent) and "when its inputs had changed" in entry.why


def test_sending_compiling_and_fetching_are_times_of_their_own(double, monkeypatch):
    class Far(Clock):
        name, label = "far", "make-believe"

        def put(self, value):
            self.pass_by(2e-3)
            return super().put(value)

        def get(self, value):
            self.pass_by(3e-3)
            return super().get(value)

    far = started(Far(), monkeypatch)
    calls = itertools.count()

    @double.version("far", on=far)
    def version(x, out):
        far.pass_by(1e-4 if next(calls) else 0.05)  # compiles
        np.multiply(x, 2, out=out)

    for entry in timings(double, [8, 64], "far", budget=QUICK):
        found = entry.first, entry.h2d, entry.median, entry.d2h
        assert found == pytest.approx((0.05, 2e-3, 1e-4, 3e-3))
        assert entry.with_transfers == entry.h2d + entry.wait + entry.d2h


# -- Caches.


def test_cold_flushes_before_every_call_and_outside_the_time(double, clock, monkeypatch):
    flushed = itertools.count()

    def flush():
        next(flushed)
        clock.pass_by(2e-3)

    monkeypatch.setattr(rounds, "flusher", lambda backend: flush)
    takes(double, clock, "calm", 1e-4)
    entry = measured(double, "calm", cold=True)
    assert entry.cold and entry.calls == 1
    assert next(flushed) == len(entry.samples)
    assert entry.samples == pytest.approx([1e-4] * len(entry.samples))


def small_caches(monkeypatch, last_cache, free=math.inf, **ceilings):
    """A machine whose caches take little time to empty, and what its memory has shown."""
    best = max(ceilings.values(), default=None)
    card = SimpleNamespace(last_cache=last_cache, bandwidth=lambda _: best)
    monkeypatch.setattr(rounds, "machine", lambda: card)
    monkeypatch.setattr(rounds, "free_memory", lambda: free)
    monkeypatch.setattr(rounds, "cores", lambda: 2)


def test_to_flush_a_thread_for_each_core_reads_twice_the_last_cache(monkeypatch):
    small_caches(monkeypatch, 1 << 20)
    read, real = [], np.ones

    class Watched(np.ndarray):
        def max(self, **options):
            read.append((threading.get_ident(), self.nbytes))
            time.sleep(0.02)  # long enough that the next core's thread has begun
            return super().max(**options)

    monkeypatch.setattr(rounds.np, "ones", lambda length: real(length).view(Watched))
    rounds.flusher(host)()
    by_thread = Counter()
    for thread, nbytes in read:
        by_thread[thread] += nbytes
    assert list(by_thread.values()) == [2 << 20] * 2


def test_where_memory_is_too_short_to_empty_the_caches_no_figure_is_called_cold(
    double, monkeypatch
):
    for free, cold in (((8 << 20) - 1, False), (8 << 20, True)):
        small_caches(monkeypatch, 1 << 20, free=free)
        entry = measured(double, "NumPy", cold=True)
        assert entry.cold == cold
        assert bool(list(not_cold([entry], cold=True))) != cold


def test_a_cold_figure_that_beats_the_memory_is_left_out_and_says_so(double, clock, monkeypatch):
    """64 bytes in 1 ms: 64 kB/s, and the memory has shown 40 as it copies, 50 as it is read."""
    takes(double, clock, "calm", 1e-3)
    takes(double, clock, "slow", 2e-3)
    small_caches(monkeypatch, 1 << 10, read=5e4, copy=4e4)
    cold = Comparison("double", tuple(measured(double, "calm", "slow", cold=True)), "here", "")
    assert isinstance(cold.at("calm"), Absent) and "best is 50 kB/s" in cold.at("calm").why
    assert cold.best().version == "slow" and cold.speedup("slow", "calm").refused
    warm = measured(double, "calm")
    assert isinstance(warm, Timing), "a cache may be faster than the memory"


# -- Noise.


def test_a_noisy_neighbor_is_marked_and_no_speed_up_is_claimed(double, clock):
    takes(double, clock, "disturbed", [3e-3, 9e-3, 3e-3, 3e-3, 9e-3])
    takes(double, clock, "calm", 1e-3)
    comparison = compared(double, "disturbed", "calm", budget=1)
    assert comparison.at("disturbed").noise == "too noisy" and comparison.at("calm").noise == ""
    assert "disturbed" in comparison.speedup("disturbed", "calm").refused
    assert "too noisy" in repr(comparison.speedup("disturbed", "calm"))
    assert " ~" in repr(comparison)


def compared(op, *names, **options):
    return Comparison(op.name, tuple(measured(op, *names, **options)), "here", "today")


# -- When to stop.


@pytest.mark.parametrize(
    "samples, spent, stop",
    [
        ([1.0] * 10, 0.3, "settled"),
        ([1.0] * 9, 0.3, None),  # too few rounds
        ([1.0] * 50, 0.1, None),  # too short a time
        ([1.0, 1.5] * 20, 0.3, None),  # too wide an interval
        ([1.0, 1.5] * 20, 1.0, "time budget"),
        ([1.0], 1.0, "time budget"),
        ([1.0] * 10, 1.0, "settled"),  # known well, even at the last moment
    ],
)
def test_a_run_ends_when_it_is_known_well_or_the_budget_is_spent(samples, spent, stop):
    run = Run(problem=None, version=None, samples=samples, spent=spent)
    assert run.ended(1.0) == bool(stop)
    assert run.stop == (stop or "interrupted")


def test_the_interval_covers_the_true_median_nineteen_times_in_twenty():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(1000):
        samples = np.sort(rng.exponential(size=40))
        width = rounds.interval(list(samples)) * np.median(samples)
        low = samples[math.floor(20 - 0.98 * math.sqrt(40))]
        covered += low <= math.log(2) <= low + width
    assert 930 <= covered <= 990


def test_a_size_that_would_take_too_long_is_skipped_and_said_so(double, clock):
    @double.version("slow", on=clock)
    def slow(x):
        clock.pass_by(1e-3 * x.size)
        return 2 * x

    small, large = timings(double, [8, 64], "slow", budget=0.1)
    assert isinstance(small, Timing)
    assert large.why == "skipped: one call would take about 64 ms"


# -- Interruption.


def test_what_was_measured_before_ctrl_c_is_kept(double, clock, monkeypatch):
    turns, take = itertools.count(), Run.take

    def counted(run, again):
        if run.version.name == "interrupted" and run.problem.size == 8:
            next(turns)
        take(run, again)

    monkeypatch.setattr(Run, "take", counted)

    @double.version("interrupted", on=clock)
    def interrupted(x):
        if repr(turns) == "count(5)":  # in the fifth turn
            next(turns)
            raise KeyboardInterrupt
        clock.pass_by(1e-3)
        return 2 * x

    @double.version("absent", on=host)
    def absent(x):
        raise OSError("not here")

    takes(double, clock, "calm", 1e-3)
    kept, names = [], ("calm", "interrupted", "absent")
    with pytest.raises(KeyboardInterrupt):
        for entry in timings(double, [4, 8, 16], names, budget=0.05):
            kept.append(entry)
    stops = [(e.version, e.size, getattr(e, "stop", "absent")) for e in kept]
    assert stops[3:] == [("calm", 8, "interrupted"), ("interrupted", 8, "interrupted"),
                         ("absent", 8, "absent")]  # fmt: skip
    assert {stop for _, _, stop in stops[:3]} == {"time budget", "absent"}
    assert len(kept[4].samples) == 4 and gc.isenabled()
    assert "not here" in repr(Comparison("double", tuple(kept), "here", "today"))


# -- Threads and order.


@pytest.mark.parametrize(
    "cost, best",
    [({1: 1, 4: 50}, 1), ({1: 4, 4: 1}, 4), ({1: 1, 4: 1}, 1), ({1: 1, 4: 0.98}, 1)],
    ids=str,
)
def test_the_better_number_of_threads_is_kept(double, clock, monkeypatch, cost, best):
    """On a busy two-core machine, two threads were seen 50 times slower than one."""
    now = [1]

    @contextmanager
    def threads(count):
        now[0] = count
        yield
        now[0] = 1

    monkeypatch.setattr(rounds, "threads", threads)
    for module in (rounds, timer):
        monkeypatch.setattr(module, "thread_choices", lambda: (1, 4))

    @double.version("threaded", on=clock)
    def threaded(x):
        clock.pass_by(1e-3 * cost[now[0]], helpers=now[0] - 1)
        return 2 * x

    entry = measured(double, "threaded")
    assert entry.threads == best and entry.median == pytest.approx(1e-3 * cost[best])


def test_versions_take_turns_a_b_b_a_in_random_order(double, clock, monkeypatch):
    for name in "AB":
        takes(double, clock, name, 1e-3)
    turns, take = [], Run.take

    def noted(run, again):
        turns.append(run.version.name)
        take(run, again)

    monkeypatch.setattr(Run, "take", noted)
    monkeypatch.setattr(Run, "ended", lambda run, budget: len(run.samples) == 40)
    measured(double, *"AB", budget=60)
    a, b = "AB"
    quartets = [tuple(turns[i : i + 4]) for i in range(0, 80, 4)]
    assert set(quartets) == {(a, b, b, a), (b, a, a, b)}


def test_whoever_takes_over_the_cores_is_called_once_before_the_clock_runs(
    double, clock, monkeypatch
):
    """Others' threads may still spin on them, and its own sleep."""
    for name in ("one", "two"):
        takes(double, clock, name, 1e-3)
    turns, sample = [], Run.sample

    def noted(run, keep=True):
        turns.append((run.version.name, keep, len(run.samples)))
        return sample(run, keep)

    monkeypatch.setattr(Run, "sample", noted)
    measured(double, "one", "two")
    kept = [(n, turn) for n, turn in enumerate(turns) if turn[1] and turn[2]]
    assert len(kept) >= 4
    for n, (name, _, _) in kept:
        assert turns[n - 1][0] == name, "timed at once after another version"


def test_progress_counts_every_measurement(double):
    double.version("raises", on=host)(lambda x: 1 / 0)
    told = []
    list(timings(double, [8, 16], budget=QUICK, advance=lambda *step: told.append(step)))
    dones = [done for done, _, _ in told]
    assert dones == sorted(dones) and dones[-1] == 4
    assert {total for _, total, _ in told} == {4}


# -- Requests that cannot be met.


def test_a_size_that_is_none_is_refused_in_a_sentence(double):
    for size in (0, 1.5, "8", True, math.nan, 10**30, None):
        with pytest.raises(ValueError, match="A size is a whole number of at least 1"):
            list(timings(double, [size]))


def test_a_size_beyond_the_memory_is_refused_before_anything_is_measured(double):
    double.version("never run", on=host)(lambda x: pytest.fail("it was run"))
    with pytest.raises(ValueError, match=r"would need some .*B .*Choose a smaller size\."):
        list(timings(double, [8, 10**15]))
