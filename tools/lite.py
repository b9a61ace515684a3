"""Build the course for a browser: JupyterLite, whose Python (Pyodide) needs no server.

    python tools/lite.py                    build build/lite, a static site, from this checkout
    python tools/lite.py --pyodide FOLDER   the same with Pyodide's own files in it
    python tools/lite.py --cells [name …]   run lessons as a browser would; list the unable cells

The site has the course's wheel, those of its sliders, and a copy of every lesson, whose first cell
installs them from there. Pyodide itself, NumPy and Matplotlib, some tens of megabytes, each browser
fetches from Pyodide's public address, unless a folder of them was given.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import nbformat

import bare
import first_cell
import gpulessons_browser as browser
import offline
from briefly import BRIEFLY
from save_notebooks import METADATA, lessons, read, text

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "lite"
# What the course needs and Pyodide does not bring, none of it compiled: (in the site) -> its wheel.
WIDGETS = ("comm", "ipywidgets", "jupyterlab_widgets", "platformdirs")
LIKE_A_BROWSERS = ("matplotlib", "ipython", "pygments", "pillow", "tqdm", *WIDGETS)
SETTINGS = ROOT / "gpulessons/cli/jupyter/labconfig/default_setting_overrides.json"  # a learner's
OPENS = re.compile(r'<script type="module">.*?</script>', re.DOTALL)  # of the site's front page
START = '<script>location.replace("lab/index.html?path=00_start_here.ipynb");</script>'
KERNEL = {"kernelspec": {"display_name": "Python (Pyodide)", "language": "python",
                         "name": "python"}}  # fmt: skip
FIRST = """\
# Brings the course into this browser, and says what of this notebook runs here.
import piplite

await piplite.install(["gpulessons", "gpulessons_browser"])

import gpulessons_browser

gpulessons_browser.begin("{name}")"""


# -- The site.


def build(site: Path, pyodide: str = "") -> None:
    """Build the site anew. SystemExit with a sentence where something is missing."""
    if not find_spec("jupyterlite_core"):
        sys.exit("JupyterLite is not installed here. Run: make lite")
    if pyodide and not Path(pyodide, "pyodide-lock.json").exists():
        sys.exit(f"{pyodide} is no folder of Pyodide's files: it has no pyodide-lock.json.")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        print("The course's wheel, and those of its sliders …", flush=True)
        wheels(work / "wheels")
        print("Copies of the lessons …", flush=True)
        (work / "contents").mkdir()
        for path in [*lessons(), ROOT / "notebooks" / "glossary.ipynb"]:
            (work / "contents" / path.name).write_text(text(copy_of(path)), encoding="utf-8")
        shutil.copy(SETTINGS, work / "overrides.json")
        print("JupyterLite …", flush=True)
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--lite-dir", str(work),
                   "--contents", "contents", "--output-dir", str(work / "site"),
                   "--no-sourcemaps", "--apps", "lab"]  # fmt: skip
        command += [part for wheel in sorted((work / "wheels").glob("*.whl"))
                    for part in ("--piplite-wheels", str(wheel))]  # fmt: skip
        if pyodide:  # where JupyterLite looks for one
            shutil.copytree(pyodide, work / "static" / "pyodide")
        done = subprocess.run(command, cwd=work, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{(done.stdout + done.stderr)[-2000:]}\nJupyterLite was not built.")
        begin_with_the_first(work / "site" / "index.html")
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(work / "site", site)
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    print(f"{site}: {size / 1e6:.0f} MB. Look at it: python -m http.server -d {site}")


def begin_with_the_first(front: Path) -> None:
    """Have the site's front page open notebook 00, where JupyterLite's own opens the Launcher."""
    page, changed = OPENS.subn(START, front.read_text(encoding="utf-8"))
    if not changed:
        sys.exit("JupyterLite's front page is another than lite.py knows: change its OPENS.")
    front.write_text(page, encoding="utf-8")


def wheels(folder: Path) -> None:
    """The wheels of the course, of what begins a lesson there, and of what shows sliders."""
    offline.built(folder)
    offline.built(folder, Path(browser.__file__).parent, browser.__name__)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    theirs = [f"{name}=={metadata.version(name)}" for name in WIDGETS]
    if subprocess.run([*pip, *options, *theirs]).returncode:
        sys.exit("pip could not fetch the wheels of what shows sliders; it says above why.")


def copy_of(path: Path) -> nbformat.NotebookNode:
    """A notebook as it opens in the site: its kernel, and a first cell for its own name."""
    notebook = read(path)
    notebook.metadata = nbformat.from_dict({**METADATA, **KERNEL})
    for cell in notebook.cells:
        if cell.get("id") == first_cell.ID:
            cell.source = FIRST.replace("{name}", path.stem)
            cell.outputs = []
    return notebook


# -- The list of cells that a browser cannot run.


def survey(names: list[str], site: Path) -> dict[str, dict[str, str]]:
    """{lesson: {cell: what it needs}}, found by running the lessons with little else than NumPy."""
    bare.link(site, bare.distributions(LIKE_A_BROWSERS, without=["psutil"]))
    found = {}
    for path in lessons():
        if names and path.stem not in names:
            continue
        print(f"{path.stem} …", flush=True)
        lines = ran(site, path, "--survey")
        found[path.stem] = {line["cell"]: line["needs"] for line in lines if "needs" in line}
    return found


def ran(site: Path, path: Path, *options: str) -> list[dict]:
    """What became of each cell of a lesson, run on the folder `site` (see lite_cells.py)."""
    cells = str(Path(__file__).with_name("lite_cells.py"))
    done = bare.run(site, cells, str(path), *options, seconds=3600, **BRIEFLY)
    if done.returncode:
        sys.exit(f"{path.stem} could not be run:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(found: dict[str, dict[str, str]]) -> None:
    """Bring the list up to date for these lessons."""
    known = tomllib.loads(browser.LIST.read_text(encoding="utf-8")) | found
    lines = ["# Cells that a browser's Python cannot run, and what each needs.",
             "# Written by: python tools/lite.py --cells"]  # fmt: skip
    for name, needs in sorted(known.items()):
        lines += ["", f"[{name}]", *(f'{key(cell)} = "{need}"' for cell, need in needs.items())]
    browser.LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


def key(cell: str) -> str:
    return cell if re.fullmatch(r"[\w-]+", cell) else json.dumps(cell)


def main() -> None:
    """Do what the words say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pyodide", default="", help="a folder of Pyodide's files")
    parser.add_argument("--cells", nargs="*", metavar="NAME", help="list the unable cells anew")
    asked = parser.parse_args()
    if asked.cells is None:
        build(SITE, asked.pyodide)
        return
    with tempfile.TemporaryDirectory() as folder:
        write(survey(asked.cells, Path(folder)))


if __name__ == "__main__":
    main()
