"""The programs that measure: what they do is all there and right. How long it took, nobody asks."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from gpulessons import launch
from gpulessons.workers.programs import pipeline
from gpulessons.workers.schedules import SCHEDULES
from gpulessons.workers.training import examples, network

WORLDS, QUESTIONS, MICROS = [1, 2, 3], 7, [1, 4]
SMALL = {"hidden": 4, "blocks": 2}
JOBS = {
    "inference": {"hidden": 4, "questions": QUESTIONS},
    "measure_links": {"sizes": [4096, 6], "rounds": 2},
    "measure_pipeline": {"micros": MICROS, "batch": 3, "rounds": 1, **SMALL},
    "measure_split": {"widths": [3, 1], "batches": [2], "rounds": 2},
    "pipeline": {"batch": 10**6, "micro": 3, "rounds": 1, **SMALL},  # more than there are
}


@pytest.fixture(scope="module")
def found():
    """Each worker's {world: [results]}."""
    jobs = [(f"gpulessons.workers.programs.{name}", options) for name, options in JOBS.items()]
    return launch("many_worlds", workers=3, worlds=WORLDS, jobs=jobs)


def of(found, world, program):
    return [worker[world][list(JOBS).index(program)] for worker in found[:world]]


@pytest.mark.parametrize("world", WORLDS)
def test_every_question_is_answered_by_one_worker_as_one_network_answers_it(found, world):
    (x, _), _ = examples()
    answers = of(found, world, "inference")
    due = network(4)(x[:QUESTIONS]).argmax(1).tolist()
    assert [answers[n % world].labels[n // world] for n in range(QUESTIONS)] == due
    assert sum(len(each.labels) for each in answers) == QUESTIONS
    assert [each.alone > 0 for each in answers] == [True, *[False] * (world - 1)]
    for each in answers:  # the quickest round, and all of them
        assert (each.seconds, each.alone) == tuple(map(min, zip(*each.rounds, strict=True)))


@pytest.mark.parametrize("world", WORLDS)
def test_each_way_is_measured_at_each_size_in_the_bytes_that_were_there_to_sum(found, world):
    samples, *others = of(found, world, "measure_links")
    assert all(each == samples for each in others)  # all tell the time of the slowest
    assert {one.workers for one in samples} == {world}
    due = [(way, n) for n in (4096, 4) for way in ("backend", "naive", "tree", "ring")]
    assert [(one.algorithm, one.bytes) for one in samples] == due


@pytest.mark.parametrize("world", WORLDS)
def test_each_schedule_is_measured_with_each_number_of_microbatches(found, world):
    measured = of(found, world, "measure_pipeline")
    assert len({tuple(run.seconds for run in runs) for runs in measured}) == 1  # of the slowest
    for rank, runs in enumerate(measured):
        asked = [(name, micro) for micro in MICROS for name in ("alone", *SCHEDULES)]
        assert [(run.schedule, run.micro) for run in runs] == asked
        for run in runs:
            done = sorted((task.stage, task.kind, task.micro_batch) for task in run.tasks)
            due = sorted((rank, kind, m) for kind in "FB" for m in range(run.micro))
            assert done == due * (run.schedule != "alone")
            assert run.seconds >= max((task.stop for task in run.tasks), default=0)
            assert len(run.rounds) == 1 and run.seconds == min(run.rounds)


@pytest.mark.parametrize("world", WORLDS)
def test_a_pair_of_layers_is_measured_at_each_width_even_where_some_have_nothing_of_it(
    found, world
):
    pairs, *others = of(found, world, "measure_split")
    assert all(each == pairs for each in others)
    assert [(pair.width, pair.batch) for pair in pairs] == [(3, 2), (1, 2)]


@pytest.mark.parametrize("world", WORLDS)
def test_a_batch_of_more_than_there_are_has_the_mean_loss_of_all(found, world):
    (x, labels), _ = examples(torch.float64)
    (whole,) = pipeline.stages(*SMALL.values(), 1)
    due = cross_entropy(whole(x), labels).item()
    assert of(found, world, "pipeline")[-1].loss == pytest.approx(due, rel=1e-9)
