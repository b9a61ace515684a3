"""From the website to a course that runs: what is offered is there."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

import website_ways

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
NOTEBOOK = "notebooks/02_activations.ipynb"
SET_UP = (ROOT / "docs" / "set-up.md").read_text(encoding="utf-8")
PREPARING = (ROOT / "teaching" / "preparing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [SET_UP, PREPARING], ids=["set-up", "preparing"])
def test_what_learners_are_told_to_install_is_the_wheel_that_the_site_offers(page):
    named = re.findall(r"gpulessons-[\w.-]+\.whl", page)
    assert len(named) > 1 and set(named) == {website_ways.wheel()}


def test_the_zip_has_every_notebook_and_the_wheel_beside_them(tmp_path, monkeypatch):
    (tmp_path / website_ways.wheel()).write_bytes(b"built")
    monkeypatch.setattr(
        website_ways.subprocess, "run", lambda words: subprocess.CompletedProcess(words, 0)
    )
    website_ways.take_along(tmp_path)
    inside = zipfile.ZipFile(tmp_path / website_ways.ALL).namelist()
    notebooks = {f"gpulessons/{path.name}" for path in ROOT.glob("notebooks/*.ipynb")}
    assert set(inside) == notebooks | {f"gpulessons/{website_ways.wheel()}"}
    assert "gpulessons/glossary.ipynb" in inside
    # Beside a notebook its first cell would take such a zip for the source.
    assert not website_ways.ALL.startswith("gpulessons-")


@pytest.mark.parametrize(
    ("remote", "hosts", "clone"),
    [
        ("", [], "ask whoever published"),
        ("git+https://git.example.org/a/course", [], "git clone https://git.example.org/a/course"),
        ("git+https://github.com/a/course.git", ["colab.research.google.com", "mybinder.org"],
         "git clone https://github.com/a/course.git"),
    ],
)  # fmt: skip
def test_the_ways_to_open_a_notebook_follow_the_public_remote(monkeypatch, remote, hosts, clone):
    monkeypatch.setattr(website_ways.published, "address", lambda: remote)
    monkeypatch.setattr(website_ways, "in_git", lambda: False)
    said = website_ways.of_notebook(NOTEBOOK, "../docs/set-up.html", lite=False)
    assert 'href="02_activations.ipynb" download' in said
    assert f'href="../{website_ways.wheel()}" download' in said
    assert 'href="../docs/set-up.html"' in said
    assert re.findall(r"https://([\w.]+)/", said) == hosts
    if hosts:
        assert "/github/a/course/blob/main/notebooks/02_activations.ipynb" in said
        assert "/v2/gh/a/course/main?urlpath=lab/tree/notebooks/02_activations.ipynb" in said
    assert clone in website_ways.placed("clone", lite=False)


