"""What the course asks for: exact versions for `make` and conda, lower bounds for all others."""

import re
import subprocess
import sys
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from checkout import PROJECT, ROOT, pins, wanted

NEEDED = wanted("lab", "gpu", "site", "lite", "test", "class")


def environment(path):
    """Return (conda's lines, pip's lines) of an environment file."""
    lines = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["dependencies"]
    pip = [line for each in lines if isinstance(each, dict) for line in each["pip"]]
    return [line for line in lines if isinstance(line, str)], pip


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda each: each.name)
def test_each_dependency_has_an_exact_version_within_its_bounds(requirement):
    version = pins()[canonicalize_name(requirement.name)]
    assert "+" not in version  # a build for one kind of machine
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("extra", ["lab", "gpu", "test", "peers", "class", "site", "lite"])
def test_the_package_never_holds_a_hosted_notebook_back(extra):
    operators = {each.operator for line in wanted(extra) for each in line.specifier}
    assert operators <= {">="}


def test_constraints_leave_the_cuda_wheels_to_pytorch():
    # PyTorch's CUDA build pins these itself, so that a pin of ours could not be satisfied.
    pinned = [name for name in pins() if re.match(r"cuda-|nvidia-[cn]|triton", name)]
    assert pinned == ["nvidia-cuda-nvdisasm"]  # which PyTorch does not need


def test_the_package_takes_colabs_versions_as_they_are():
    colab = pins("tools/colab.txt")
    low = [each for each in wanted() if not each.specifier.contains(colab[each.name])]
    assert not low
    assert not [name for name in colab if name.endswith("cu13")]


def test_the_newest_of_everything_is_what_the_lab_needs_and_no_version_of_it():
    command = [sys.executable, ROOT / "tools" / "wanted.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    asked = {Requirement(line).name: Requirement(line) for line in done.stdout.splitlines()}
    assert {each.name for each in wanted("lab", "gpu")} | {"nbclient"} == set(asked)
    assert all({one.operator for one in each.specifier} <= {">="} for each in asked.values())


def test_the_exact_versions_install_on_the_oldest_python_that_the_course_takes():
    # Debian 12 has 3.11.2, and a package may ask for 3.11.5. What is installed here tells.
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    exact = pins()
    for each in metadata.distributions():
        if exact.get(canonicalize_name(each.name)) == each.version:
            pythons = SpecifierSet(each.metadata["Requires-Python"] or "")
            assert oldest in pythons, f"{each.name} {each.version}"


def test_conda_installs_the_same_versions_and_binder_the_same_python():
    conda, pip = environment("environment.yml")
    assert pip == ["-c constraints.txt", "-e .[lab,gpu]"]
    assert "python=3.11" in conda
    assert environment("binder/environment.yml") == (conda, [])
