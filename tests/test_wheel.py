"""The wheel: what is in it, what it tells an index, and that it imports by itself."""

import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes

import pytest

from checkout import PROJECT, ROOT, copies


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package's wheel, built from a copy of the checkout without any network."""
    names = ("gpulessons", "notebooks", "tools", "pyproject.toml", "README.md", "LICENSE")
    folder = copies(tmp_path_factory.mktemp("tree"), *names)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--no-index", "--wheel-dir", str(out), str(folder)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_carries_the_notebooks_and_every_file_of_the_package(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    notebooks = {f"gpulessons/_notebooks/{path.name}" for path in ROOT.glob("notebooks/*.ipynb")}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gpulessons").rglob("*")
        if path.suffix in {".py", ".json", ".npz", ".png", ".txt"}
    }
    assert notebooks | files <= inside
    assert not [name for name in inside if "__pycache__" in name or name.startswith("tests")]


def test_the_wheel_tells_an_index_who_what_and_for_whom_and_links_nowhere(wheel):
    inside = zipfile.ZipFile(wheel)
    about = next(name for name in inside.namelist() if name.endswith(".dist-info/METADATA"))
    told = message_from_bytes(inside.read(about))
    for field in ("Author", "License-Expression", "Keywords", "Classifier", "Summary"):
        assert told[field], field
    text = told.get_payload(decode=True).decode()
    assert "00 · Start here" in text and "make lab" in text
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)
    assert told["Project-URL"] is None  # this copy has no public remote


def test_the_installed_wheel_imports_with_no_checkout_near(wheel, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*command, "--target", str(tmp_path / "site"), str(wheel)], check=True)
    code = "import gpulessons; print(gpulessons.__file__, gpulessons.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "site"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [
        str(tmp_path / "site" / "gpulessons" / "__init__.py"), PROJECT["version"],
    ]  # fmt: skip
