"""What is shipped and with which versions: the wheel, conda, Binder, make, and the first cell."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from email import message_from_bytes
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import first_cell
import published

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def constraints():
    """Return {package: its exact version} of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def wanted(*extras):
    """Return what the package asks pip for, with these extras, as requirements."""
    optional = PROJECT["optional-dependencies"]
    lines = PROJECT["dependencies"] + [line for extra in extras for line in optional[extra]]
    found = [Requirement(line) for line in lines]
    return [each for each in found if each.name != PROJECT["name"]]


def environment(path):
    """Return (conda's lines, pip's lines) of an environment file."""
    lines = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["dependencies"]
    pip = [line["pip"] for line in lines if isinstance(line, dict)]
    return [line for line in lines if isinstance(line, str)], pip[0]


def copies(folder, *names):
    """Copy files and folders of the checkout, which stays as it is, to `folder`; return that."""
    for name in names:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


# Versions


@pytest.mark.parametrize(
    "requirement", wanted("lab", "gpu", "test", "lite"), ids=lambda each: each.name
)
def test_each_dependency_has_an_exact_version_within_its_bounds(requirement):
    version = constraints()[canonicalize_name(requirement.name)]
    assert "+" not in version  # a build for one kind of machine
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("extras", [(), ("lab",), ("gpu",), ("test",), ("peers",), ("lite",)])
def test_the_package_never_holds_a_hosted_notebook_back(extras):
    operators = {each.operator for line in wanted(*extras) for each in line.specifier}
    assert operators <= {">="}


def test_constraints_leave_the_cuda_wheels_to_pytorch():
    # PyTorch's CUDA build pins these itself, so that a pin of ours could not be satisfied.
    pinned = [name for name in constraints() if re.match(r"cuda-|nvidia-[cn]|triton", name)]
    assert pinned == ["nvidia-cuda-nvdisasm"]  # which PyTorch does not need


def test_conda_installs_the_same_versions():
    conda, pip = environment("environment.yml")
    assert pip == ["-c constraints.txt", "-e .[lab,gpu]"]
    assert "python=3.11" in conda


def test_binder_has_the_same_versions_of_everything_that_lab_and_gpu_ask_for():
    conda, (index, *lines) = environment("binder/environment.yml")
    assert index == "--extra-index-url https://download.pytorch.org/whl/cpu"
    pins = {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}
    exact = constraints()
    assert {name: str(pin.specifier) for name, pin in pins.items()} == {
        name: f"=={exact[name]}" for name in pins
    }
    extras = {canonicalize_name(each.name): each.extras for each in wanted("lab", "gpu")}
    assert {name: pin.extras for name, pin in pins.items()} == extras  # [cu13]: the assembler
    assert conda == environment("environment.yml")[0]


def test_binder_ends_with_the_exact_version_of_every_package(tmp_path):
    fake_python(tmp_path, 'echo "$@"').rename(tmp_path / "python")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / "binder" / "postBuild"], cwd=ROOT, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("-m pip install ")
    assert done.stdout.endswith("--constraint constraints.txt --editable .[lab,gpu]\n")


@pytest.mark.skipif(
    not importlib.util.find_spec("repo2docker"), reason="repo2docker is in the extra dev"
)
def test_binder_builds_from_its_own_environment_file():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "--user-id", "1000"]
    done = subprocess.run(
        [*command, "--user-name", "learner", str(ROOT)], capture_output=True, text=True
    )
    dockerfile = done.stdout + done.stderr
    assert done.returncode == 0, dockerfile[-2000:]
    assert "RUN ./binder/postBuild" in dockerfile
    # The versions are installed before the checkout is copied, so that Binder can keep the layer.
    install, copy = '--file "binder/environment.yml"', "src/ ${REPO_DIR}/"
    assert dockerfile.index(install) < dockerfile.index(copy)


# The wheel


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


# make

MAKE = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


def make(folder, *words):
    """Run our Makefile in a folder of its own; return the finished process, its output as text."""
    copies(folder, "Makefile", "pyproject.toml", "constraints.txt")
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    pipe = {"capture_output": True, "encoding": "utf-8"}
    return subprocess.run(["make", *words], cwd=folder, env=env, **pipe)


@MAKE
def test_make_alone_lists_each_command_with_a_line_of_explanation(tmp_path):
    lines = make(tmp_path).stdout.splitlines()
    named = {line.split()[1] for line in lines if len(line.split()) > 3}
    assert named == {
        "help", "lab", "test", "notebooks", "lite", "bench", "gpu", "nvidia", "clean",
    }  # fmt: skip


def fake_python(folder, body):
    """Write an executable that answers in Python's place; return its path."""
    path = folder / "fakepython"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@MAKE
@pytest.mark.parametrize(
    ("body", "says"),
    [
        # An old Python: the real one, made to think that it is.
        (
            'exec {python} -c "import sys; sys.version_info = (3, 10); exec(sys.argv[1])" "$2"',
            "Python 3.11 or newer and",
        ),
        ('case "$2" in *ensurepip*) exit 1;; esac', "sudo apt install python3-venv"),
    ],
    ids=["old", "without venv"],
)
def test_make_says_what_is_wrong_with_a_python_that_will_not_do(tmp_path, body, says):
    python = fake_python(tmp_path, body.replace("{python}", sys.executable))
    done = make(tmp_path, "lab", f"PYTHON={python}")
    assert done.returncode != 0
    assert says in done.stdout
    assert not (tmp_path / ".venv").exists()


@MAKE
def test_make_says_so_when_there_is_no_python(tmp_path):
    done = make(tmp_path, "test", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "make test PYTHON=" in done.stdout


@MAKE
def test_a_second_make_installs_nothing_until_the_versions_change(tmp_path):
    python = fake_python(tmp_path, "exit 1")
    ready = tmp_path / ".venv" / ".ready"
    ready.parent.mkdir()
    ready.touch()
    later = time.time() + 60
    os.utime(ready, (later, later))
    assert make(tmp_path, ".venv/.ready", f"PYTHON={python}").returncode == 0
    os.utime(ready, (1, 1))
    assert make(tmp_path, ".venv/.ready", f"PYTHON={python}").returncode != 0


@MAKE
def test_make_gpu_needs_no_environment_of_ours(tmp_path):
    python = fake_python(tmp_path, 'echo "$PYTHONPATH" "$@"')
    done = make(tmp_path, "gpu", f"PYTHON={python}", "OUT=report here")
    assert done.stdout.split()[0].split(":")[0] == str(tmp_path)
    assert done.stdout.endswith("benchmarks/gpu.py --out report here\n")
    assert not (tmp_path / ".venv").exists()


# The first cell, where the course is not installed

PIP = "import json, sys; open('asked.json', 'w').write(json.dumps(sys.argv[1:]))"


def run_first_cell(folder, address, installed=(), pip=PIP):
    """Run the cell in an interpreter that finds only `installed`, "name version" each, and a pip
    that does no more than note what it is asked."""
    (folder / "pip").mkdir()
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(pip)
    for name, version in map(str.split, installed):
        (folder / f"{name}.py").touch()
        about = folder / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (folder / "cell.py").write_text(first_cell.first_cell(address), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-S", "cell.py"],  # -S: none of the packages of this environment
        cwd=folder, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True,
    )  # fmt: skip


def asked(folder):
    """Return what the cell asked pip, or None if it did not."""
    note = folder / "asked.json"
    return json.loads(note.read_text()) if note.exists() else None


HOSTED = ("torch 2.11.0+cu128", "numpy 2.1.3")


def test_the_first_cell_fetches_the_course_and_holds_torch_and_numpy_where_they_are(tmp_path):
    done = run_first_cell(tmp_path, "git+https://example.org/course", HOSTED)
    keep = ["torch==2.11.0+cu128", "numpy==2.1.3"]
    assert asked(tmp_path) == ["install", "--quiet", "git+https://example.org/course", *keep]
    assert done.stdout == "Installed gpulessons; kept torch==2.11.0+cu128 numpy==2.1.3\n"


def test_the_first_cell_lets_pip_choose_what_is_not_there(tmp_path):
    run_first_cell(tmp_path, "course.whl", ("numpy 2.1.3",))
    assert asked(tmp_path) == ["install", "--quiet", "course.whl", "numpy==2.1.3"]


def test_the_first_cell_does_nothing_where_the_course_is_installed(tmp_path):
    done = run_first_cell(tmp_path, "course.whl", (*HOSTED, "gpulessons 0.1.0"))
    assert (done.returncode, done.stdout, asked(tmp_path)) == (0, "", None)


def test_the_first_cell_says_how_to_bring_a_course_that_has_no_address(tmp_path):
    done = run_first_cell(tmp_path, "", HOSTED)
    assert (done.returncode, done.stderr, asked(tmp_path)) == (0, "", None)
    (said,) = done.stdout.splitlines()
    assert said.startswith("The course is not installed here: put its wheel (pip wheel --no-deps .")


@pytest.mark.parametrize("address", ["", "git+https://example.org/course"])
def test_the_first_cell_takes_a_wheel_beside_the_notebook(tmp_path, address):
    wheel = "gpulessons-0.1.0-py3-none-any.whl"
    (tmp_path / wheel).touch()
    (tmp_path / "gpulessons-0.1.0-py3-none-any (1).whl").touch()  # pip refuses such a name
    done = run_first_cell(tmp_path, address, HOSTED)
    assert asked(tmp_path)[:3] == ["install", "--quiet", wheel]
    assert done.stdout.startswith("Installed gpulessons")


def test_the_first_cell_does_not_go_on_when_pip_fails(tmp_path):
    done = run_first_cell(tmp_path, "course.whl", HOSTED, pip="raise SystemExit(1)")
    assert done.returncode == 1
    assert "Installed" not in done.stdout


def test_pip_leaves_what_the_first_cell_names_as_it_is():
    # The same request to the real pip, of this environment: nothing to do, and no index asked.
    names = [name for name in ("torch", "numpy") if importlib.util.find_spec(name)]
    keep = [f"{name}=={metadata.version(name)}" for name in names]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", *keep]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Would install" not in done.stdout
    assert done.stdout.count("Requirement already satisfied: ") >= len(keep)


def test_the_address_for_which_a_first_cell_was_made_is_found_again():
    for address in ("", "git+https://example.org/course.git"):
        assert first_cell.address_in(first_cell.first_cell(address)) == address
    assert first_cell.address_in("import gpulessons") is None


# Where it is published


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/some/course.git", "git+https://github.com/some/course.git"),
        ("https://me:secret@github.com/some/course", "git+https://github.com/some/course"),
        ("https://git.example.org:8443/course", "git+https://git.example.org:8443/course"),
        ("git@github.com:some/course.git", "git+https://github.com/some/course.git"),
        ("ssh://git@gitlab.com:22/some/course", "git+https://gitlab.com/some/course"),
        ("git@git.example.org:course.git", ""),  # by ssh; who knows whether it answers by https
        ("http://github.com/some/course", ""),
        ("https://localhost/course", ""),
        ("https://127.0.0.1:3000/course", ""),
        ("https://[::1]/course", ""),
        ("https://10.0.0.7/course", ""),
        ("https://box/course", ""),
        ("https://git.internal/course", ""),
        ('https://example.org/"course', ""),
        ("https://[broken/course", ""),
        ("file:///srv/course", ""),
        ("/srv/course", ""),
        ("../course", ""),
        ("C:/course", ""),
        ("", ""),
    ],
)
def test_only_a_public_remote_is_an_address_and_no_password_is_in_it(remote, address):
    assert published.public(remote) == address


def git(folder, *words):
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def test_the_address_is_the_checkouts_own_remote(tmp_path):
    assert published.address(tmp_path) == ""
    git(tmp_path, "init")
    assert published.address(tmp_path) == ""
    git(tmp_path, "remote", "add", "origin", "https://example.org/course.git")
    assert published.address(tmp_path) == "git+https://example.org/course.git"
    inner = tmp_path / "unpacked"
    inner.mkdir()
    assert published.address(inner) == ""  # the repository around it is another's


def test_a_checkout_with_a_public_remote_names_it_to_the_index(tmp_path):
    copies(tmp_path, "README.md")
    git(tmp_path, "init")
    git(tmp_path, "remote", "add", "origin", "https://example.org/course.git")
    told = {}
    published.Metadata(str(tmp_path), {}).update(told)
    assert told["urls"] == {"Source": "https://example.org/course.git"}


def test_an_index_gets_the_readmes_words_without_its_pictures_and_links():
    readme = "![A page](docs/a.png)\n\nSee [00](notebooks/00.ipynb), [us](https://example.org).\n"
    assert published.long_description(readme) == "See 00, [us](https://example.org).\n"
