"""A verdict that cannot turn is no verdict: false figures before each judge, and the word due."""

import re

import pytest

from gpulessons.claims import CLAIMS, Figure
from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED
from gpulessons.claims.judging import decided

NO_GPU = {"gpu_shuffled": None, "gpu_sorted": None}

# {claim: (figures, their word, then changes of them and the words due)}
TURNS = {
    1: ({"talk": 0, "cores": 8, "sigmoid": 7.6, "busy": 7.9, "relu": 1e10, "relu_dealt": 7e10},
        HOLDS, ({"relu": None}, LIMITS), ({"relu_dealt": 4e10}, LIMITS),
        ({"cores": 2, "sigmoid": 1.9, "busy": 1.9, "relu_dealt": 1.9e10}, LIMITS),
        ({"sigmoid": 4.0}, LIMITS), ({"sigmoid": 1.1}, REFUTED), ({"talk": 1}, REFUTED),
        ({"busy": 1.0}, UNTESTED), ({"cores": 1}, UNTESTED), ({"sigmoid": None}, UNTESTED)),
    2: ({"workers": 50.0, "costs": 300.0}, LIMITS, ({"costs": 0.8}, REFUTED),
        ({"workers": None, "costs": None}, UNTESTED)),
    3: ({"alike": 1.9, "different": 1.8, "disagree": 2, "agree": 1, "gpu_shuffled": 3e-4,
         "gpu_sorted": 1e-4}, HOLDS, ({"gpu_shuffled": 1.05e-4}, REFUTED),
        ({"different": 1.0}, REFUTED), ({"different": 1.0, "alike": 1.0}, UNTESTED),
        (NO_GPU, UNTESTED)),
    4: ({"theirs": 3e13, "product": 3e11, "gpu_price": 20.0, "gpu_gain": 30.0}, LIMITS,
        ({"product": None}, LIMITS), ({"gpu_gain": 0.8}, REFUTED), ({"gpu_price": 0.9}, REFUTED),
        ({"gpu_price": None}, UNTESTED)),
    5: ({"pixels": 1500, "different": 0, "drawings": 11, "launches": 2, "look_ups": 65},
        LIMITS, ({"different": 1}, REFUTED), ({"drawings": 2, "look_ups": 1}, REFUTED)),
    6: ({"fcn": 0.4, "resnet": 0.1, "lstm": 0.2, "gpu_fcn": 20.0, "gpu_resnet": 8.0,
         "gpu_lstm": 3.0}, LIMITS, ({"gpu_lstm": None}, LIMITS),
        ({"gpu_fcn": 0.9, "gpu_resnet": 0.9, "gpu_lstm": 0.5}, REFUTED), ({"fcn": None}, UNTESTED),
        (dict.fromkeys(("gpu_fcn", "gpu_resnet", "gpu_lstm")), UNTESTED)),
    7: ({"products": 0.8, "loop": 120.0, "objects": 40.0, "gpu_products": 0.9}, LIMITS,
        ({"objects": 1.1}, HOLDS), ({"gpu_products": 0.2}, REFUTED), ({"loop": 1.1}, REFUTED),
        ({"gpu_products": None}, UNTESTED), ({"products": 0.2}, REFUTED)),
    8: ({"calls": 880, "separate": 6e-5, "fused": 1e-5}, LIMITS, ({"fused": 7e-5}, REFUTED)),
    9: ({"rent": 5.0}, LIMITS, ({"rent": 0.0}, HOLDS), ({"rent": 100.0}, REFUTED),
        ({"rent": None}, UNTESTED)),
    10: ({"different": 0, "corners": 0.9, "wide": 86.0, "lanes": 0.98, "picture": 0.86, "talk": 0},
         LIMITS, ({"wide": 2.0, "picture": 0.99}, HOLDS),
         ({"different": 3}, REFUTED), ({"talk": 256}, REFUTED), ({"picture": 0.3}, REFUTED)),
    11: ({"pixels": 1.2, "pixel_steps": 2.7, "packing": 8.0,
          "gpu_shuffled": 3e-4, "gpu_sorted": 1e-4}, LIMITS, ({"packing": 1.1}, HOLDS),
         ({"gpu_shuffled": 1e-4}, REFUTED), (NO_GPU, UNTESTED)),
    12: ({"memory": 2e10, "activation": 1.8e10, "optimizer": 1.2e10, "activation_kept": 9e10,
          "optimizer_kept": 6e10, "moved": 1.5, "product": 40.0, "fits": 2e7}, LIMITS,
         ({"fits": None}, UNTESTED), ({"activation_kept": 1.9e10}, REFUTED),
         ({"optimizer_kept": 1.2e10}, REFUTED), ({"memory": None}, UNTESTED)),
    13: ({"cores": 2, "unlike": 0, "gain": 1.9, "travels": 264}, LIMITS, ({"unlike": 3}, REFUTED),
         ({"cores": 1}, UNTESTED)),
    14: ({"steps_16": 234, "steps_128": 132, "steps_1024": 99}, LIMITS,
         ({"steps_16": 6400, "steps_128": 800, "steps_1024": 100}, REFUTED)),
    15: ({"cores": 2, "sooner": 1.5, "pace": 1.6, "worth": 0.95, "dense": 0.12}, LIMITS,
         ({"worth": 0.8, "dense": 1.4}, HOLDS), ({"worth": 0.8, "dense": None}, LIMITS),
         ({"sooner": 1.02}, UNTESTED), ({"sooner": 0.7}, REFUTED), ({"cores": 1}, UNTESTED)),
    16: ({"cores": 2, "many": 1.9, "one": 0.9, "narrow": 0.3, "training": 1.2}, LIMITS,
         ({"many": 0.8, "training": 0.9}, REFUTED), ({"cores": 1}, UNTESTED),
         ({"many": None}, UNTESTED)),
    17: ({"one": 0.96, "batch": 0.95, "narrow": 0.1, "alone": 10.0}, LIMITS,
         ({"narrow": 0.7}, LIMITS), ({"narrow": 0.7, "alone": 1.1}, HOLDS),
         ({"one": 0.3}, REFUTED), ({"batch": 0.3}, REFUTED)),
    18: ({"terms": 576, "additions": 7e6, "rounds": 10, "wrong": 0.03}, LIMITS,
         ({"rounds": 1}, HOLDS), ({"rounds": 575}, REFUTED), ({"wrong": 100.0}, REFUTED)),
    19: ({"merged": 1.2, "batch": 6.0, "longer": 2.0, "chain": 9.0, "gpu_wide": 12.0,
          "gpu_narrow": 0.4}, LIMITS, ({"gpu_narrow": 2.0}, HOLDS), ({"gpu_wide": 0.8}, REFUTED),
         ({"chain": 1.0}, REFUTED), ({"gpu_wide": None}, UNTESTED),
         ({"gpu_wide": None, "longer": 1.0}, REFUTED)),
    20: ({"core": 3e9, "k80": 2e9, "gpu_multiprocessor": 5e11}, LIMITS, ({"core": 1e11}, REFUTED),
         ({"core": 1e9}, REFUTED)),
    21: ({"full": 20, "tree": 1.4, "path_few": 7.5, "path": 10.6, "kernels": 4, "faults": 0,
          "compiled": 4}, REFUTED, ({"faults": 1}, UNTESTED), ({"faults": 1, "path": 240}, REFUTED),
         ({"compiled": None}, UNTESTED), ({"compiled": 3}, UNTESTED)),
    22: ({"forest": 2e-3, "found": 0.93, "brute": 1.5e-2, "gpu_brute": 1e-3, "gpu_ahead": 2e7},
         LIMITS, ({"gpu_brute": None}, UNTESTED),
         ({"found": 0.5}, UNTESTED), ({"gpu_ahead": 9e8}, UNTESTED), ({"gpu_ahead": 4e9}, REFUTED)),
    23: ({"sparse": 1.4e-3, "dense": 1.2e-3, "journey": 524_288, "gpu_hybrid": 3.0},
         HOLDS, ({"gpu_alone": 0.4}, LIMITS), ({"gpu_hybrid": 0.5}, REFUTED),
         ({"gpu_hybrid": 1.05}, UNTESTED), ({"gpu_hybrid": None}, UNTESTED)),
    24: ({"fetching": 4.2, "once": 0.05, "operations": 0.996,
          "time": 0.85}, LIMITS, ({"once": 1.5}, HOLDS),
         ({"fetching": 1.0}, REFUTED), ({"time": 0.3}, REFUTED), ({"once": None}, UNTESTED)),
    25: ({"cores": 2, "step": 1e-2, "computing": 6e-3, "step_packed": 1.5e-2, "size": 3.2e6,
          "small": 8e5}, LIMITS, ({"size": 1e4}, REFUTED),
         ({"step_packed": 0.5, "size": 1e6, "computing": 9.9e-3}, LIMITS),
         ({"cores": 1}, UNTESTED), ({"step": None}, UNTESTED)),
    26: ({"devices": 5, "split": 2, "buys": 2}, LIMITS, ({"split": 0}, REFUTED),
         ({"buys": None}, UNTESTED)),
    27: ({"again": 0.93, "published": 1e21, "apart": 10.0, "wider": 1e5}, UNTESTED,
         ({"again": 0.1}, REFUTED)),
}  # fmt: skip


def verdict_of(number, of_gpu=True, **values):
    """The verdict about a claim whose figures have these values; those named gpu… are a GPU's."""
    figures = {
        name: Figure(name, value, of_gpu=of_gpu and name.startswith("gpu"), why="not here")
        for name, value in values.items()
    }
    return decided(CLAIMS[number], figures)


@pytest.mark.parametrize("number", range(1, 28))
def test_a_verdict_turns_with_its_figures(number):
    figures, first, *changes = TURNS[number]
    words = {first}
    for change, word in (({}, first), *changes):
        verdict = verdict_of(number, **figures | change)
        assert verdict.word == word, (change, verdict)
        words.add(word)
        assert verdict.why.endswith(".") and "nan" not in verdict.why and "e+" not in verdict.why
        digits = re.findall(r"\d+\.\d+", verdict.why)
        assert all(len(each.replace(".", "").lstrip("0")) <= 3 for each in digits), verdict.why
    assert len(words) > 1
    if CLAIMS[number].about_gpus:  # whatever its judge says: no figure from a GPU lets it hold
        assert verdict_of(number, of_gpu=False, **figures).word not in (HOLDS, LIMITS)
