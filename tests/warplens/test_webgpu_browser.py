"""A browser's own WebGPU, asked by Python in the page: the same device, under the same names.

Needs Chromium, playwright and Pyodide's core, whose folder PYODIDE names (`npm pack pyodide`). That
core has no NumPy: so the kernel is translated here, and what runs in the page is the device alone.
"""

import importlib.util
import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from numba import cuda, float32

from warplens.webgpu.module import Module
from warplens.webgpu.values import Array, Scalar

PYODIDE = Path(os.environ.get("PYODIDE", "nowhere"))
HERE = Path(__file__).parents[2] / "warplens" / "webgpu"
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-unsafe-webgpu"]
MISSING = [what for what, there in (
    ("Pyodide's core (PYODIDE=its folder)", (PYODIDE / "pyodide.mjs").exists()),
    ("chromium", shutil.which("chromium")), ("playwright", importlib.util.find_spec("playwright")),
) if not there]  # fmt: skip
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"it takes {' and '.join(MISSING)}")

PAGE = "<script>worker = new Worker('/worker.mjs', {type: 'module'})</script>"
WORKER = """import {loadPyodide} from "/pyodide.mjs";
self.onmessage = async event => {
    try {
        const python = await loadPyodide({indexURL: "/"});
        for (const [name, text] of Object.entries(event.data.files)) {
            python.FS.mkdirTree("device");
            python.FS.writeFile("device/" + name, text);
        }
        self.postMessage(await python.runPythonAsync(event.data.program));
    } catch (trouble) { self.postMessage("failed: " + trouble.message); }
};"""
ASK = """job => new Promise(answer => {
    worker.onmessage = event => answer(event.data);
    worker.postMessage(job);
})"""
PROGRAM = """import json
from device.native import Native
from device.values import Refused

def run(text, parameters, x, size):
    gpu = Native()
    given, out = gpu.buffer(len(x)), gpu.buffer(size)
    gpu.write(given, x)
    there = [gpu.parameters(parameters), *({{"b0": given, "b1": out, "faults": gpu.faults}}[name]
                                          for name in {bindings})]
    start = gpu.mark()
    gpu.dispatch(gpu.pipeline(text), there, {groups})
    stop = gpu.mark()
    said = gpu.wait()
    try:
        gpu.pipeline("nonsense")
        why = ""
    except Refused as trouble:
        why = str(trouble)
    return {{"said": said, "out": bytes(gpu.read(out)).hex(), "software": gpu.software,
            "name": gpu.name, "seconds": gpu.seconds(start, stop), "threads": gpu.threads,
            "refused": why}}

json.dumps(run({text!r}, {parameters!r}, {x!r}, {size}))
"""


def scaled_sums(scale, x, out):
    """Sums of a block's numbers, by shared memory: barriers, and threads past the end."""
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = scale * x[i] if i < x.size else np.float32(0)
    step = 32
    while step > 0:
        cuda.syncthreads()
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@pytest.fixture(scope="module")
def found():
    """What the page's GPU made of the kernel, and what is right."""
    from playwright.sync_api import sync_playwright

    x, groups = np.random.default_rng(0).standard_normal(1201).astype(np.float32), 19
    arrays = Array("float32", 1, True, 0), Array("float32", 1, True, 1)
    module = Module(scaled_sums, (Scalar("f32"), *arrays), (64, 1, 1), 2**16, 0)
    parameters = struct.pack("<Iiiii", 0, groups, groups, 1, 1)
    parameters += struct.pack("<fiiii", 2.0, 0, x.size, 0, groups)
    files = {name: (HERE / name).read_text() for name in ("native.py", "browser.py")}
    files |= {"__init__.py": "", "values.py": "class Refused(Exception):\n    pass\n"}
    program = PROGRAM.format(text=module.text, parameters=parameters, x=x.tobytes(),
                             size=4 * groups, groups=groups, bindings=list(module.bindings))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page()
        tab.route("**/*", serve)
        tab.goto("http://localhost/")  # where WebGPU is allowed
        said = tab.evaluate(ASK, {"files": files, "program": program})
        browser.close()
    if "no GPU that WebGPU reaches" in said:
        pytest.skip("this browser has no WebGPU adapter")
    assert not said.startswith("failed"), said
    sums = [2 * part.sum(dtype=np.float64) for part in np.split(x, range(64, x.size, 64))]
    return json.loads(said), sums


def serve(route):
    name = route.request.url.partition("//localhost/")[2]
    if name == "worker.mjs":
        route.fulfill(body=WORKER, content_type="text/javascript")
    elif name and (PYODIDE / name).is_file():
        kind = {".mjs": "text/javascript", ".wasm": "application/wasm"}.get(Path(name).suffix)
        route.fulfill(path=PYODIDE / name, content_type=kind or "application/octet-stream")
    else:
        route.fulfill(body=PAGE, content_type="text/html")


def test_a_kernel_runs_in_the_page_and_is_right(found):
    said, right = found
    assert said["said"] == 0 and said["threads"] >= 256 and said["name"]
    np.testing.assert_allclose(
        np.frombuffer(bytes.fromhex(said["out"]), np.float32), right, rtol=1e-5, atol=1e-5
    )


def test_a_processor_in_its_place_is_known_and_its_compiler_is_heard(found):
    said, _ = found
    assert said["software"] is True, "this test's browser has no other"
    assert said["seconds"] >= 0 and "this GPU's compiler says" in said["refused"]
