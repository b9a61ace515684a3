"""What a program is handed: who this worker is, its device, and how it talks to the launcher."""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

REPORT = "GPULESSONS_REPORT"  # the environment's name for the folder of this launch
# Where Linux keeps files that no disk ever sees.
MEMORY = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir())
MARK = "\x1egpulessons "  # begins a line that is meant for the launcher and not for a reader


class Worker:
    """One process among several: its rank, its device, and how it talks to the launcher."""

    def __init__(self) -> None:
        self.rank, self.world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.report = Path(os.environ[REPORT]) if REPORT in os.environ else None

    @property
    def folder(self) -> Path:
        """A folder that all workers on this host can write to."""
        run = os.environ.get("TORCHELASTIC_RUN_ID", "alone")
        folder = self.report or Path(tempfile.gettempdir()) / f"gpulessons-{run}"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def device(self) -> "torch.device":
        """A GPU of its own where every worker here can have one; else the CPU."""
        import torch

        enough = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
        return torch.device("cuda", self.local_rank) if enough else torch.device("cpu")

    def say(self, *words: object) -> None:
        """Print a line under this worker's name, at once. The launcher names every line itself."""
        name = "" if self.report else f"worker {self.rank}: "
        print(f"{name}{' '.join(map(str, words))}\n", end="", flush=True)

    def progress(self, done: int, total: int, words: str = "") -> None:
        """Tell the launcher how far the work is: one worker's word is enough."""
        if self.report:
            print(f"{MARK}{json.dumps([done, total, words])}\n", end="", flush=True)

    def keep(self, name: str, value: bytes) -> None:
        """Leave bytes for the launcher, whole or not at all."""
        if self.report:
            partial = self.report / f"{name}-{self.rank}.partial"
            partial.write_bytes(value)
            partial.rename(partial.with_suffix(""))
