"""The folder that installs the course without a network, from stand-ins of the packages' wheels.

The stand-ins are a few hundred bytes each, lie in a folder and are all that pip may look at here.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

import offline
from checkout import ROOT, pins, wanted

pytestmark = pytest.mark.nightly

HERE = "{}.{}".format(*sys.version_info)
LINUX, WINDOWS, MAC = (
    offline.Target(offline.SYSTEMS[name], HERE) for name in ("linux", "windows", "mac")
)
OFF = ("unshare", "--net", "--map-root-user")  # a process of its own network: none


def wheel(folder, name, version="1", requires=(), tag="py3-none-any", bulk=0):
    """Write a wheel with no code in it."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{canonicalize_name(name).replace('-', '_')}-{version}"
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    about = f"{stem}.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w") as inside:
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nProvides-Extra: x\n"
        inside.writestr(f"{about}/METADATA", head + lines)
        inside.writestr(
            f"{about}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
        )
        inside.writestr(
            f"{about}/RECORD", f"{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n"
        )
        if bulk:
            inside.writestr("bulk.txt", "0" * bulk)
    return folder / f"{stem}-{tag}.whl"


@contextmanager
def only(folder):
    """Meanwhile pip looks for wheels in this folder, and nowhere else."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            patch.delenv(name)
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(folder))
        yield folder


@pytest.fixture
def shelf(tmp_path):
    """A folder for wheels, in which alone pip looks."""
    (tmp_path / "shelf").mkdir()
    with only(tmp_path / "shelf") as folder:
        yield folder


def gathered(tmp_path, target, *requires):
    """Gather what a course with these requirements needs; return {package: version}."""
    course = wheel(tmp_path / "built", "gpulessons", requires=requires)
    folder = offline.gather(course, target, tmp_path / "kit", tmp_path / "wheels")
    assert offline.lacking(folder, target) == {}
    names = (path.name.split("-") for path in folder.glob("*.whl"))
    return {canonicalize_name(name): version for name, version, *_ in names if name != "gpulessons"}


# What is gathered


def test_what_packages_need_is_gathered_as_the_other_machine_reads_it(shelf, tmp_path):
    wheel(shelf, "a", requires=['w; sys_platform == "win32"', 'p; os_name == "posix"', "b"])
    wheel(shelf, "b", requires=['m; platform_machine == "arm64"', 'n; python_version < "3.11"'])
    for name in "wpm":
        wheel(shelf, name)
    found = {
        target: set(gathered(tmp_path / target.system.kernel, target, 'a; extra == "lab"'))
        for target in (LINUX, WINDOWS, MAC)
    }
    assert found == {LINUX: {"a", "b", "p"}, WINDOWS: {"a", "b", "w"}, MAC: {"a", "b", "p", "m"}}


def test_each_system_gets_its_own_build_and_linux_an_old_one(shelf, tmp_path):
    for tag in ("manylinux_2_17_x86_64", "manylinux_2_39_x86_64", "win_amd64"):
        wheel(shelf, "a", version=f"1.{len(tag)}", tag=f"py3-none-{tag}")
    assert gathered(tmp_path / "1", LINUX, "a") == {"a": "1.21"}
    assert gathered(tmp_path / "2", WINDOWS, "a") == {"a": "1.9"}


def test_what_pip_cannot_get_is_said_in_a_sentence(shelf, tmp_path):
    with pytest.raises(SystemExit) as told:
        gathered(tmp_path, WINDOWS, "nowhere")
    assert f"could not get a package for Python {HERE} on Windows" in str(told.value)
    assert "--python" in str(told.value)


# The folder, and an installation from it


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """A folder for the three systems, of stand-ins for all that the course asks for by name."""
    shelf, out = tmp_path_factory.mktemp("shelf"), tmp_path_factory.mktemp("kit")
    exact = pins()
    for each in wanted("lab", "gpu"):
        name = canonicalize_name(each.name)
        if name != "torch":
            wheel(shelf, name, version=exact[name], bulk=1000)
    wheel(shelf, "torch", exact["torch"] + "+cpu", tag="py3-none-manylinux_2_28_x86_64")
    wheel(shelf, "torch", exact["torch"], tag="py3-none-win_amd64")
    wheel(shelf, "torch", exact["torch"], tag="py3-none-macosx_11_0_arm64")
    with only(shelf):
        offline.make(out, [LINUX, WINDOWS, MAC])
    return out


def install(kit, folder, *before):
    """Run the folder's installer, with nothing of this environment; return the finished process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    dead = {f"{name}_PROXY": "http://127.0.0.1:9" for name in ("HTTP", "HTTPS", "ALL")}
    command = [*before, sys.executable, str(kit / "install.py"), str(folder)]
    return subprocess.run(command, env=env | dead, capture_output=True, encoding="utf-8")


@pytest.mark.skipif(not offline.this_system(), reason="the folder serves no system like this one")
def test_the_folder_installs_the_course_with_the_network_off(kit, tmp_path):
    off = OFF if shutil.which("unshare") and not subprocess.call([*OFF, "true"]) else ()
    mine = tmp_path / "mine"
    done = install(kit, mine, *off)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f'lab "{mine / "notebooks"}"' in done.stdout.splitlines()[-1]
    names = {path.name for path in ROOT.glob("notebooks/*.ipynb")}
    assert {path.name for path in (mine / "notebooks").glob("*.ipynb")} == names
    python = mine / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [python, "-I", "-c", "import gpulessons; print(gpulessons.__file__)"]
    found = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    assert found.is_relative_to(mine)

    # Once more: the course is renewed, and what a learner changed stays.
    changed = mine / "notebooks" / min(names)
    changed.write_text("changed")
    found.write_text("outdated")
    done = install(kit, mine, *off)
    assert done.returncode == 0, done.stdout + done.stderr
    assert changed.read_text() == "changed"
    subprocess.run(command, capture_output=True, check=True)

    # From a folder that lost its wheels: a sentence, and no traceback.
    less = tmp_path / "less"
    shutil.copytree(kit, less, ignore=shutil.ignore_patterns("*.whl"))
    done = install(less, mine, *off)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Could not renew the course; what is above says")


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(SystemExit, match="has other things in it"):
        offline.make(tmp_path, [LINUX])
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def installer_with(tmp_path, **facts):
    """A folder whose list says something else of the one machine that it serves: this one."""
    here = {"system": platform.system(), "machine": platform.machine(), "python": HERE}
    serves = [{**here, "label": "a machine", "unpacked": 1, **facts}]
    told = {"course": "gpulessons==0", "serves": serves}
    (tmp_path / "kit.json").write_text(json.dumps(told))
    shutil.copy(ROOT / "tools" / "offline_install.py", tmp_path / "install.py")
    return tmp_path


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"python": "3.99", "label": "Python 3.99 on Elsewhere"},
         "This folder serves Python 3.99 on Elsewhere, and this is Python"),
        ({"unpacked": 10**18}, "Name a folder on another disk"),
    ],
    ids=["another Python", "a full disk"],
)  # fmt: skip
def test_the_installer_says_why_it_will_not_begin(tmp_path, facts, says):
    done = install(installer_with(tmp_path, **facts), tmp_path / "mine")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert says in line
    assert not (tmp_path / "mine").exists()
