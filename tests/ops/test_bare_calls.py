"""What stands inside a timed call: the library's own function, and nothing of ours around it."""

import dis
import sys
from pathlib import Path

import pytest

import gpulessons
import warplens
from gpulessons.backends import gpu, torch_cpu
from warplens.device import DeviceArray
from warplens.model.sampling import ITERATIONS, chosen

NAMES = [name for home, names in gpulessons.HOMES.items()
         for name in names.split() if home.startswith("ops.")]  # fmt: skip
HOME = Path(gpulessons.__file__).parent
# Whose PyTorch version is one of its functions, and not one after another.
ALONE = ("relu", "gelu", "copy", "triad", "total", "matmul", "conv2d", "softmax", "transpose")


def versions(backend):
    found = (getattr(gpulessons, name).versions.values() for name in NAMES)
    return [v for each in found for v in each if v.backend is backend]


def bound(version, size):
    inputs = tuple(map(version.backend.put, version.op.inputs(size)))
    return version.bound(inputs, version.empty(*inputs))


def code_run_by(call):
    """The code of every Python function that a call runs."""
    seen = set()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code))
    try:
        call()
    finally:
        sys.setprofile(None)
    return {code for code in seen if code is not code_run_by.__code__}


def test_nothing_but_pytorch_runs_in_a_timed_call():
    pytest.importorskip("torch")
    for version in versions(torch_cpu):
        call = bound(version, 16)
        call()  # what PyTorch itself loads at a first call
        ours = [c for c in code_run_by(call) if Path(c.co_filename).is_relative_to(HOME)]
        assert not (ours and version.op.name in ALONE), (version, ours)
        for code in ours:
            assert Path(code.co_filename).parent.name == "ops", (version, code)
            imports = [each for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME"]
            assert not imports, (version, code)


@pytest.mark.nightly
def test_no_launch_makes_an_array(monkeypatch):
    make = DeviceArray.__init__
    for version in versions(gpu):
        made = []

        def counted(array, *arguments, made=made):
            made.append(array)
            make(array, *arguments)

        with warplens.tracing(blocks=chosen, iterations=ITERATIONS), monkeypatch.context() as patch:
            try:
                call = bound(version, 16)
            except gpulessons.backends.NotHere:
                continue
            patch.setattr(DeviceArray, "__init__", counted)
            call()
        assert made == [], version
