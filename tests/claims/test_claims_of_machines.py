"""Parallel machines: each verdict turns when its figures do."""

import pytest
from turning import assert_measures_what_is_judged, assert_turns

from gpulessons.claims.claim import HOLDS, LIMITS, REFUTED, UNTESTED

TURNS = {
    1: [
        ({"cores": 8, "sigmoid": 7.6, "relu": 7.5}, HOLDS),
        ({"cores": 8, "sigmoid": 7.6, "relu": None}, HOLDS),
        ({"cores": 8, "sigmoid": 7.6, "relu": 2.0}, LIMITS),
        ({"cores": 8, "sigmoid": 4.0, "relu": 4.0}, LIMITS),
        ({"cores": 8, "sigmoid": 1.1, "relu": 1.0}, REFUTED),
        ({"cores": 1, "sigmoid": 1.0, "relu": 1.0}, UNTESTED),
        ({"cores": 8, "sigmoid": None, "relu": 1.0}, UNTESTED),
    ],
    11: [
        ({"cpu": 1.5, "counted_steps": 3.0, "gpu_shuffled": 3e-4, "gpu_sorted": 1e-4}, LIMITS),
        ({"cpu": 1.5, "counted_steps": 3.0, "gpu_shuffled": 1e-4, "gpu_sorted": 1e-4}, REFUTED),
        ({"cpu": 1.5, "counted_steps": 3.0, "gpu_shuffled": None, "gpu_sorted": None}, UNTESTED),
    ],
    12: [
        ({"share": 0.9, "arithmetic": 0.05}, LIMITS),
        ({"share": 0.3, "arithmetic": 0.05}, LIMITS),
        ({"share": 0.3, "arithmetic": 0.6}, REFUTED),
    ],
}


@pytest.mark.parametrize("number", TURNS)
def test_a_verdict_turns_with_its_figures(number):
    assert_turns(number, *TURNS[number])


@pytest.mark.parametrize("number", TURNS)
def test_the_test_of_a_claim_runs_here(number, monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.02")
    assert_measures_what_is_judged(number)
