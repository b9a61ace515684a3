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
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import first_cell
import published
from gpulessons.cli import opening

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
    pip = [line for each in lines if isinstance(each, dict) for line in each["pip"]]
    return [line for line in lines if isinstance(line, str)], pip


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


NEEDED = wanted("lab", "gpu", "site", "lite", "test", "class")


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda each: each.name)
def test_each_dependency_has_an_exact_version_within_its_bounds(requirement):
    version = constraints()[canonicalize_name(requirement.name)]
    assert "+" not in version  # a build for one kind of machine
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("extra", ["lab", "gpu", "test", "peers", "class", "site", "lite"])
def test_the_package_never_holds_a_hosted_notebook_back(extra):
    operators = {each.operator for line in wanted(extra) for each in line.specifier}
    assert operators <= {">="}


def test_constraints_leave_the_cuda_wheels_to_pytorch():
    # PyTorch's CUDA build pins these itself, so that a pin of ours could not be satisfied.
    pinned = [name for name in constraints() if re.match(r"cuda-|nvidia-[cn]|triton", name)]
    assert pinned == ["nvidia-cuda-nvdisasm"]  # which PyTorch does not need


def colab():
    """Return {package: its exact version} in an environment like Colab's."""
    lines = (ROOT / "tools" / "colab.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def test_the_package_takes_colabs_versions_as_they_are():
    pins = colab()
    low = [each for each in wanted() if not each.specifier.contains(pins[each.name])]
    assert not low
    assert not [name for name in pins if name.endswith("cu13")]


def test_the_newest_of_everything_is_what_the_lab_needs_and_no_version_of_it():
    command = [sys.executable, ROOT / "tools" / "wanted.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    asked = {Requirement(line).name: Requirement(line) for line in done.stdout.splitlines()}
    assert {each.name for each in wanted("lab", "gpu")} | {"nbclient"} == set(asked)
    assert all({one.operator for one in each.specifier} <= {">="} for each in asked.values())


def test_the_exact_versions_install_on_the_oldest_python_that_the_course_takes():
    # Debian 12 has 3.11.2, and a package may ask for 3.11.5. What is installed here tells.
    oldest = PROJECT["requires-python"].removeprefix(">=") + ".0"
    exact = constraints()
    for each in metadata.distributions():
        if exact.get(canonicalize_name(each.name)) == each.version:
            pythons = SpecifierSet(each.metadata["Requires-Python"] or "")
            assert oldest in pythons, f"{each.name} {each.version}"


def test_conda_installs_the_same_versions_and_binder_the_same_python():
    conda, pip = environment("environment.yml")
    assert pip == ["-c constraints.txt", "-e .[lab,gpu]"]
    assert "python=3.11" in conda
    assert environment("binder/environment.yml") == (conda, [])


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


def test_binder_asks_the_course_how_many_cores_it_may_use():
    (code,) = re.findall(r"python -c '(.*?)'", (ROOT / "binder" / "start").read_text(), re.S)
    script = f"from gpulessons.hardware import system\nsystem.cores = lambda: CORES\n{code}"
    for cores, said in (("1e9", ""), ("0", "0\n")):
        command = [sys.executable, "-c", script.replace("CORES", cores)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout == said


@pytest.mark.skipif(not importlib.util.find_spec("repo2docker"), reason="repo2docker is missing")
def test_binder_builds_from_its_own_files():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "--user-id", "1000"]
    done = subprocess.run(
        [*command, "--user-name", "learner", str(ROOT)], capture_output=True, text=True
    )
    dockerfile = done.stdout + done.stderr
    assert done.returncode == 0, dockerfile[-2000:]
    assert "Building conda environment for python=3.11" in dockerfile
    assert "RUN ./binder/postBuild" in dockerfile
    assert "R2D_ENTRYPOINT=${REPO_DIR}/binder/start" in re.sub(r'[" ]', "", dockerfile)


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
        "help", "lab", "test", "notebooks", "bench", "gpu", "nvidia", "colab", "newest", "offline",
        "site", "lite", "clean",
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
def test_make_colab_takes_the_nearest_python_that_runs_and_says_so_where_none_does(tmp_path):
    copies(tmp_path, "tools")
    old = fake_python(tmp_path, "exit 1")
    done = make(tmp_path, "colab", f"COLAB=no-such-python {old}")
    assert done.returncode != 0
    assert f"None of no-such-python {old} runs here" in done.stdout
    body = 'echo "$@"; case "$*" in *venv?--clear*) exit 1;; esac'
    near = fake_python(tmp_path, body)
    done = make(tmp_path, "colab", f"COLAB=no-such-python {near}")
    assert "-m venv --clear .venv-colab" in done.stdout
    assert not (tmp_path / ".venv-colab" / ".ready").exists()


@MAKE
def test_make_newest_says_so_when_its_python_does_not_run(tmp_path):
    done = make(tmp_path, "newest", "NEWEST=no-such-python")
    assert done.returncode != 0
    assert "make newest NEWEST=" in done.stdout


@MAKE
def test_make_gpu_needs_no_environment_of_ours(tmp_path):
    python = fake_python(tmp_path, 'echo "$PYTHONPATH" "$@"')
    done = make(tmp_path, "gpu", f"PYTHON={python}", "OUT=report here")
    assert done.stdout.split()[0].split(":")[0] == str(tmp_path)
    assert done.stdout.endswith("benchmarks/gpu.py --out report here\n")
    assert not (tmp_path / ".venv").exists()


# The first cell, where the course is not installed

# No more than note what it is asked, and leave a course behind.
PIP = """import json, os, sys
open('asked.json', 'w').write(json.dumps(sys.argv[1:]))
os.makedirs('gpulessons/notebook')
open('gpulessons/notebook/arrival.py', 'w').write("def say(kept): print('kept', *kept)")
"""


def run_first_cell(folder, address, installed=(), pip=PIP, paths=()):
    """Run the cell in an interpreter that finds only `installed`, "name version" each, and a pip
    that is none."""
    (folder / "pip").mkdir()
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(pip)
    for name, version in map(str.split, installed):
        (folder / f"{name}.py").touch()
        about = folder / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (folder / "cell.py").write_text(first_cell.first_cell(address), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return subprocess.run(
        [sys.executable, "-S", "cell.py"],  # -S: none of the packages of this environment
        cwd=folder, env=env, capture_output=True, text=True,
    )  # fmt: skip


def asked(folder):
    """Return what the cell asked pip, or None if it did not."""
    note = folder / "asked.json"
    return json.loads(note.read_text()) if note.exists() else None


KEPT = ["IPython==7.34.0", "cuda-bindings==12.9.7", "ipywidgets==7.7.1", "llvmlite==0.44.0",
        "numba-cuda==0.22.2", "numba==0.61.2", "numpy==2.1.3", "torch==2.11.0+cu128"]  # fmt: skip
HOSTED = [line.replace("==", " ") for line in KEPT]
COURSE = "git+https://example.org/course"


def test_the_first_cell_fetches_the_course_and_holds_what_is_there_where_it_is(tmp_path):
    done = run_first_cell(tmp_path, COURSE, [*HOSTED, "pandas 2.2.2"])
    assert asked(tmp_path) == ["install", "--quiet", COURSE, *KEPT], done.stderr
    assert done.stdout == f"kept {' '.join(KEPT)}\n"


def test_of_a_library_that_is_there_twice_the_first_cell_keeps_the_one_that_is_imported(tmp_path):
    later = tmp_path / "later" / "numpy-1.26.4.dist-info"
    later.mkdir(parents=True)
    (later / "METADATA").write_text("Name: numpy\nVersion: 1.26.4\n")
    (tmp_path / "broken-1.dist-info").mkdir()
    run_first_cell(tmp_path, COURSE, ("numpy 2.1.3",), paths=[tmp_path / "later"])
    assert asked(tmp_path) == ["install", "--quiet", COURSE, "numpy==2.1.3"]


def test_the_first_cell_lets_pip_choose_what_is_not_there(tmp_path):
    run_first_cell(tmp_path, COURSE, ("numpy 2.1.3",))
    assert asked(tmp_path) == ["install", "--quiet", COURSE, "numpy==2.1.3"]


def test_the_first_cell_does_nothing_where_the_course_is_installed(tmp_path):
    done = run_first_cell(tmp_path, COURSE, (*HOSTED, "gpulessons 0.1.0"))
    assert (done.returncode, done.stdout, asked(tmp_path)) == (0, "", None)


def test_the_first_cell_says_how_to_bring_a_course_that_has_no_address(tmp_path):
    done = run_first_cell(tmp_path, "", HOSTED)
    assert (done.returncode, done.stderr, asked(tmp_path)) == (0, "", None)
    (said,) = done.stdout.splitlines()
    assert said.startswith("The course is missing.")
    assert all(way in said for way in ("wheel", "zip", "pip install a clone"))


WHEEL = "gpulessons-0.1.0-py3-none-any.whl"


@pytest.mark.parametrize("address", ["", COURSE])
@pytest.mark.parametrize(
    ("beside", "taken"),
    [
        ([WHEEL], WHEEL),
        ([WHEEL, "gpulessons-0.1.0-py3-none-any (1).whl"], WHEEL),  # pip refuses such a name
        (["gpulessons-main.zip"], "gpulessons-main.zip"),
        ([WHEEL, "gpulessons-main.zip"], WHEEL),
    ],
)
def test_the_first_cell_takes_what_is_beside_the_notebook(tmp_path, address, beside, taken):
    for name in beside:
        (tmp_path / name).touch()
    run_first_cell(tmp_path, address, HOSTED)
    assert asked(tmp_path)[:3] == ["install", "--quiet", taken]


def test_the_first_cell_does_not_go_on_when_pip_fails(tmp_path):
    done = run_first_cell(tmp_path, COURSE, HOSTED, pip="raise SystemExit(1)")
    assert done.returncode == 1
    assert done.stdout == ""


def test_pip_leaves_what_the_first_cell_names_as_it_is():
    # The same request to the real pip, of this environment: nothing to do, and no index asked.
    names = [line.partition("==")[0] for line in KEPT]
    there = {each.name.lower() for each in metadata.distributions()}
    keep = [f"{name}=={metadata.version(name)}" for name in names if name.lower() in there]
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
    themed = '<picture>\n<source srcset="b.png">\n<img src="a.png">\n</picture>\n\nSee it.'
    assert published.long_description(themed) == "See it."
