"""A program: several programs, one after the other, by the same workers: they start only once."""

import importlib
from collections.abc import Iterable
from typing import Any

from ..worker import Worker


def main(worker: Worker, runs: Iterable[dict[str, Any]]) -> list[Any]:
    """[What each returned]. runs: options, a name as "program"; a training's may be left out."""
    return [one(worker, **options) for options in runs]


def one(worker: Worker, program: str = "data_parallel", **options: Any) -> Any:
    return importlib.import_module(f"{__package__}.{program}").main(worker, **options)
