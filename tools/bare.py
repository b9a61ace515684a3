"""A Python that has some distributions, what these need, and nothing else: as in a browser.

Nothing is installed: a folder of links into this environment stands in for site-packages.
"""

import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, files, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def distributions(names: Iterable[str], without: Iterable[str] = ()) -> set[str]:
    """Those that are installed of these and of all that they need, less some."""
    found: set[str] = set()
    asked = list(names)
    while asked:
        name = asked.pop().lower()
        if name in found or name in without:
            continue
        try:
            needs = map(Requirement, requires(name) or [])
        except PackageNotFoundError:
            continue
        found.add(name)
        wanted = [each for each in needs if not each.marker or each.marker.evaluate({"extra": ""})]
        asked += [each.name for each in wanted]
    return found


def link(site: Path, names: Iterable[str]) -> None:
    """Fill a folder with links to these distributions and to the course."""
    for distribution in names:
        for file in files(distribution) or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not (site / top).exists():
                home = Path(str(file.locate())).parents[len(file.parts) - 1]
                (site / top).symlink_to(home / top)
    for package in ("gpulessons", "warplens"):
        (site / package).symlink_to(ROOT / package)


def run(site: Path, *arguments: str, also: Iterable[Path] = (), seconds: float = 600,
        **variables: str) -> subprocess.CompletedProcess:  # fmt: skip
    """Run Python on that folder, further ones and the standard library alone."""
    paths = ":".join(map(str, (site, *also)))
    environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg",
                   **variables}  # fmt: skip
    return subprocess.run([sys.executable, "-S", *arguments], env=environment, text=True,
                          capture_output=True, cwd=site, timeout=seconds)  # fmt: skip
