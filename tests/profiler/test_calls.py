"""What a call costs: every kind has figures or a reason, under a budget as well."""


import pytest

from gpulessons import cost_of_a_call
from gpulessons.hardware import budget
from gpulessons.profiler import calls


@pytest.mark.nightly  # a library after the other is loaded
def test_every_kind_of_call_has_samples_or_a_reason(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.01")
    costs = cost_of_a_call()
    assert [cost.name for cost in costs] == list(calls.KINDS_OF_CALL)
    for cost in costs:
        assert bool(cost.why) != bool(cost.samples)
    by_name = {cost.name: cost for cost in costs}
    low, high = by_name["NumPy"].quartiles
    assert low <= by_name["NumPy"].median <= high
    assert "compiling takes seconds" in by_name["PyTorch, torch.compile"].why
    assert "compiling takes seconds" in repr(costs) and "rough" in repr(costs)
