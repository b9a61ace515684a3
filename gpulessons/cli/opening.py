"""`gpulessons notebooks` and `gpulessons lab`: the course's notebooks, copied out and opened."""

import os
import sys
import sysconfig
from argparse import Namespace
from contextlib import suppress
from importlib import util
from pathlib import Path

from . import copies
from .terminal import GET_LAB, Parser, say

# Defaults for JupyterLab, laid under the learner's own settings: no news, room for the names.
SETTINGS = Path(__file__).parent / "jupyter"


def describe(opening: Parser, copying: Parser) -> None:
    """Add what `lab` and `notebooks` take to their parsers."""
    where = f"where your copy of the notebooks is, or goes; default: {copies.usual_folder().name}"
    opening.add_argument("folder", metavar="DIR", nargs="?", help=where)
    copying.add_argument("folder", metavar="DIR", help="where the copies go")


def notebooks(options: Namespace) -> None:
    """copy the notebooks into a folder; never over changed ones"""
    folder, ours = Path(options.folder), copies.texts()
    if kept := copies.changed(folder, ours):
        raise ValueError(
            f"{folder} has other versions of {', '.join(kept)}; nothing was copied. "
            "Name another folder, or move them away."
        )
    copies.bring(folder, ours)
    print(f"{len(ours)} notebooks are in {folder.resolve()}")


def lab(options: Namespace) -> None:
    """open a copy of the notebooks in JupyterLab; what you change there is never replaced"""
    if not util.find_spec("jupyterlab"):
        raise ValueError(
            f"JupyterLab is not installed. Try: {GET_LAB}. "
            "Or copy the notebooks for another editor: gpulessons notebooks DIR"
        )
    folder = learners_folder(options.folder)
    first = f"--LabApp.default_url=/lab/tree/{copies.carried()[0].name}"
    command = [sys.executable, "-m", "jupyterlab", str(folder), first]
    if without_screen():
        say("There is no screen here. Open the address that JupyterLab prints in a browser.")
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    # In a notebook `!gpulessons …` is this one, also where its environment was not activated.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    settings = {"JUPYTER_CONFIG_PATH": config_path(), "PATH": path}
    os.execve(sys.executable, command, os.environ | settings)


def learners_folder(named: str | None) -> Path:
    """The folder that the learner's notebooks are in, after new ones came; says what was kept."""
    folder = Path(named or copies.usual_folder()).absolute()
    ours = copies.texts()
    kept = copies.changed(folder, ours)
    copies.bring(folder, {name: text for name, text in ours.items() if name not in kept})
    trust_the_courses()
    say(f"Your notebooks are in {folder}. What you change there stays.")
    if newer := [name for name, new in kept.items() if new]:
        say(
            f"The course has newer versions of {', '.join(newer)}, which you changed. To get them "
            "beside yours, rename yours and run this again."
        )
    return folder


def trust_the_courses() -> None:
    """Have Jupyter trust the notebooks as the course wrote them, wherever a copy lies: it strips
    other pages of what moves on them, and of vectors.
    """
    from nbformat import reads
    from nbformat.sign import NotebookNotary

    with suppress(OSError, ValueError):  # what it cannot sign, Jupyter shows as images
        notary = NotebookNotary()
        for notebook in copies.carried():
            notary.sign(reads(notebook.read_text(encoding="utf-8"), as_version=4))


def config_path() -> str:
    """Where JupyterLab looks for settings besides its own folders, ours included."""
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return os.pathsep.join(filter(None, paths))


def without_screen() -> bool:
    on_linux = sys.platform.startswith("linux")
    return on_linux and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
