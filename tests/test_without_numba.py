"""With NumPy and Matplotlib alone, as in a browser: the microscope, its pictures, the checks."""

from functools import partial
from pathlib import Path

import pytest

import bare
import gpulessons
from gpulessons import exercises

TESTS = Path(__file__).parent
ROOT = Path(gpulessons.__file__).parents[1]
TORCH = {"whole_checkpoint", "zero_step"}  # exercises about PyTorch
INSTALLED = "from gpulessons_browser import stand_in; stand_in.install()\n"
COUNTED = ["test_published_counts.py", "test_race_verdicts.py", "test_faults.py",
           "test_warp_primitives.py", "test_control_flow.py"]  # fmt: skip


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python that has NumPy, Matplotlib, pytest and what they need, and nothing else."""
    site = tmp_path_factory.mktemp("site")
    bare.link(site, bare.distributions(["matplotlib", "pytest", "pytest-xdist", "hypothesis"]))
    run = partial(bare.run, site, also=[TESTS, TESTS / "exercises", ROOT / "tools"])
    return lambda code, **options: run("-c", INSTALLED + code, **options)


def test_there_is_no_numba_and_its_names_are_there(python):
    done = python("""
import importlib.util as find
for name in ("psutil", "torch", "scipy", "ipywidgets"):
    assert find.find_spec(name) is None, name
from numba import cuda, float32, njit
from numba.cuda import grid
assert njit(parallel=True)(lambda x: x + 1)(1) == 2
assert float32(1).dtype == "float32"
for refused in (lambda: grid(1), lambda: cuda.jit(lambda x: None)[1, 1](0)):
    try:
        refused()
    except RuntimeError as error:
        assert "microscope" in str(error)
    else:
        raise AssertionError("it did something")
""")
    assert done.returncode == 0, done.stderr


def test_a_loop_of_vectors_is_numpys(python):
    done = python("""
from gpulessons import check, matmul
print(check(matmul, matmul.versions["Numba, registers, one core"].function))
""")
    assert done.returncode == 0 and done.stdout.startswith("✓"), done.stdout + done.stderr


def test_the_solution_of_every_exercise_passes(python):
    names = [name for name in exercises.NAMES if name not in TORCH]
    done = python(f"""
from answers import attempt
from gpulessons import check, exercises
BEFORE = "import numpy as np\\nfrom numba import cuda\\n"
for name in {names}:
    exercise = getattr(exercises, name)
    verdict = check(exercise, attempt(BEFORE + exercise.solution))
    assert verdict.passed, verdict
print(len({names}))
""")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(names)


def test_the_microscope_counts_and_draws(python):
    tests = [str(TESTS / "warplens" / name) for name in COUNTED]
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    done = python(f"import pytest; raise SystemExit(pytest.main({options + tests}))")
    assert done.returncode == 0, done.stdout[-3000:]
    done = python("""
import numpy as np
from gpulessons import exercises
from gpulessons.microscope import branch_picture, request_picture, trace
from gpulessons.ops.transpose import naive_kernel
x, out = np.ones((64, 64), np.float32), np.empty((64, 64), np.float32)
launched = trace(naive_kernel)[(2, 8), (32, 8)](x, out)
for picture in (request_picture(launched, "x"), branch_picture(launched)):
    assert picture.svg.startswith("<svg") and picture.alt
assert "sectors" in launched._repr_html_()
""")
    assert done.returncode == 0, done.stderr


def test_kernels_run_by_webgpu_where_there_is_no_numba(tmp_path_factory):
    # As in a browser that has it: the translator reads a kernel's own text, and the device is here
    # wgpu-py's. tests/warplens/test_webgpu_browser.py has the browser's.
    pytest.importorskip("wgpu")
    from warplens import webgpu

    if why := webgpu.why_not():
        pytest.skip(why)
    site = tmp_path_factory.mktemp("site")
    bare.link(site, bare.distributions(["matplotlib", "wgpu"]))
    done = bare.run(site, "-c", INSTALLED + """
from gpulessons import check, relu, transpose
for op, name in ((relu, "CUDA, a thread per element"), (transpose, "CUDA, padded tile")):
    print(check(op, op.versions[name]))
""", also=[ROOT / "tools"])  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("by WebGPU") == 2, done.stdout + done.stderr
