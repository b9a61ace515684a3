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
TRIED = [("any_gpu", "lavapipe"), ("any_gpu", "SwiftShader"), ("tint", "lavapipe")]


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("wgpu"), reason="wgpu is not installed")
@pytest.mark.parametrize("tool, driver", TRIED)
def test_versions_and_exercises_are_right_or_beyond_a_limit(tool, driver):
    if not Path(DRIVERS[driver]).exists():
        pytest.skip(f"no {driver} here")
    environment = os.environ | {"VK_ICD_FILENAMES": DRIVERS[driver], "GPULESSONS_GPU": "webgpu"}
    done = subprocess.run([sys.executable, f"tools/{tool}.py"], cwd=ROOT, env=environment,
                          capture_output=True, text=True)  # fmt: skip
    if "not asked" in done.stdout:
        pytest.skip(done.stdout)
    refused = [line for line in done.stdout.splitlines() if re.search(r" refused +\S", line)]
    assert done.returncode == 0, done.stdout + done.stderr
    assert all("this GPU takes" in line for line in refused), refused
