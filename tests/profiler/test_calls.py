"""What a call costs: every kind has figures or a reason, under a budget as well."""

import shutil

import pytest

from gpulessons import cost_of_a_call
from gpulessons.hardware import budget
from gpulessons.profiler import calls


@pytest.fixture(scope="module")
def costs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(budget.NAME, "0.01")
        return cost_of_a_call()


def test_every_kind_of_call_has_samples_or_a_reason(costs):
    assert [cost.name for cost in costs] == list(calls.KINDS_OF_CALL)
    for cost in costs:
        assert bool(cost.why) != (len(cost.samples) >= calls.ROUNDS)
    assert not [c.why for c in costs if c.name.startswith(("a Python", "NumPy", "Numba")) if c.why]


def test_figures_and_reasons_stand_in_one_table(costs):
    by_name = {cost.name: cost for cost in costs}
    low, high = by_name["NumPy"].quartiles
    assert low <= by_name["NumPy"].median <= high
    assert "compiling takes seconds" in by_name["PyTorch, torch.compile"].why
    assert "compiling takes seconds" in repr(costs) and "rough" in repr(costs)


def test_without_a_compiler_the_compiled_call_says_so(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "needs a C++ compiler" in calls.prepared(calls.compiled_torch_add)


def test_no_time_is_no_budget():
    with pytest.raises(ValueError, match="seconds above 0"):
        cost_of_a_call(budget=0)
