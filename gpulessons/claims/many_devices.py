"""Claims of the fourth part: many machines, here two processes that share one."""

from statistics import median

from gpulessons import units
from gpulessons.hardware import cores
from gpulessons.hardware.budget import capped
from gpulessons.measure.results import quartiles
from gpulessons.units import percent
from gpulessons.workers import launch

from .claim import A_SECOND_CORE, QUIET, claim, holds, limits, refuted, untested, weakest
from .evidence import counted, live, missing

# What the workers are made of brings PyTorch: it is imported where it is used.

ONE_CORE = "two processes would take turns on the one core that this machine gives them."
BUSY = 0.25  # of the cores, by others: then nothing is said of speed


def by_two(*runs):
    """([(the first worker's result, the second's), …] of several programs, what others used)."""
    before = others_share()
    found = launch("several", workers=2, tell=lambda *_: None, runs=list(runs))
    return list(zip(*found, strict=True)), max(before, others_share())


def others_share():
    """The share of this machine's cores that is busy while we only wait."""
    import psutil

    return psutil.cpu_percent(capped(0.3)) / 100


def unless_busy(what, value, unit, busy, spread=None):
    """A live figure, if the cores were free: two processes are given more of busy ones than one."""
    if busy > BUSY:
        return missing(what, f"others used {busy:.0%} of the cores; let the machine rest", QUIET)
    return live(what, value, unit, spread)


def own_cores():
    return counted("cores", cores())


# Inference: nothing is sent between the workers.

QUESTIONS, HIDDEN = 8192, 1024


def answers_by_two(given):
    """Two processes share the questions, and each has the whole network: their answers beside
    those of one process, and the time beside one's.
    """
    import torch

    from gpulessons.workers.training import examples, network

    inference = {"program": "inference", "hidden": HIDDEN, "questions": QUESTIONS}
    ((first, second),), busy = by_two(inference)
    (x, _), _ = examples()
    with torch.no_grad():
        expected = network(HIDDEN)(x[torch.arange(QUESTIONS) % len(x)]).argmax(1).tolist()
    wrong = sum(a != b for rank, each in enumerate((first, second))
                for a, b in zip(each.labels, expected[rank::2], strict=True))  # fmt: skip
    gain = first.alone / max(first.seconds, second.seconds)
    return {
        "cores": own_cores(),
        "unlike": counted("answers unlike those of one process", wrong),
        "gain": unless_busy("two processes over one", gain, "×", busy),
        "travels": counted("an example and its answer", x[0].nbytes + 8, "bytes"),
    }


@claim(
    13, "Distributing inference is simple: each example on another machine.", source="B",
    notebooks="12", measure=answers_by_two,
    changes="Two machines, where the journey is timed: then it may hold. Against it speak a "
    "network too large for one machine, and a link so slow that the examples take longer to travel "
    "than to be answered.",
)  # fmt: skip
def inference_is_simple(cores, unlike, gain, travels):
    if unlike:
        return refuted(f"{units.count(unlike)} of {units.count(QUESTIONS)} answers differ from "
                       "those of one process.")  # fmt: skip
    if cores == 1:
        return untested(f"The answers are those of one process, but {ONE_CORE}", A_SECOND_CORE)
    found = (f"Two processes give one's {units.count(QUESTIONS)} answers {gain:.2f} times as fast, "
             f"and tell each other nothing: {travels:.0f} bytes travel for an example and its "
             "answer. The journey is counted, not timed: both processes were on one "
             "machine")  # fmt: skip
    more = " What they share, cores and memory, keeps them from more." if gain < 1.4 else ""
    return limits(f"{found}.{more}")


# A larger batch: fewer steps, and how many fewer?

BATCHES = 16, 128, 1024  # the last is most of the examples that there are
RATES = 1.0, 2.0, 0.5, 4.0


def steps_to_a_loss(given):
    """One network learns the digits to the same loss with batches of 16, 128 and 1,024 examples,
    each with the best of four learning rates, from three beginnings: the steps that it takes.
    """
    from gpulessons.workers.batches import returns

    return {
        f"steps_{found.batch}": live(f"steps with batches of {found.batch:,}", found.steps,
                                     spread=(min(found.runs), max(found.runs)))
        for found in returns(BATCHES, rates=RATES, seeds=3)
    }  # fmt: skip


@claim(
    14, "Larger minibatches usually give less than linear returns in optimization.", source="B",
    notebooks="12", measure=steps_to_a_loss,
    changes="A task whose gradients are so noisy that every further example still says something "
    "new: there the first doublings of a small batch are worth nearly their price.",
)  # fmt: skip
def returns_are_less_than_linear(steps_16, steps_128, steps_1024):
    small, large = steps_16 / steps_128, steps_128 / steps_1024  # looks are 3 % apart
    found = (f"From batches of 16 to 128 the steps fall by a factor of {small:.2g}, from 128 to "
             f"1,024 by {large:.2g}; linear would be 8 each")  # fmt: skip
    if small * large >= 64:
        return refuted(f"{found}.")
    if max(small, large) >= 8:
        return limits(f"{found}. Less than linear in all, and not everywhere.")
    return limits(f"{found}. So it is in this one small task, whose largest batch is most of its "
                  "data.")  # fmt: skip


# Nobody waits: shared weights, without a lock.


def sooner_without_locks(given):
    """Two processes learn with shared weights and no lock, and one learns alone: the time to the
    same loss, with sparse examples (30 of 2 million weights each) and with dense ones (30 of 64).
    """
    from gpulessons.workers.programs import hogwild

    ways = [hogwild.ALONE, hogwild.FREE]
    common = {"program": "hogwild", "ways": ways}
    ((sparse, _), (dense, _)), busy = by_two(
        {"examples": 1_600_000, "rounds": 5, **common},
        {"examples": 300_000, "rounds": 7, "features": 64, "rate": 1e-6, **common},
    )
    pace, worth = factors(sparse)
    return {
        "cores": own_cores(),
        "sooner": agreed("sparse: two without a lock over one, to the same loss", sparse, busy),
        "pace": unless_busy("sparse: updates in a second", median(pace), "×", busy),
        "worth": live("sparse: what an update is worth", median(worth), "×"),
        "dense": agreed(
            "dense: two without a lock over one, to the same loss", dense, busy, contended=True
        ),
    }


def factors(found):
    """Round by round: updates a second of two over one, and updates that one needs for the same
    loss over those that two need.
    """
    from gpulessons.workers.programs import hogwild

    both = list(zip(found[hogwild.ALONE], found[hogwild.FREE], strict=True))
    goals = [hogwild.goal(pair) for pair in both]
    worth = [hogwild.reached(one.by_updates, goal) / hogwild.reached(two.by_updates, goal)
             for (one, two), goal in zip(both, goals, strict=True)]  # fmt: skip
    return [time / each for time, each in zip(hogwild.gains(found), worth, strict=True)], worth


def agreed(what, found, busy, contended=False):
    """The rounds' median, if most of them agree who was there first, and nothing speaks against
    them: notebook 13 asks the same of its own rounds. contended: all write the same weights; two
    who lose by that need not lose as much to the target as to the end."""
    from gpulessons.workers.programs import hogwild

    times = hogwild.gains(found)
    low, high = quartiles(times)
    if (doubts := hogwild.doubts(found)) and not (contended and high < 1):
        return missing(what, "; ".join(doubts), QUIET)
    if low < 1 < high:
        why = "the machine was too noisy: rounds disagree who was there first"
        return missing(what, why, QUIET)
    return unless_busy(what, median(times), "×", busy, (low, high))


@claim(
    15, "Asynchronous lock-free SGD: each step improves less, but steps come so much faster that "
    "learning is faster overall.", source="B", notebooks="13", measure=sooner_without_locks,
    changes="Denser examples: the more weights they share, the more two processes wait for each "
    "other's cache lines and overwrite each other's updates.",
)  # fmt: skip
def lock_free_is_sooner(cores, sooner, pace, worth, dense=None):
    if cores == 1:
        return untested(f"Nothing to compare: {ONE_CORE}", A_SECOND_CORE)
    return weakest(
        each_step_improves_less=worth_of_a_step(worth),
        learning_is_faster=who_is_sooner(sooner, pace, dense),
    )


def worth_of_a_step(worth):
    found = f"With sparse examples a step is worth {worth:.2f} times one of a process alone"
    if worth > 0.9:
        return limits(f"{found}: no less, as far as one can see.")
    return holds(f"{found}.")


def who_is_sooner(sooner, pace, dense):
    found = (f"With sparse examples two processes without a lock {beside_one(sooner)}, with "
             f"{pace:.2f} times as many updates a second")  # fmt: skip
    if dense:
        found = f"{found}. With dense examples they {beside_one(dense)}"
    if 0.9 < sooner < 1.1:
        return untested(f"{found}. With sparse examples that is too near to 1 to tell: both cores "
                        "must be free.", QUIET)  # fmt: skip
    if sooner < 1:
        return refuted(f"{found}.")
    if not dense:
        return limits(f"{found}. With dense ones the machine was too noisy to tell.")
    return holds(f"{found}.") if dense > 1.1 else limits(f"{found}.")


def beside_one(factor):
    if factor >= 1:
        return f"reach the same loss {factor:.2f} times sooner than one"
    return f"take {1 / factor:.1f} times as long as one to the same loss"


# One example on two machines: the layers cut, or between the layers.

WIDE, NARROW, MANY = 2048, 64, 128


def network_cut_in_two(given):
    """A network cut in two, through its layers and between them: the time beside one process's, of
    a pair of layers and of a pipeline's training step.
    """
    (pairs, stepped), busy = by_two(
        {"program": "measure_split", "widths": [NARROW, WIDE], "batches": [1, MANY], "rounds": 9},
        {"program": "measure_pipeline", "micros": [1, 2, 4], "schedules": ["1F1B"], "rounds": 4},
    )
    pair = {(each.width, each.batch): each.alone / each.split for each in pairs[0]}
    gains = {
        "many": (f"{MANY} examples, layers {WIDE:,} wide", pair[WIDE, MANY]),
        "one": (f"one example, layers {WIDE:,} wide", pair[WIDE, 1]),
        "narrow": (f"{MANY} examples, layers {NARROW} wide", pair[NARROW, MANY]),
        "training": ("a pipeline's training step", pipeline_gain(stepped[0])),
    }
    return {
        "cores": own_cores(),
        **{name: unless_busy(f"{what}: two over one", factor, "×", busy)
           for name, (what, factor) in gains.items()},
    }  # fmt: skip


def pipeline_gain(runs):
    """The quickest way of one process over the quickest of two."""
    alone = [run.seconds for run in runs if run.schedule == "alone"]
    return min(alone) / min(run.seconds for run in runs if run.schedule != "alone")


@claim(
    16, "Model parallelism: several machines on one example, for inference and training.",
    source="BE", notebooks="14", measure=network_cut_in_two,
    changes="A faster link between the machines, or wider layers: a sum costs its latency, "
    "however little is summed. And a network that fits on no machine has no choice.",
)  # fmt: skip
def networks_can_be_cut(cores, many, one, narrow, training):
    if cores == 1:
        return untested(f"Whether it pays cannot be seen: {ONE_CORE}", A_SECOND_CORE)
    found = (f"Two processes answer {MANY} examples {many:.2f} times as fast as one through layers "
             f"{WIDE:,} wide, a single example {one:.2f} times, and {MANY} through layers {NARROW} "
             f"wide {narrow:.2f} times; as a pipeline they train {training:.2f} times as fast"
             )  # fmt: skip
    gains = many, one, narrow, training
    if max(gains) < 1:
        return refuted(f"{found}: cut in two, a network is slower in every case.")
    pays = "pays in every case" if min(gains) > 1.1 else "does not pay in every case"
    return limits(f"{found}. It {pays}. Both processes were on one machine: no link between "
                  "machines was timed.")  # fmt: skip


# Training with shared minibatches: a gradient is sent at every step.

SLOW_LINK = 125e6  # bytes/s: a gigabit a second
STEPS = 30
DEEP = {"hidden": 512, "depth": 4, "batch": 256, "steps": STEPS}


def told_at_every_step(given):
    """Two processes train one network, each with half of every minibatch: seconds of computing and
    of all-reduce in a step, and bytes sent, plain and in 8 bits. A slower link is a model.
    """
    (plain, packed), busy = by_two({"how": "flat", **DEEP}, {"how": "8-bit", **DEEP})
    step, step_packed = (max(each.seconds for each in runs) for runs in (plain, packed))
    computing = min(step, max(each.computing for each in plain))
    return {
        "cores": own_cores(),
        "step": unless_busy("a step", step, "s", busy),
        "computing": unless_busy("of it computing", computing, "s", busy),
        "step_packed": unless_busy("a step that sends 8 bits a number", step_packed, "s", busy),
        "size": counted("gradients that each sends in a step", plain[0].bytes / STEPS, "bytes"),
        "small": counted("the same in 8 bits a number", packed[0].bytes / STEPS, "bytes"),
    }


@claim(
    25, "Data parallelism needs a fast network; what is sent, and when, decides its efficiency.",
    source="E", notebooks="12", measure=told_at_every_step,
    changes="More computing for every number that is sent: a larger share of examples for each "
    "worker, or a convolution, whose few weights meet many pixels. Two machines with a slow link "
    "between them would measure what is modelled.",
)  # fmt: skip
def the_network_decides(cores, step, computing, step_packed, size, small):
    if cores == 1:
        return untested(f"A step cannot be measured: {ONE_CORE}", A_SECOND_CORE)
    share, slow = computing / step, computing / (step + size / SLOW_LINK)
    packed = computing / (step_packed + small / SLOW_LINK)
    hidden = computing / max(step, size / SLOW_LINK)  # all sent while computing
    found = (f"Of a step of two processes {percent(share)} is computing, the rest sends "
             f"{units.size(size)} of gradients. By a model, not measured: over 1 Gbit/s it would "
             f"be {percent(slow)}")  # fmt: skip
    other = (f"With {percent(small / size)} of the bytes it would be {percent(packed)}, and with "
             f"all sent while computing {percent(hidden)}, by the same model")  # fmt: skip
    return weakest(
        it_needs_a_fast_network=limits(f"{found}.") if slow <= 0.9 * share
        else refuted(f"{found}: a slow link takes little."),
        what_is_sent_and_when=limits(f"{other}. No slower link was timed.")
        if max(packed, hidden) >= 1.1 * slow else refuted(f"{other}: neither changes much."),
    )  # fmt: skip


