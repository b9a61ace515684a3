"""Every CUDA version of every op: right in the microscope, free of races, compiled for real."""

import re
from itertools import product

import numpy as np
import pytest
from numba import cuda, float32

import gpulessons
from gpulessons import check, gpu
from gpulessons.backends import NotHere
from gpulessons.measure.modelled import assemblies, launches_of
from gpulessons.operation import Op
from warplens.code.cuda import CAPABILITIES, CannotCompile, assembly

OPS = [
    getattr(gpulessons, name)
    for home, names in gpulessons.HOMES.items()
    if home.startswith("ops.")
    for name in names.split()
]
VERSIONS = [v for op in OPS for v in op.versions.values() if v.backend is gpu]
NEEDED = {"CUDA, tensor cores (TF32)": (8, 0)}  # compute capability; the others run on all


def named(version):
    return f"{version.op.name}-{version.name}"


def test_every_op_is_found():
    assert len(OPS) >= 15
    assert all(isinstance(op, Op) for op in OPS)
    assert len(VERSIONS) >= 25


@pytest.mark.parametrize("version", VERSIONS, ids=named)
def test_it_is_right_thread_by_thread(version):
    verdict = check(version.op, version)
    assert verdict.passed, verdict


@pytest.fixture(scope="module", params=VERSIONS, ids=named)
def traced(request):
    """A version and what it launches: traced once for the two tests below."""
    return request.param, launches_of(request.param)


def test_it_has_no_races_and_no_cautions(traced):
    _, launches = traced
    for launch in launches:
        assert not launch.races().cells
        assert not launch.warnings


def test_it_compiles_without_spills_or_doubles(traced):
    version, launches = traced
    kernels = {one.launch.function: one.launch.arguments for one in launches}
    for (function, arguments), capability in product(kernels.items(), CAPABILITIES):
        if capability >= NEEDED.get(version.name, capability):
            compiled = assembly(function, *arguments, capability=capability)
            assert compiled.registers > 0
            assert (compiled.spills, compiled.local, compiled.doubles) == (0, 0, ())


@pytest.mark.parametrize("version", [v for v in VERSIONS if v.name in NEEDED], ids=named)
def test_an_older_gpu_is_refused_in_a_sentence(version):
    with pytest.raises(NotHere, match="capability 8"):
        assemblies(version, capability=CAPABILITIES[0])


def test_shared_memory_is_reported():
    kernel = gpulessons.transpose.versions["CUDA, padded tile"]
    (compiled,) = assemblies(kernel)
    assert compiled.shared == 32 * 33 * 4
    assert re.search(r"\.entry", compiled.ptx)


@cuda.jit
def array_of_its_own(x, out):
    own = cuda.local.array(8, float32)
    for n in range(8):
        own[n] = 0
    for n in range(x.size):
        own[n % 8] += x[n]  # which register? Only memory can be indexed by a number
    out[0] = own[out.size % 8]


def test_an_array_that_finds_no_registers_is_seen():
    compiled = assembly(array_of_its_own, np.ones(8, np.float32), np.ones(8, np.float32))
    assert (compiled.local, compiled.spills) == (32, 0)
    assert "32 bytes of local memory" in compiled.headline


@cuda.jit
def doubles(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 1.1


def test_doubles_that_crept_in_are_seen():
    x = np.ones(4, np.float32)
    assert assembly(doubles, x, x).doubles


WIDTH = 16


@cuda.jit
def computed_shape(x):
    tile = cuda.shared.array((WIDTH, WIDTH + 1), float32)
    tile[0, 0] = x[0]
    x[0] = tile[0, 0]


def test_what_a_gpu_refuses_is_refused_in_a_sentence():
    with pytest.raises(CannotCompile, match="computed_shape"):
        assembly(computed_shape, np.ones(4, np.float32))


def test_a_missing_compiler_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings", None)
    x = np.ones(4, np.float32)
    with pytest.raises(CannotCompile, match="pip install"):
        assembly(doubles, x, x)


def test_the_process_is_as_before():
    x = np.ones(4, np.float32)
    assembly(doubles, x, x)  # Numba's own modules come with the first
    before = dict(vars(cuda))
    assembly(doubles, x, x)
    assert dict(vars(cuda)) == before
