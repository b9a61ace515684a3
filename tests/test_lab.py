"""What a learner meets first: `gpulessons lab` in a browser, and what saving a notebook changes."""

import json
import os
import subprocess
import sys
import time

import pytest

from browser import REPOSITORY, missing, page
from save_notebooks import NOTEBOOKS

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is at hand")
FIRST = "00_start_here.ipynb"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A newcomer's folder of notebooks, and the page that `gpulessons lab` opens for them."""
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "gpulessons", "lab", str(home / "mine")]
    with subprocess.Popen(command, env=newcomers(home), stderr=subprocess.DEVNULL) as server:
        try:
            with page(printed(home / "run", server).as_uri()) as tab:
                tab.get_by_text("| Idle").wait_for()
                yield home / "mine", tab
        finally:
            server.terminate()


def newcomers(home):
    """The environment of someone who never opened JupyterLab, without a screen."""
    ours = ("JUPYTER", "XDG_", "DISPLAY", "WAYLAND_DISPLAY")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = os.pathsep.join(filter(None, [str(REPOSITORY), kept.get("PYTHONPATH")]))
    return {**kept, "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home / "run"), "PYTHONPATH": path}


def printed(folder, server):
    """The page that JupyterLab says to open in a browser, once it is there."""
    while not (found := list(folder.glob("jpserver-*-open.html"))):
        assert server.poll() is None, "the server ended"
        time.sleep(0.2)
    return found[0]


def test_it_opens_notebook_00_with_no_box_over_it_and_room_for_the_names_beside_it(opened):
    _, tab = opened
    assert tab.locator(".jp-Notebook h1").first.inner_text().startswith("00 · Start here")
    tab.wait_for_timeout(2000)  # a question about news comes a moment after the page
    assert tab.locator(".Toastify__toast, .jp-Launcher").count() == 0
    names = tab.locator(".jp-DirListing-itemText")
    # Of the longest name a part of ".ipynb" may go.
    cut = "names => names.filter(n => n.scrollWidth > n.clientWidth + 20).map(n => n.innerText)"
    assert names.count() == len(list(NOTEBOOKS.glob("*.ipynb")))
    assert names.evaluate_all(cut) == []


def test_opening_and_saving_a_notebook_changes_at_most_the_version_of_python(opened):
    folder, tab = opened
    before = json.loads((NOTEBOOKS / FIRST).read_text(encoding="utf-8"))
    tab.locator(".jp-Notebook-cell").first.click()
    with tab.expect_response(lambda got: got.request.method == "PUT" and FIRST in got.url):
        tab.keyboard.press("Control+s")
    after = json.loads((folder / FIRST).read_text(encoding="utf-8"))
    controls = after["metadata"].pop("widgets")  # nobody ran a cell: their place, and no state
    assert all(not each["state"] for each in controls.values())
    for saved in (before, after):
        assert saved["metadata"]["language_info"].pop("version").startswith("3.")
    assert after == before


def test_a_page_that_nobody_ran_yet_shows_its_pictures_as_vectors(opened):
    _, tab = opened
    tab.locator(".jp-OutputArea svg[aria-hidden]").first.wait_for(state="attached")
