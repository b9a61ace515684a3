"""compiled(): it says what compiling took, and in a sentence why it could not be."""

import os

import pytest

from gpulessons.measure import compiling
from gpulessons.measure.compiling import Compiled, compiled, no_compiler


@pytest.fixture(scope="module", autouse=True)
def loaded():
    global torch
    import torch


def chain(x, y):
    return torch.sigmoid(x * y + 1)


def test_without_a_compiler_one_sentence_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    result = compiled(chain, torch.ones(3), torch.ones(3))
    assert (result.call, result.seconds) == (None, None)
    assert result.why.startswith("torch.compile writes C++") and "g++ or clang++" in result.why


@pytest.mark.nightly  # PyTorch loads its compiler to be told that there is none
def test_what_cannot_be_compiled_has_a_reason_and_a_new_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "no_compiler", lambda: "")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", mine := str(tmp_path))
    folders = []

    def refused(function, **options):
        def call(*inputs):
            folders.append(os.environ["TORCHINDUCTOR_CACHE_DIR"])
            assert os.listdir(folders[-1]) == []
            raise RuntimeError("no such thing\nand more lines")

        return call

    monkeypatch.setattr(torch, "compile", refused)
    compiled(chain, torch.ones(3))
    result = compiled(chain, torch.ones(3))
    assert len({*folders, mine}) == 3 and os.environ["TORCHINDUCTOR_CACHE_DIR"] == mine
    assert result.why == "torch.compile gave up here (RuntimeError: no such thing)"
    assert result.call is None


def test_compiling_has_paid_after_so_many_calls_or_never():
    for seconds, eager, one_loop, calls in (
        (10, 3, 1, 5), (11, 3, 1, 6), (10, 3, 3, None), (10, 1, 3, None), (None, 3, 1, None)
    ):  # fmt: skip
        assert Compiled(chain, seconds, "").paid_after(eager, one_loop) == calls


@pytest.mark.nightly
@pytest.mark.skipif(bool(no_compiler()), reason="no C++ compiler")
def test_a_compiled_function_computes_the_same_at_other_lengths_too():
    result = compiled(chain, torch.ones(1000), torch.ones(1000))
    if result.why:
        pytest.skip(result.why)
    assert result.seconds > 0
    for length in (1000, 17):
        x, y = torch.randn(2, length)
        torch.testing.assert_close(result.call(x, y), chain(x, y))
