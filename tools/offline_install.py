"""Install the course from this folder, without a network.

python install.py            into the folder gpulessons-course
python install.py FOLDER     into another one
"""

import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WINDOWS = os.name == "nt"


def main():
    """Make an environment in the folder, fill it, bring the notebooks, say how to open them."""
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    folder = os.path.abspath(sys.argv[1] if len(sys.argv) == 2 else "gpulessons-course")
    with open(os.path.join(HERE, "kit.json"), encoding="utf-8") as file:
        kit = json.load(file)
    room(folder, suited(kit["serves"])["unpacked"])
    environment = os.path.join(folder, ".venv")
    programs = os.path.join(environment, "Scripts" if WINDOWS else "bin")
    python = os.path.join(programs, "python.exe" if WINDOWS else "python")
    again = os.path.exists(python)
    say(f"Installing the course into {folder}: some minutes.")
    run("make an environment (on Debian and Ubuntu it needs the package python3-venv)",
        sys.executable, "-m", "venv", environment)  # fmt: skip
    wheels = "--find-links=" + os.path.join(HERE, "wheels")
    pip = (python, "-m", "pip", "install", "--no-index", wheels)
    run("install the packages", *pip, kit["course"])
    if again:  # a newer folder may bring the course anew under the same version
        run("renew the course", *pip, "--quiet", "--force-reinstall", "--no-deps", kit["course"])
    notebooks = os.path.join(folder, "notebooks")
    if os.path.isdir(notebooks):
        say(f"The notebooks in {notebooks} stay as you left them; opening them brings new ones.")
    else:
        run("copy the notebooks", python, "-m", "gpulessons", "notebooks", notebooks)
    command = os.path.join(programs, "gpulessons")  # PowerShell takes a quoted one for a text
    command = f'"{command}"' if " " in command else command
    say(f'Done. To open the course:\n    {command} lab "{notebooks}"')


def suited(serves):
    """Return what the folder has for this system and this Python; if nothing, exit saying so."""
    here = platform.system(), platform.machine(), "{}.{}".format(*sys.version_info)
    for each in serves:
        if (each["system"], each["machine"], each["python"]) == here:
            return each
    sys.exit(
        "This folder serves {}, and this is Python {} on {} ({}). Run it with that Python, or have "
        "the folder made for this one: make offline, with --system and --python.".format(
            ", ".join(each["label"] for each in serves), here[2], here[0], here[1]
        )
    )


def room(folder, needed):
    """Exit with a sentence when the disk cannot hold what will be installed."""
    place = folder
    while not os.path.isdir(place):
        if os.path.dirname(place) == place:
            sys.exit(f"There is no {place} here. Name a folder on a disk that is there.")
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free
    if free < needed and not os.path.isdir(os.path.join(folder, ".venv")):
        sys.exit(f"The course takes {needed / 1e6:,.0f} MB and {place} has {free / 1e6:,.0f} MB "
                 "left. Name a folder on another disk.")  # fmt: skip


def run(what, *command):
    """Run one step; exit with a sentence when it fails. pip keeps to this folder, whatever else
    this machine's settings say."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    env.update(PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONNOUSERSITE="1")
    env.pop("PYTHONPATH", None)
    if subprocess.call(command, env=env):
        sys.exit(f"Could not {what}; what is above says why. Run this again when it is mended.")


def say(words):
    print(words, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Interrupted. Run it again: it goes on from there.")
    except OSError as trouble:
        sys.exit(f"{trouble.filename}: {trouble.strerror}. Name a folder where you may write.")
