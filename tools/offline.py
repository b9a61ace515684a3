"""Gather the course and all that it needs into one folder that installs without a network.

    python tools/offline.py                                         for this system, this Python
    python tools/offline.py --system windows mac --python 3.12 3.13   for others

pip chooses for the machine that it runs on. So each wheel's own list of what it needs is read here
as the other machine would read it, and pip only fetches, until nothing is lacking. The exact
versions are those of constraints.txt. Every wheel is fetched as one that an older Linux or macOS
can use, so that the folder serves more machines than the one that made it.
"""

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename

from gpulessons.cli import copies

ROOT = Path(__file__).parents[1]
COURSE = "gpulessons[lab,gpu]"  # without a GPU, too: `assembly` needs NVIDIA's compiler, no driver
INSTALLER = "install.py"
LIST = "kit.json"  # what the installer reads: whom the folder serves
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"  # on Linux PyPI has the CUDA build, gigabytes


@dataclass(frozen=True)
class System:
    """What pip calls a system, and what a marker such as `sys_platform == "win32"` is read with."""

    label: str
    tags: tuple[str, ...]
    platform: str
    kernel: str  # platform.system()
    machine: str  # platform.machine()


OLDER_LINUX = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)]
SYSTEMS = {
    "linux": System(
        "Linux on x86-64 (glibc 2.28 or newer)",
        (*OLDER_LINUX, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"),
        "linux", "Linux", "x86_64",
    ),
    "windows": System("Windows on x86-64", ("win_amd64",), "win32", "Windows", "AMD64"),
    "mac": System("macOS 14 or newer on Apple silicon", ("macosx_14_0_arm64",), "darwin", "Darwin",
                  "arm64"),
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A system and a Python, "3.12", that the folder shall serve."""

    system: System
    python: str

    def __str__(self):
        return f"Python {self.python} on {self.system.label}"

    def options(self):
        """How pip is asked for the wheels of another machine."""
        tags = [f"--platform={tag}" for tag in self.system.tags]
        return [*tags, f"--python-version={self.python}", "--only-binary=:all:", "--no-deps"]

    def wants(self, requirement, extras):
        """Whether what a package lists is meant for this machine, given the extras asked for."""
        words = {
            **default_environment(),
            "sys_platform": self.system.platform,
            "platform_system": self.system.kernel,
            "platform_machine": self.system.machine,
            "os_name": "nt" if self.system.platform == "win32" else "posix",
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
        }
        marker = requirement.marker
        return not marker or any(
            marker.evaluate({**words, "extra": name}) for name in extras | {""}
        )


# What is lacking


def listed(wheel):
    """Return the requirements in a wheel's own metadata."""
    with zipfile.ZipFile(wheel) as inside:
        about = next(name for name in inside.namelist() if name.endswith(".dist-info/METADATA"))
        told = message_from_bytes(inside.read(about))
    return [Requirement(line) for line in told.get_all("Requires-Dist", [])]


def asked(folder, target):
    """Return {package: the versions that will do}: the course's needs, and theirs, as far as the
    folder's wheels tell."""
    wheels = held(folder)
    versions, extras = defaultdict(SpecifierSet), defaultdict(set)
    todo = [Requirement(COURSE)]
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        seen = name in versions and wanted.extras <= extras[name]
        versions[name] &= wanted.specifier
        extras[name] |= wanted.extras
        if name in wheels and not seen:
            needs = listed(wheels[name])
            todo += [need for need in needs if target.wants(need, extras[name])]
    return dict(versions)


def held(folder):
    """Return {package: its wheel} of a folder."""
    return {parse_wheel_filename(path.name)[0]: path for path in sorted(folder.glob("*.whl"))}


def lacking(folder, target):
    """Return {package: the versions that will do} of all that the folder must still get."""
    wheels = held(folder)
    found = asked(folder, target)
    return {
        name: versions
        for name, versions in found.items()
        if name not in wheels
        or not versions.contains(parse_wheel_filename(wheels[name].name)[1], prereleases=True)
    }


# Fetching


def pins(target, cuda):
    """Return {package: its exact version} for a target: constraints.txt, and PyTorch's build."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    exact = {canonicalize_name(name): version for name, version in exact.items()}
    if target.system is SYSTEMS["linux"] and not cuda:
        exact["torch"] += "+cpu"
    return exact


def gather(course, target, near, folder, cuda=False):
    """Fetch into an empty folder what one target needs, the course's wheel included.

    `near` is a folder with wheels of an earlier run, which are not fetched twice.
    """
    folder.mkdir(parents=True)
    shutil.copy(course, folder)
    exact = pins(target, cuda)
    earlier = [f"--find-links={near}"] if near.is_dir() else []
    while wanted := lacking(folder, target):
        for name in wanted:  # a version that a later wheel forbids
            held(folder).get(name, folder / "none").unlink(missing_ok=True)
        lines = [f"{name}{exactly(name, versions, exact)}" for name, versions in wanted.items()]
        small = [line for line in lines if "+cpu" in line]
        if small:
            fetch(small, target, folder, [*earlier, f"--extra-index-url={CPU_BUILDS}"])
        if others := [line for line in lines if line not in small]:
            fetch(others, target, folder, earlier)
    return folder


def exactly(name, versions, exact):
    """Return the specifier to ask pip for: all that is asked, and the exact version if any."""
    pinned = SpecifierSet(f"=={exact[name]}") if name in exact else SpecifierSet()
    return str(versions & pinned)


def fetch(lines, target, folder, more):
    """Have pip put these wheels into the folder; SystemExit with a sentence when it cannot."""
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check"]
    done = subprocess.run([*command, f"--dest={folder}", *target.options(), *more, *lines])
    if done.returncode:
        raise SystemExit(
            f"pip could not get a package for {target}; its last lines above say which. "
            "Try another Python (--python), or again with a network."
        )


def built(folder, project=ROOT, name="gpulessons"):
    """Build a project's wheel into the folder, the course's unless given; return its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", f"--wheel-dir={folder}"]
    if subprocess.run([*command, *options, str(project)]).returncode:
        raise SystemExit("The wheel could not be built; pip says above why.")
    return next(folder.glob(f"{name}-*.whl"))


# The folder


def make(out, targets, cuda=False):
    """Make the folder, or renew one made before; nothing that was put there by hand goes."""
    if out.exists() and any(out.iterdir()) and not (out / LIST).exists():
        raise SystemExit(f"{out} has other things in it. Name an empty or a new folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".gathering-") as temporary:
        work = Path(temporary)
        course = built(work)
        needs = {}
        for number, target in enumerate(targets):
            print(f"Gathering what the course needs with {target} …", flush=True)
            wheels = gather(course, target, out / "wheels", work / str(number), cuda)
            needs[target] = unpacked(wheels)
        told = {
            "course": f"{COURSE}=={parse_wheel_filename(course.name)[1]}",
            "serves": [
                {"system": target.system.kernel, "machine": target.system.machine,
                 "python": target.python, "label": str(target), "unpacked": needs[target]}
                for target in targets
            ],
        }  # fmt: skip
        # First of all, for by it a folder that was interrupted here is known again.
        (out / LIST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        renew(out, course, [work / str(number) for number in range(len(targets))])
    shutil.copy(Path(__file__).with_name("offline_install.py"), out / INSTALLER)
    (out / "README.txt").write_text(readme(out, told), encoding="utf-8")


def renew(out, course, gathered):
    """Put the gathered wheels in the place of those of an earlier run, and the notebooks beside."""
    fresh = {path.name: path for folder in gathered for path in folder.glob("*.whl")}
    wheels, notebooks = out / "wheels", out / "notebooks"
    for folder in (wheels, notebooks):
        folder.mkdir(exist_ok=True)
    for old in wheels.glob("*.whl"):
        if old.name not in fresh:
            old.unlink()
    for name, path in fresh.items():
        path.replace(wheels / name)
    for old in notebooks.glob("gpulessons-*.whl"):
        old.unlink()
    shutil.copy(course, notebooks)
    ours = copies.texts()
    changed = copies.changed(notebooks, ours)
    copies.bring(notebooks, {name: text for name, text in ours.items() if name not in changed})
    if changed:
        print("Left as they were changed:", ", ".join(changed))


def unpacked(folder):
    """Return the bytes that a folder's wheels take once they are installed."""
    total = 0
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as inside:
            total += sum(each.file_size for each in inside.infolist())
    return total


def readme(out, told):
    """Return what the folder says of itself."""
    wheels = list((out / "wheels").glob("*.whl"))
    size = sum(path.stat().st_size for path in wheels) / 1e6
    serves = "\n".join(
        f"    {each['label']}; {each['unpacked'] / 1e6:,.0f} MB once installed"
        for each in told["serves"]
    )
    return f"""\
How GPUs accelerate deep learning, and when they don't: the course, for machines without a network.

This folder installs it with

{serves}

and needs only that Python: its installer (python.org) is not in here. Copy the folder to the
machine, or open it from a stick or a share, and in a terminal there:

    python {INSTALLER}             (python3 on Linux and macOS; into the folder gpulessons-course)
    python {INSTALLER} FOLDER      into another folder; on Windows a short one, such as C:\\course

It prints the command that opens the notebooks. Run it again after an interruption, or with a newer
folder like this one: notebooks that were changed stay as they are.

wheels/      {len(wheels)} packages, {size:,.0f} MB; the versions are those of the course's tests
notebooks/   the notebooks, and the course's wheel beside them. For a hosted notebook (Colab, say),
             upload one notebook and the wheel: the first cell installs it, and there it does
             need the network for what the host lacks.
"""


def this_system():
    """Return the name of the system that this runs on; None when the kit cannot serve it."""
    here = platform.system(), platform.machine()
    names = (name for name, each in SYSTEMS.items() if (each.kernel, each.machine) == here)
    return next(names, None)


def version(text):
    """Read a version of Python from the command line."""
    if not re.fullmatch(r"3\.(1[1-9]|[2-9]\d)", text):
        raise argparse.ArgumentTypeError(f"{text} is no version like 3.12, from 3.11 on")
    return text


def arguments():
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("offline-kit"), metavar="DIR")
    parser.add_argument(
        "--system", nargs="+", choices=SYSTEMS, default=[this_system()], help="default: this one"
    )
    parser.add_argument(
        "--python", nargs="+", type=version, default=["{}.{}".format(*sys.version_info)],
        metavar="3.N", help="default: this one",
    )  # fmt: skip
    parser.add_argument(
        "--cuda", action="store_true", help="on Linux PyTorch's CUDA build: gigabytes more"
    )
    options = parser.parse_args()
    if None in options.system:
        parser.error("the kit knows no system like this one. Name one or more with --system.")
    return options


def main():
    """Make the folder that the command line names and say what it has become."""
    options = arguments()
    targets = [
        Target(SYSTEMS[name], python) for name in options.system for python in options.python
    ]
    make(options.out, targets, options.cuda)
    size = sum(path.stat().st_size for path in options.out.rglob("*") if path.is_file()) / 1e6
    print(f"{options.out.resolve()}: {size:,.0f} MB. On the other machine: python {INSTALLER}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Interrupted. Run it again: it goes on from there.") from None
