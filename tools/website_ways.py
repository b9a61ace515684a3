"""The ways from the website to a course that runs: files to take along, addresses, hosts."""

import posixpath
import re
import subprocess
import tomllib
import zipfile
from html import escape
from pathlib import Path

import offline
import published

ROOT = Path(__file__).parents[1]
GITHUB = re.compile(r"git\+https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
ALL = "all-notebooks.zip"  # not gpulessons-….zip, which a first cell would take for the source
SOURCE = "gpulessons-source.zip"


def wheel() -> str:
    """The name of the course's wheel, which has all notebooks in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['name']}-{project['version']}-py3-none-any.whl"


def take_along(folder: Path) -> None:
    """Put the course into a folder: its wheel, a zip of it with every notebook beside it, and,
    where git is there to say what belongs to it, its source.
    """
    offline.built(folder)
    with zipfile.ZipFile(folder / ALL, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in [folder / wheel(), *sorted(ROOT.glob("notebooks/*.ipynb"))]:
            zipped.write(path, f"gpulessons/{path.name}")
    if in_git():
        packed = ["git", "-C", str(ROOT), "archive", "--prefix=gpulessons/", "--format=zip"]
        if subprocess.run([*packed, f"--output={folder / SOURCE}", "HEAD"]).returncode:
            raise ValueError("The source could not be packed; git says above why.")


def in_git() -> bool:
    return (ROOT / ".git").exists()


def of_notebook(file: str, set_up: str, lite: bool) -> str:
    """The line that says how to open a notebook: here, and where hosts are known, there.

    set_up: the page that says how to set everything up; lite: whether the site has a JupyterLite.
    """
    name, top = Path(file).name, posixpath.relpath(".", posixpath.dirname(file))
    ways = [f'<a href="{top}/lite/lab/index.html?path={name}">in this browser</a>'] if lite else []
    if found := GITHUB.fullmatch(published.address()):
        there = f"github/{found[1]}/blob/main/{file}"
        binder = f"gh/{found[1]}/main?urlpath=lab/tree/{file}"
        ways += [
            f'<a href="https://colab.research.google.com/{there}">in Colab</a>',
            f'<a href="https://mybinder.org/v2/{binder}">in Binder</a>',
        ]
    elsewhere = f" Or open it {', '.join(ways)}." if ways else ""
    return (
        '<p class="ways-in">This page is a notebook. To predict and measure yourself, '
        f'<a href="{set_up}">set the course up</a>. Or put <a href="{escape(name)}" download>the '
        f'notebook</a> and <a href="{top}/{wheel()}" download>the course</a> into one folder: its '
        f"first cell does the rest.{elsewhere}</p>"
    )


def placed(what: str, lite: bool) -> str:
    """What a page says of the ways in, in HTML, as far as this site has them."""
    return {"download": download, "clone": clone, "browser": lambda: browser(lite)}[what]()


def download() -> str:
    return (
        f'<p><a href="../{wheel()}" download>{wheel()}</a> is the whole course, all notebooks '
        f'included. <a href="../{ALL}" download>{ALL}</a> has them beside it, for an editor or a '
        "host of your own.</p>"
    )


def clone() -> str:
    """How to get a checkout."""
    if address := published.address().removeprefix("git+"):
        return f"<p>The checkout: <code>git clone {escape(address)}</code></p>"
    if in_git():
        return f'<p>The checkout: <a href="../{SOURCE}" download>{SOURCE}</a>, unpacked.</p>'
    return "<p>For a checkout ask whoever published this site.</p>"


def browser(lite: bool) -> str:
    if lite:
        return (
            '<p><a href="../lite/lab/index.html?path=00_start_here.ipynb">Open the course in this '
            "browser</a>: nothing is installed. It needs these pages on a web server.</p>"
        )
    return "<p>This site was made without it: see <em>Contributing</em>.</p>"
