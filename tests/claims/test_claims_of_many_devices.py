"""Many devices: each verdict turns when its figures do."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from turning import assert_measures_what_is_judged, assert_turns, verdict_of

from gpulessons.claims import CLAIMS, Given, many_devices
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided
from gpulessons.workers import batches
from gpulessons.workers.batches import Reached
from gpulessons.workers.programs.data_parallel import Trained
from gpulessons.workers.programs.hogwild import Ran
from gpulessons.workers.programs.inference import Answered
from gpulessons.workers.programs.measure_pipeline import Run
from gpulessons.workers.training import examples, network

ANSWERS = {"cores": 2, "unlike": 0, "gain": 1.9, "travels": 264}
HOGWILD = {"cores": 2, "sooner": 1.5, "pace": 1.6, "worth": 0.95, "dense": 0.12}
STEPS = {"steps_16": 234, "steps_128": 132, "steps_1024": 99}
CUT = {"cores": 2, "off": 0, "many": 1.9, "one": 0.9, "narrow": 0.3, "training": 1.2}
TOLD = {"cores": 2, "step": 1e-2, "computing": 6e-3, "step_packed": 1.5e-2, "size": 3.2e6,
        "small": 8e5, "slow": 0.16, "slow_packed": 0.27, "slow_hidden": 0.22}  # fmt: skip
TURNS = {
    13: [
        (ANSWERS, LIMITS),
        ({**ANSWERS, "gain": 1.1}, LIMITS),
        ({**ANSWERS, "unlike": 3}, REFUTED),
        ({**ANSWERS, "cores": 1}, UNTESTED),
    ],
    14: [
        (STEPS, LIMITS),
        ({**STEPS, "steps_16": 9000, "steps_128": 1000, "steps_1024": 900}, LIMITS),
        ({**STEPS, "steps_16": 6400, "steps_128": 800, "steps_1024": 100}, REFUTED),
    ],
    15: [
        (HOGWILD, LIMITS),
        ({**HOGWILD, "dense": 1.4}, LIMITS),
        ({**HOGWILD, "worth": 0.8, "dense": 1.4}, HOLDS),
        ({**HOGWILD, "worth": 1.3, "dense": 1.4}, LIMITS),
        ({**HOGWILD, "worth": 0.8, "dense": None}, LIMITS),
        ({**HOGWILD, "sooner": 1.02}, UNTESTED),
        ({**HOGWILD, "sooner": None}, UNTESTED),
        ({**HOGWILD, "sooner": 0.7}, REFUTED),
        ({**HOGWILD, "cores": 1}, UNTESTED),
    ],
    16: [
        (CUT, LIMITS),
        ({**CUT, "one": 1.5, "narrow": 1.3}, LIMITS),
        ({**CUT, "many": 0.8, "training": 0.9}, LIMITS),
        ({**CUT, "off": 7}, REFUTED),
        ({**CUT, "cores": 1}, UNTESTED),
        ({**CUT, **dict.fromkeys(("many", "one", "narrow", "training"))}, UNTESTED),
        ({**CUT, "cores": 1, "off": 7}, REFUTED),
    ],
    25: [
        (TOLD, LIMITS),
        ({**TOLD, "slow": 0.58}, REFUTED),
        ({**TOLD, "slow_packed": 0.16, "slow_hidden": 0.16}, REFUTED),
        ({**TOLD, "cores": 1}, UNTESTED),
        ({**TOLD, **dict.fromkeys(("step", "computing", "step_packed"))}, UNTESTED),
    ],
}


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    assert_measures_what_is_judged(number)


# -- What the workers return, made up: the figures follow it, and the verdict follows them.


@pytest.fixture
def two(monkeypatch):
    """two(number, results of the first worker, of the second): the verdict about the claim."""
    monkeypatch.setattr(many_devices, "cores", lambda: 2)
    monkeypatch.setattr(many_devices, "others_share", lambda: 0.0)

    def judged(number, first, second):
        monkeypatch.setattr(many_devices, "launch", lambda *names, **options: [first, second])
        claim = CLAIMS[number]
        return decided(claim, dict(claim.measure(Given())))

    return judged


def answers(wrong=0):
    """What two workers answer as one network does; the last of them so often wrong."""
    (x, _), _ = examples()
    x = x[torch.arange(many_devices.QUESTIONS) % len(x)]
    with torch.no_grad():
        due = network(many_devices.HIDDEN)(x).argmax(1).tolist()
    due[len(due) - wrong :] = [10] * wrong
    return [Answered(tuple(due[::2]), 1.0, 1.9)], [Answered(tuple(due[1::2]), 1.0, 0.0)]


def test_one_answer_that_differs_refutes(two):
    right = two(13, *answers())
    assert right.word == LIMITS and "both processes were on one machine" in right.why
    wrong = two(13, *answers(wrong=1))
    assert (wrong.word, "1 of 8,192 answers differ" in wrong.why) == (REFUTED, True)


def test_answers_that_come_no_sooner_are_a_limit(two):
    first, (second,) = answers()
    late = two(13, first, [replace(second, seconds=1.8)])
    assert late.word == LIMITS and "keeps them from more" in late.why


@pytest.mark.parametrize(("steps", "word"), [((640, 80, 10), REFUTED), ((640, 320, 160), LIMITS)])
def test_returns_are_those_of_the_steps(monkeypatch, steps, word):
    sizes = zip((16, 128, 1024), steps, strict=True)
    found = [Reached(batch, 1.0, n, 1.0, (n, n)) for batch, n in sizes]
    monkeypatch.setattr(batches, "returns", lambda *sizes, **options: found)
    verdict = decided(CLAIMS[14], dict(CLAIMS[14].measure(Given())))
    assert verdict.word == word
    assert word == REFUTED or "by a factor of 2, " in verdict.why


def raced(seconds, updates):
    """{way: rounds}: one process, then two that end so many times as late, after more updates."""

    def ran(factor, more):
        curve = tuple((factor * at, 0.7 - 0.1 * at) for at in (0.0, 1.0, 2.0))
        return (Ran(1, 2 * factor, 0.0, curve, tuple(round(100 * more * n) for n in range(3))),)

    return {"alone": ran(1.0, 1.0), "no lock": ran(seconds, updates)}


@pytest.mark.parametrize(
    ("sparse", "dense", "word"), [(0.5, 0.5, HOLDS), (0.5, 5, LIMITS), (2, 5, REFUTED)]
)
def test_who_is_sooner_is_read_off_the_curves(two, sparse, dense, word):
    mine = [raced(sparse, 1.25), raced(dense, 1.0)]
    verdict = two(15, mine, mine)
    assert verdict.word == word
    assert "a step is worth 0.80 times one of a process alone" in verdict.why
    told = f"{1 / sparse:.2f} times sooner" if sparse < 1 else f"take {sparse:.1f} times as long"
    assert told in verdict.why
    assert dense < 1 or f"With dense examples they take {dense:.1f} times as long" in verdict.why


def test_speed_on_busy_cores_is_no_figure():
    assert many_devices.unless_busy("two", 1.5, "×", busy=0.1).value == 1.5
    assert "others used 60% of the cores" in many_devices.unless_busy("two", 1.5, "×", busy=0.6).why


def rounds_of(*gains):
    """{way: rounds}: two without a lock are so many times sooner, round by round."""
    each = [raced(1 / gain, 1.0) for gain in gains]
    return {way: tuple(one[way][0] for one in each) for way in ("alone", "no lock")}


def test_rounds_that_disagree_who_was_there_first_are_no_figure():
    agree, disagree = rounds_of(1.2, 1.3, 1.4, 1.5), rounds_of(0.5, 0.6, 1.4, 1.5)
    assert many_devices.agreed("two", agree, busy=0.1).value == pytest.approx(1.35)
    assert "noisy" in many_devices.agreed("two", disagree, busy=0.1).why
    assert "others used" in many_devices.agreed("two", agree, busy=0.6).why


def test_two_who_lose_by_contention_may_lose_more_to_the_target_than_to_the_end():
    (two,) = (found := rounds_of(0.25))["no lock"]
    found["no lock"] = (replace(two, seconds=two.seconds / 2),)
    assert many_devices.agreed("two", found, busy=0.1, contended=True).value == pytest.approx(0.25)
    assert "on the way" in many_devices.agreed("two", found, busy=0.1).why


def test_more_than_two_cores_can_give_is_no_figure_but_a_doubt(two):
    assert "more than 2 cores can give" in many_devices.agreed("two", rounds_of(3.3), busy=0.1).why
    mine = [raced(1 / 3.3, 1.25), raced(5, 1.0)]
    verdict = two(15, mine, mine)
    assert verdict.word == UNTESTED and "preempted" in verdict.why


def test_the_share_of_others_is_a_share():
    assert 0 <= many_devices.others_share() <= 1


def test_a_pipelines_gain_is_the_best_of_one_over_the_best_of_two():
    runs = [Run("alone", 1, 3.0, ()), Run("alone", 2, 2.0, ()), Run("1F1B", 2, 1.0, ())]
    assert many_devices.pipeline_gain(runs) == 2.0


def test_a_gradient_that_differs_is_seen():
    due = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    assert many_devices.differ(due.tolist(), due) == 0
    assert many_devices.differ((due + 1e-12).tolist(), due) == 0
    assert many_devices.differ([[1.0, 2.1], [3.0, 4.0]], due) == 1


@pytest.mark.parametrize(("computing", "word"), [(1e-3, LIMITS), (2.0, REFUTED)])
def test_who_computes_long_minds_no_slow_link(two, computing, word):
    events = tuple(("compute", 0.0, computing / 2) for _ in range(2))
    plain, packed = (
        Trained((), 0.9, 1.1 * computing, size * many_devices.STEPS, (), events)
        for size in (3_200_000, 800_000)
    )
    verdict = two(25, [plain, packed], [plain, packed])
    assert verdict.word == word
    assert word == REFUTED or "With a quarter of the bytes" in verdict.why


def test_where_cutting_pays_is_said():
    everywhere, somewhere, nowhere = (
        verdict_of(16, **{**CUT, **dict.fromkeys(("one", "narrow", "training"), rest),
                          "many": most}).why
        for most, rest in ((1.9, 1.5), (1.9, 0.5), (0.9, 0.5))
    )  # fmt: skip
    assert "paid in every case" in everywhere
    assert "did not pay in every case" in somewhere
    assert "paid in no case" in nowhere


def test_the_claims_are_there_without_pytorch():
    said = "import sys; from gpulessons import claims; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_the_largest_batch_is_most_of_the_examples():
    (x, _), _ = examples()
    assert len(x) / 2 < max(many_devices.BATCHES) <= len(x)
