"""Drive JupyterLab in a real browser: `lab(root)`, `page(url)`, `run_all(page, notebook)`.

The server, its settings and its kernels live in a folder of their own, away from the developer's,
and answer on 127.0.0.1 only. Chromium is the system's; `missing()` says what a machine lacks.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]
REPOSITORY = Path(__file__).parent.parent
LEARNERS = REPOSITORY / "gpulessons/cli/jupyter/labconfig/default_setting_overrides.json"
# As `gpulessons lab` has them; and every cell stays in the page, also those out of sight.
SETTINGS = {
    **json.loads(LEARNERS.read_text()),
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


def missing():
    """Why no browser can be driven here; empty if one can."""
    if not shutil.which("chromium"):
        return "there is no chromium on the PATH"
    modules = [name for name in ("playwright", "jupyterlab") if not importlib.util.find_spec(name)]
    return f"{' and '.join(modules)} not installed" if modules else ""


@contextmanager
def lab(root, dark=False):
    """Serve the folder `root` with JupyterLab; yields the address, token included."""
    with tempfile.TemporaryDirectory() as home, open(Path(home, "log"), "w+") as log:
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                   "--ip=127.0.0.1", "--port=0", f"--ServerApp.root_dir={root}",
                   "--IdentityProvider.token=lessons"]
        server = subprocess.Popen(command, env=_environment(Path(home), dark),
                                  stdout=log, stderr=log)
        try:
            yield f"{_address(Path(home), server, log)}lab?token=lessons"
        finally:
            server.terminate()  # The server takes its kernels with it.
            server.wait(300)


@contextmanager
def page(url, width=1100, height=900):
    """A browser page on `url`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        try:
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.set_default_timeout(300_000)  # a hang: on a busy machine JupyterLab is slow to load
            tab.goto(url)
            yield tab
        finally:
            browser.close()


def run_all(page, notebook, seconds=600):
    """Open `notebook`, run all of its cells from the Run menu, and wait for the last one.

    `notebook` is relative to the server's root. Returns the texts of the errors that cells raised.
    """
    page.goto(page.evaluate("location.origin") + f"/doc/tree/{notebook}")
    # Before the status bar says so there is no kernel yet, and running asks which one to take.
    page.get_by_text("| Idle").wait_for()
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
    page.locator(".lm-Menu-itemLabel").get_by_text("Run All Cells", exact=True).click()
    page.wait_for_function(_ALL_RAN, timeout=1000 * seconds)
    return page.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts()


_ALL_RAN = """() => {
    const text = (cell, part) => cell.querySelector(part).textContent.trim();
    const prompts = [...document.querySelectorAll(".jp-CodeCell")]
        .filter(cell => text(cell, ".cm-content")).map(cell => text(cell, ".jp-InputPrompt"));
    const failed = document.querySelector("[data-mime-type='application/vnd.jupyter.error']");
    return prompts.some(prompt => /\\d/.test(prompt)) && !prompts.includes("[*]:")
        && (failed || prompts.every(prompt => /\\d/.test(prompt)));
}"""


def cell(page, number):
    """The notebook's cell of that number, counted from 0, as a locator (it can take a picture)."""
    return page.locator(".jp-Notebook-cell").nth(number)


def picture(page, path, tallest=16_000):
    """Write the whole notebook as one image, on a window as tall as it needs."""
    size = page.viewport_size
    cells = page.locator(".jp-Notebook-cell")
    first, last = cells.first.bounding_box(), cells.last.bounding_box()
    tall = min(int(last["y"] + last["height"] - first["y"]) + 180, tallest)
    page.set_viewport_size({**size, "height": max(tall, size["height"])})
    page.wait_for_timeout(500)
    page.screenshot(path=path)
    page.set_viewport_size(size)


def write_notebook(path, *sources):
    """Write a notebook with these code cells."""
    cells = [{"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": source.strip(),
              "outputs": [], "execution_count": None} for number, source in enumerate(sources)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                "nbformat_minor": 5}
    Path(path).write_text(json.dumps(notebook))


def _environment(home, dark):
    themes = {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"}
    themes = {"@jupyterlab/apputils-extension:themes": themes}
    for name, settings in {**SETTINGS, **themes}.items():
        file = home / "settings" / f"{name.replace(':', '/')}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    own = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data",
           "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython",
           "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    paths = [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, **{name: str(home / folder) for name, folder in own.items()},
            "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _address(home, server, log, seconds=300):
    """Where the server answers, on a port that it found free and wrote down."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        for file in home.glob("runtime/jpserver-*.json"):
            with suppress(OSError, ValueError):  # not yet written, or not yet answering
                url = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api", timeout=30).close()
                return url
        time.sleep(0.2)
    log.seek(0)
    raise RuntimeError(f"JupyterLab did not answer:\n{log.read()[-2000:]}")
