"""The ops' own kernels by WebGPU, on every software driver that is here."""

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


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("wgpu"), reason="wgpu is not installed")
@pytest.mark.parametrize("driver", DRIVERS)
def test_versions_are_right_or_refused(driver):
    if not Path(DRIVERS[driver]).exists():
        pytest.skip(f"no {driver} here")
    environment = os.environ | {"VK_ICD_FILENAMES": DRIVERS[driver], "GPULESSONS_GPU": "webgpu"}
    done = subprocess.run([sys.executable, "tools/any_gpu.py"], cwd=ROOT, env=environment,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    count = {state: int(n) for n, state in re.findall(r"(\d+) (right|refused)", done.stdout)}
    assert count["right"] >= 0.98 * (count["right"] + count.get("refused", 0)), done.stdout
