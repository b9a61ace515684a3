"""Running the notebooks in other environments: what counts as wrong there is found."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import run_elsewhere
from run_elsewhere import WIDGET, second_cuda, troubles


def cell(**data):
    """A cell that showed something in these formats, named without what a keyword cannot have."""
    kinds = {"widget": WIDGET, "text": "text/plain", "html": "text/html", "png": "image/png"}
    shown = {kinds[name]: value for name, value in data.items()}
    return new_code_cell(id="shown", outputs=[new_output("display_data", shown)])


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        (cell(widget={}, text="IntSlider(value=3)"), "nothing to read without a kernel: IntSlider"),
        (cell(widget={}, text="IntSlider(value=3)", html="<p>3</p>"), ""),
        (cell(widget={}, text="IntSlider(value=3)", png="…"), ""),
        (cell(widget={}, text="  40%|####      | 2/5"), ""),  # a progress bar has nothing to say
        (cell(text="3"), ""),
    ],
)
def test_a_control_that_leaves_nothing_on_a_saved_page_is_found(shown, wrong):
    found = list(troubles(shown))
    assert len(found) == bool(wrong)
    assert not wrong or wrong in found[0]


def test_a_notebook_that_runs_and_one_that_fails_are_told_apart(tmp_path):
    sound = new_notebook(cells=[new_code_cell("import os\nassert os.listdir() == []")])
    assert run_elsewhere.ran(sound, tmp_path) == []
    broken = new_notebook(cells=[new_code_cell("1 / 0", id="broken"), new_code_cell("print(1)")])
    (told,) = run_elsewhere.ran(broken, tmp_path)
    assert told.startswith("broken: ZeroDivisionError")
    assert nbformat.validate(broken) is None


@pytest.mark.parametrize(
    ("torchs", "installed", "other"),
    [
        ("12.8", {"nvidia-cublas-cu12": "12.8.4.1", "cuda-bindings": "12.9.4"}, []),
        ("12.8", {"nvidia-cuda-nvdisasm": "13.5.37", "nvidia-ml-py": "13.610.43"}, []),
        ("12.8", {"nvidia-cublas-cu13": "13.0.1"}, ["nvidia-cublas-cu13==13.0.1"]),
        ("12.8", {"cuda-bindings": "13.0.3"}, ["cuda-bindings==13.0.3"]),
        ("12.8", {"nvidia-nvjitlink": "13.0.88"}, ["nvidia-nvjitlink==13.0.88"]),
        ("13.0", {"nvidia-nvjitlink": "13.0.88", "cuda-toolkit": "13.0.2"}, []),
        ("13.0", {"nvidia-cufft": "12.0.0.61"}, []),  # the one that comes with CUDA 13
        ("13.0", {"nvidia-cublas-cu12": "12.8.4.1"}, ["nvidia-cublas-cu12==12.8.4.1"]),
        (None, {"nvidia-cublas-cu12": "12.8.4.1", "cuda-toolkit": "13.0.2"}, []),
    ],
)
def test_a_second_cuda_beside_pytorchs_is_found(torchs, installed, other, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.version, "cuda", torchs)
    assert second_cuda(installed) == other
