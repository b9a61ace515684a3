"""The course's own kernels by WebGPU, on every software driver and compiler that is here."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from checkout import ROOT

DRIVERS = {
    "lavapipe": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "SwiftShader": "/usr/lib/chromium/vk_swiftshader_icd.json",
}


def run(tool, **settings):
    environment = os.environ | {"GPULESSONS_GPU": "webgpu"} | settings
    return subprocess.run([sys.executable, f"tools/{tool}.py"], cwd=ROOT, env=environment,
                          capture_output=True, text=True)  # fmt: skip


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("wgpu"), reason="wgpu is not installed")
@pytest.mark.parametrize("driver", DRIVERS)
def test_versions_are_right_or_refused(driver):
    if not Path(DRIVERS[driver]).exists():
        pytest.skip(f"no {driver} here")
    done = run("any_gpu", VK_ICD_FILENAMES=DRIVERS[driver])
    assert done.returncode == 0, done.stdout + done.stderr
    refused = [line for line in done.stdout.splitlines() if re.search(r" refused +\S", line)]
    assert all("this GPU takes" in line for line in refused), refused  # but for its limits, none


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("wgpu"), reason="wgpu is not installed")
def test_chromiums_compiler_takes_all_of_them():
    done = run("tint")
    if "not asked" in done.stdout:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
