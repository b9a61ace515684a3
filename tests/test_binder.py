"""Binder: what it finds in `binder/`, and what its two scripts do."""

import os
import subprocess
from pathlib import Path

import pytest

from checkout import ROOT, fake_python
from gpulessons.cli import opening


def test_binder_finds_files_by_the_names_that_it_knows_and_nothing_that_goes_before_them():
    # repo2docker reads one folder alone, and a Dockerfile there in place of all else.
    assert not (ROOT / ".binder").exists()
    files = {path.name: path for path in (ROOT / "binder").iterdir()}
    assert set(files) == {"environment.yml", "postBuild", "start"}
    for name in ("postBuild", "start"):
        assert files[name].read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
        assert os.access(files[name], os.X_OK)


def binder(script, folder, answers, *words, **env):
    """Run one of Binder's scripts with a Python that answers so; return the lines it printed."""
    fake_python(folder, answers).rename(folder / "python")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    done = subprocess.run(
        [ROOT / "binder" / script, *words], cwd=ROOT, env={**kept, "PATH": path, **env},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_binder_ends_with_the_exact_version_of_every_package_and_signs_the_notebooks(tmp_path):
    installs, signs = binder("postBuild", tmp_path, 'echo "$@"')
    assert installs.startswith("-m pip install --no-cache-dir ")  # in the image it would stay
    assert "--extra-index-url https://download.pytorch.org/whl/cpu " in installs
    assert installs.endswith("--constraint constraints.txt --editable .[lab,gpu] notebook")
    names = sorted(path.name for path in ROOT.glob("notebooks/*.ipynb"))
    assert signs.split() == ["-m", "jupyter", "trust", *(f"notebooks/{name}" for name in names)]


@pytest.mark.parametrize(
    ("answers", "own", "threads"),
    [
        ("echo", {}, {}),  # all of the machine's cores
        ("echo 2", {}, {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}),
        ("echo 2", {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}),
        ("exit 1", {}, {}),  # whatever is wrong, the server starts
    ],
    ids=["all cores", "fewer", "a setting of one's own", "no course"],
)
def test_binder_starts_jupyterlab_as_the_course_does_and_no_more_threads_than_cores(
    tmp_path, answers, own, threads
):
    lines = binder("start", tmp_path, answers, "env", JUPYTER_CONFIG_PATH="/theirs", **own)
    told = dict(line.split("=", 1) for line in lines if "=" in line)
    ours, theirs = told["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert (Path(ours), theirs) == (opening.SETTINGS, "/theirs")
    assert {name: told[name] for name in told if name.endswith("_THREADS")} == threads


