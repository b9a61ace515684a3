"""What the first cell says where it has just installed the course."""

import pytest

from gpulessons import hardware
from gpulessons.notebook import arrival
from warplens import tracing


@pytest.fixture
def t4(monkeypatch):
    """A machine with a GPU; the microscope is what its kernels run in."""
    monkeypatch.setattr(hardware, "why_no_gpu", lambda: "")
    monkeypatch.setattr(hardware, "gpu", lambda: {"name": "Tesla T4"})
    with tracing() as launches:
        yield launches


def test_without_a_gpu_it_says_why_and_what_happens_instead(monkeypatch, capsys):
    monkeypatch.setattr(hardware, "why_no_gpu", lambda: "No driver was found.")
    monkeypatch.setattr(hardware, "other_gpu", lambda: "Take your own.")
    arrival.say(["torch==2.11.0+cu128", "numpy==2.1.3"])
    kept, kernel = capsys.readouterr().out.splitlines()
    assert kept == "Installed gpulessons; kept torch==2.11.0+cu128 numpy==2.1.3"
    assert kernel == f"No driver was found. Take your own. {arrival.ELSE}"


def test_on_a_gpu_a_kernel_is_launched_and_its_result_looked_at(t4):
    assert arrival.first_kernel().startswith("A kernel was compiled and ran on Tesla T4:")
    assert len(t4) == 1


def test_a_gpu_that_numba_cannot_use_is_said_with_the_reason_and_a_way_out(t4, monkeypatch):
    def refuses(n):
        raise RuntimeError("unsupported toolchain\nand more")

    monkeypatch.setattr(arrival, "counts_to", refuses)
    monkeypatch.setattr(hardware, "cuda_package", lambda: "numba-cuda[cu12]")
    said = arrival.first_kernel()
    assert "Numba cannot use it (unsupported toolchain)" in said and "numba-cuda[cu12]" in said
    assert "and more" not in said and said.endswith(arrival.ELSE)


def test_a_wrong_result_is_no_gpu_to_trust(t4, monkeypatch):
    monkeypatch.setattr(arrival, "counts_to", lambda n: False)
    assert "its result is wrong" in arrival.first_kernel()
