"""`make nvidia`: which of NVIDIA's tests are chosen, and what their ends are called."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from warplens import LaunchError, trace

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import numba_cuda_tests as theirs


@cuda.jit
def a_list(x):
    x[0] = [1, 2][0]


def end_of(program):
    try:
        program()
    except BaseException as trouble:
        return theirs.verdict(trouble)


def asserts():
    assert 1 == 2


def asks_the_driver():
    from numba.cuda.cudadrv import devices

    devices.get_context()


def runs_out_of_time():
    raise theirs.TimedOut


def test_every_end_has_its_name():
    x = np.zeros(1)
    assert end_of(lambda: trace(a_list)[1, 1](x))[0] == "refused"
    assert end_of(lambda: trace(a_list)[1, 2000](x))[0] == "refused"  # a fault, told in words
    assert end_of(lambda: trace(a_list)[1, 1](object()))[0] == "refused"
    assert end_of(asserts)[0] == "wrong"
    assert end_of(runs_out_of_time)[0] == "time"
    assert end_of(lambda: [][1])[0] == "leaked"
    assert end_of(lambda: pytest.skip("not here"))[0] == "skipped"
    with pytest.raises(LaunchError):
        trace(a_list)[1, 2000](x)


@pytest.mark.skipif(cuda.is_available(), reason="there is a driver")
def test_what_only_a_driver_answers_is_told_apart():
    assert end_of(asks_the_driver)[0] == "driver"


def test_a_module_of_theirs_runs_and_is_kept(tmp_path, capsys):
    file = tmp_path / "ends.json"
    assert theirs.main(["test_lang", "--json", str(file)]) == 0
    assert "The microscope: 3 tests: 1 passed, 2 refused" in capsys.readouterr().out
    found = {row["verdict"] for row in json.loads(file.read_text())}
    assert found == {"passed", "refused"}


def test_tests_about_compiled_code_are_not_chosen():
    assert "numba.cuda.tests.cudapy.test_caching" not in theirs.chosen([])
    ends, other = theirs.outcomes("numba.cuda.tests.cudapy.test_constmem")
    assert "cudapy.test_constmem.TestCudaConstantMemory.test_const_empty" in ends
    assert "cudapy.test_constmem.TestCudaConstantMemory.test_const_array" in other
