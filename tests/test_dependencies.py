"""What the course asks for: exact versions for `make` and conda, lower bounds for all others."""

import re

import pytest
import yaml
from packaging.utils import canonicalize_name

from checkout import ROOT, pins, wanted

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


def test_conda_installs_the_same_versions_and_binder_the_same_python():
    conda, pip = environment("environment.yml")
    assert pip == ["-c constraints.txt", "-e .[lab,gpu]"]
    assert "python=3.11" in conda
    assert environment("binder/environment.yml") == (conda, [])
