"""What tests of what is shipped share: the checkout's versions, copies of it, a false Python."""

import shutil
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(path="constraints.txt"):
    """Return {package: its exact version} of a file that names one a line."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def wanted(*extras):
    """Return what the package asks pip for, with these extras, as requirements."""
    optional = PROJECT["optional-dependencies"]
    lines = PROJECT["dependencies"] + [line for extra in extras for line in optional[extra]]
    found = [Requirement(line) for line in lines]
    return [each for each in found if each.name != PROJECT["name"]]


def copies(folder, *names):
    """Copy files and folders of the checkout, which stays as it is, to `folder`; return that."""
    for name in names:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def fake_python(folder, body):
    """Write an executable that answers in Python's place; return its path."""
    path = folder / "fakepython"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path
