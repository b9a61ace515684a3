"""`gpulessons notebooks` and `gpulessons lab`: the course's notebooks, copied out and opened."""

import os
import shutil
import sys
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import gpulessons
from gpulessons.cli.terminal import say

PACKAGE = Path(gpulessons.__file__).parent


def notebooks(options):
    """copy the notebooks into a folder; never over changed ones, unless told to"""
    folder, ours = Path(options.folder), carried()
    changed = [notebook for notebook in ours if differs(notebook, folder)]
    if changed and not options.force:
        raise ValueError(
            f"{folder} has other versions of {names(changed)}; nothing was copied. "
            "Name another folder, or replace them with --force."
        )
    copy(ours, folder)
    print(f"The notebooks are in {folder.resolve()}: {names(ours)}")


def lab(options):
    """open the notebooks in JupyterLab, copied into a folder first if this is no checkout"""
    if not util.find_spec("jupyterlab"):
        raise ValueError(
            f"JupyterLab is not installed. Try: {sys.executable} -m pip install jupyterlab. "
            "Or copy the notebooks for another editor: gpulessons notebooks DIR"
        )
    folder = learners_folder(options.folder)
    command = [sys.executable, "-m", "jupyterlab", str(folder.resolve())]
    if without_screen():
        say("There is no screen here. Open the address that JupyterLab prints in a browser.")
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    os.execv(sys.executable, command)


def learners_folder(named):
    """Where to open JupyterLab: the checkout's own notebooks, or a folder that now has them all."""
    if named is None and (PACKAGE.parent / "pyproject.toml").exists():
        return carried()[0].parent
    folder, ours = Path(named or "gpulessons-notebooks"), carried()
    copy([notebook for notebook in ours if not (folder / notebook.name).exists()], folder)
    if changed := [notebook for notebook in ours if differs(notebook, folder)]:
        say(f"Kept as they are in {folder}, though the course has other versions: {names(changed)}")
    return folder


def carried():
    """The notebooks that came with the package: in the wheel, or beside it in a checkout."""
    wheel, checkout = PACKAGE / "_notebooks", PACKAGE.parent / "notebooks"
    found = sorted((wheel if wheel.is_dir() else checkout).glob("*.ipynb"))
    if not found:
        raise ValueError("This gpulessons came without its notebooks. Install it again.")
    return found


def differs(notebook, folder):
    target = folder / notebook.name
    return target.exists() and target.read_bytes() != notebook.read_bytes()


def names(files):
    return ", ".join(file.name for file in files)


def copy(files, folder):
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if not (folder / file.name).exists() or differs(file, folder):
                shutil.copyfile(file, folder / file.name)


@contextmanager
def writing(folder):
    """Turns an OSError inside into a sentence about the folder."""
    try:
        yield
    except OSError as trouble:
        raise ValueError(
            f"Nothing can be written in {folder} ({trouble.strerror}). Name another place."
        ) from trouble


def without_screen():
    on_linux = sys.platform.startswith("linux")
    return on_linux and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
