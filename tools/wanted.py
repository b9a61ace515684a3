"""Print what the course asks pip for, to be run in JupyterLab, without the course itself.

    python tools/wanted.py | pip install --upgrade -r /dev/stdin
"""

import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))
extras = project["project"]["optional-dependencies"]
print(*project["project"]["dependencies"], *extras["lab"], *extras["gpu"], "nbclient", sep="\n")
