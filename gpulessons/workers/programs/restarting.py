"""A program: training with checkpoints, in which a worker is killed; torchrun starts all anew.

With restarts=0 it fails as any other would; with more, it goes on from its last checkpoint.
"""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..restarts import Run, resume, save
from ..worker import Worker


@dataclass(frozen=True)
class Ended:
    """What one worker has in the end."""

    life: int  # how often torchrun had to start anew
    resumed: int  # the step of the checkpoint that it began with
    steps: int  # taken in this life
    weights: np.ndarray


def main(
    worker: Worker, steps: int = 60, every: int = 10, dies_at: int = 0, folder: str = ""
) -> Ended:
    """dies_at: in its first life worker 1 is killed before this step. folder: on a disk that all
    hosts see; without one, that of this launch.
    """
    life, run = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)), Run()
    home = Path(folder) if folder else worker.folder / "checkpoints"
    begin = resume(run, home)
    if life:
        worker.say(f"life {life + 1}: goes on from step {begin}")
    for step in range(begin + 1, steps + 1):
        if step == dies_at and life == 0 and worker.rank == 1:
            worker.say(f"is killed before step {step}")
            os.kill(os.getpid(), signal.SIGKILL)
        run.step(worker.rank, worker.world_size)
        if step % every == 0:
            save(run, home, step)
    return Ended(life, begin, steps - begin, run.weights())
