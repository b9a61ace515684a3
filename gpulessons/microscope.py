"""The microscope, as the notebooks know it: `warplens`, and its answers drawn."""

from warplens import *  # noqa: F403

from .plots.player import Player, player  # noqa: F401
from .plots.traces import banks_picture, branch_picture, request_picture  # noqa: F401
