"""modelled_version(): all the launches of one call of a version of an op, on a GPU on paper."""

from typing import Any

from . import kept
from .devices import GPU, named
from .value import Modelled


class CannotModel(ValueError):
    """Why there is no modelled time, in a sentence."""


def modelled_version(version: Any, size: int, gpu: "str | GPU") -> Modelled:
    """What one call of a CUDA version would take on `op.inputs(size)`: kept, where it is.

    Raises CannotModel where the model has no answer.
    """
    found = kept.result_of(version, size, named(gpu).name)
    if found is None:
        raise CannotModel("not kept")
    if isinstance(found, str):
        raise CannotModel(found)
    return found
