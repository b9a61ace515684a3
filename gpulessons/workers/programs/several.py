"""A program: several trainings, one after the other, by the same workers."""

from collections.abc import Iterable
from typing import Any

from ..worker import Worker
from . import data_parallel


def main(worker: Worker, runs: Iterable[dict[str, Any]]) -> list[data_parallel.Trained]:
    """runs: the options of data_parallel, for each. Returns [Trained]."""
    return [data_parallel.main(worker, **options) for options in runs]
