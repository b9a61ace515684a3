"""A learner's notebook, run anew: in an empty folder, measuring briefly, keeping nothing."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from gpulessons.notebook.briefly import BRIEFLY

from .terminal import GET_LAB

PATIENCE = 600  # seconds for one cell


def can_run() -> None:
    """ValueError, with what to do, where nothing here can run a notebook."""
    try:
        import nbclient  # noqa: F401
    except ImportError as missing:
        raise ValueError(f"To run notebooks, {missing.name} is missing. Try: {GET_LAB}") from None


def cells_of(path: Path) -> list[dict[str, Any]]:
    """A notebook's cells after a run of its own; ValueError where that ended early."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory() as empty:
        copy = Path(shutil.copy(path, empty))
        notebook = nbformat.read(copy, as_version=4)
        copy.unlink()
        client = NotebookClient(
            notebook, timeout=PATIENCE, startup_timeout=PATIENCE, allow_errors=True,
            kernel_name="python3", store_widget_state=False,
            extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": empty}},
        )  # fmt: skip
        try:
            client.execute(env={**os.environ, **BRIEFLY})
        except (CellTimeoutError, DeadKernelError, RuntimeError) as trouble:
            why = type(trouble).__name__
            raise ValueError(f"could not be run to its end ({why}).") from trouble
    return notebook.cells
