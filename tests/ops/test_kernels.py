"""Every CUDA version of every op: right thread by thread, free of races, and no register spills."""

import numpy as np
import pytest

import gpulessons
from gpulessons import gpu
from gpulessons.operation import fetched
from warplens import tracing
from warplens.code.cuda import CAPABILITIES, ELSEWHERE, assembly

NAMES = [name for home, names in gpulessons.HOMES.items()
         for name in names.split() if home.startswith("ops.")]  # fmt: skip
NEEDED = {"CUDA, tensor cores (TF32)": (8, 0)}  # compute capability; the others run on all
each_op = pytest.mark.parametrize("name", NAMES)


def on_gpu(name):
    versions = getattr(gpulessons, name).versions.values()
    return [version for version in versions if version.backend is gpu]


def check_cases(version, cases):
    """Its results are right, and its launches neither race nor give cause for a warning."""
    op = version.op
    for case in cases:
        inputs = op.inputs(case, seed=case)
        with tracing() as launches, np.errstate(all="ignore"):
            got = fetched(gpu, version(*map(gpu.put, inputs)))
        with np.errstate(all="ignore"):
            error = op.error(got, op.reference(*inputs))
        assert error <= version.rtol, f"{version}: off by {error:.2g} at {case!r}"
        for launch in launches:
            assert not launch.races().cells and not launch.warnings, version
        assert launches


@each_op
def test_it_is_right_thread_by_thread_and_without_races(name):
    few = 1 if name == "matmul" else 2  # whose register tiles take seconds each
    for version in on_gpu(name):
        check_cases(version, version.op.edge_cases[:few])


@pytest.mark.nightly
@each_op
def test_it_is_so_in_all_edge_cases_and_spills_no_register_on_any_gpu(name, launches_of):
    for version in on_gpu(name):
        check_cases(version, version.op.edge_cases[1:])
        for launch in launches_of(version):
            for capability in CAPABILITIES:
                if capability >= NEEDED.get(version.name, capability):
                    function, arguments = launch.launch.function, launch.launch.arguments
                    compiled = assembly(function, *arguments, capability=capability)
                    assert compiled.registers > 0
                    assert (compiled.spills, compiled.local, compiled.doubles) == (0, 0, ())


def test_shared_memory_is_reported(launches_of):
    launch = launches_of(gpulessons.transpose.versions["CUDA, padded tile"])[0].launch
    compiled = assembly(launch.function, *launch.arguments, capability=ELSEWHERE)
    assert compiled.shared == 32 * 33 * 4
