"""A page of the course in a browser, whole: JupyterLite, Pyodide, and the browser's own WebGPU.

Needs Chromium, playwright, and a site with Pyodide's files in it, which LITE names or which lies in
build/lite: `python tools/lite.py --pyodide FOLDER`. The browser's GPU is SwiftShader, a processor
in a GPU's place: it answers checks, and its times are refused.
"""

import functools
import http.server
import importlib.util
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from checkout import ROOT
from gpulessons import exercises

SITE = Path(os.environ.get("LITE", ROOT / "build" / "lite"))
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--enable-unsafe-webgpu",
         "--use-webgpu-adapter=swiftshader",
         "--enable-features=Vulkan,WebAssemblyExperimentalJSPI"]  # fmt: skip
MISSING = [what for what, there in (
    ("a site with Pyodide in it (LITE=its folder)", (SITE / "static" / "pyodide").exists()),
    ("chromium", shutil.which("chromium")), ("playwright", importlib.util.find_spec("playwright")),
) if not there]  # fmt: skip
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"it takes {' and '.join(MISSING)}")

TIMED = "from gpulessons.backends import gpu; print(gpu.why_not())"
CELLS = {  # of notebook 02, run in this order; "": as the page has it
    "setup": "", "02-activations-02": "", "ex-guard": exercises.guard.solution,
    "02-activations-guard-check": "", "ex-fuse": exercises.fuse_bias_gelu.solution,
    "02-activations-64": "", "02-activations-51": "", "02-activations-54": TIMED,
}  # fmt: skip
RUN = """async cells => {
    const {commands, shell} = window.jupyterapp;
    const {content, context} = [...shell.widgets("main")].find(each => each.content?.model?.cells);
    await context.sessionContext.ready;
    const said = {};
    for (const [id, source] of Object.entries(cells)) {
        const at = [...content.model.cells].findIndex(cell => cell.id == id);
        const model = content.model.cells.get(at);
        if (source) model.sharedModel.setSource(source);
        content.activeCellIndex = at;
        content.deselectAll();
        await commands.execute("notebook:run-cell");
        said[id] = JSON.stringify(model.sharedModel.getOutputs());
    }
    return said;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/jupyter-lite.json":  # whose commands a test may call
            settings = json.loads((SITE / "jupyter-lite.json").read_text(encoding="utf-8"))
            settings["jupyter-config-data"]["exposeAppInBrowser"] = True
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(settings).encode())
        else:
            super().do_GET()


@pytest.fixture(scope="module")
def said():
    """{cell: its outputs, as text}."""
    from playwright.sync_api import sync_playwright

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=SITE)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_port}/lab/index.html?path=02_activations.ipynb"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(180_000)
        page.goto(address)
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        found = page.evaluate(RUN, CELLS)
        browser.close()
    server.shutdown()
    return found


@pytest.mark.parametrize("cell", ["02-activations-guard-check", "02-activations-64",
                                  "02-activations-51"])  # fmt: skip
def test_a_kernel_of_the_page_is_checked_by_the_browsers_gpu(said, cell):
    assert "✓" in said[cell] or "right" in said[cell].lower(), said[cell]
    assert "by WebGPU" in said[cell], said[cell]


def test_a_processor_in_a_gpus_place_is_not_timed(said):
    assert "not timed" in said["02-activations-54"], said["02-activations-54"]
