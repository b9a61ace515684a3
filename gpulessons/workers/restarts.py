"""Training that can die: all that its next step depends on, kept in a checkpoint and put back."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

from .training import PIXELS, examples, mean_loss, network

BATCH, DROPPED = 64, 0.2


class Run:
    """A network in training: the digits in shuffled order, some pixels of each left out."""

    def __init__(self, seed: int = 0) -> None:
        self.model = network(32, depth=1, seed=seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01)
        self.generator = torch.Generator().manual_seed(seed)
        self.x, self.labels = examples()[0]
        self.order, self.used = torch.arange(len(self.x)), len(self.x)

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The next examples of this epoch, and whatever the dice leave of their pixels."""
        if self.used + BATCH > len(self.order):
            self.order, self.used = torch.randperm(len(self.x), generator=self.generator), 0
        chosen = self.order[self.used : self.used + BATCH]
        self.used += BATCH
        kept = torch.rand(BATCH, PIXELS, generator=self.generator) > DROPPED
        return self.x[chosen] * kept, self.labels[chosen]

    def step(self, rank: int = 0, workers: int = 1) -> float:
        """One step, this worker on its share of the batch; the loss of that share."""
        x, labels = self.batch()
        self.optimizer.zero_grad()
        loss = mean_loss(self.model, x[rank::workers], labels[rank::workers], BATCH)
        loss.backward()
        for parameter in self.model.parameters() if workers > 1 else ():
            dist.all_reduce(parameter.grad)
        self.optimizer.step()
        return loss.item()

    def weights(self) -> np.ndarray:
        """All of them, in a row: two runs are the same if these are."""
        return torch.nn.utils.parameters_to_vector(self.model.parameters()).detach().numpy().copy()


def state(run: Run) -> dict[str, Any]:
    """All that the run's next step depends on."""
    model, optimizer = get_state_dict(run.model, run.optimizer)
    return {"model": model, "optimizer": optimizer, "order": run.order, "used": run.used,
            "generator": run.generator.get_state()}  # fmt: skip


def save(run: Run, folder: Path, step: int) -> None:
    """Every worker writes its part; the file .metadata, which says what is where, comes last."""
    dcp.save(state(run), checkpoint_id=folder / f"step-{step}")


def resume(run: Run, folder: Path) -> int:
    """Take over the newest checkpoint that was written to its end; the step it is of, or 0."""
    whole = (path.parent for path in folder.glob("step-*/.metadata"))
    newest = max((int(path.name.removeprefix("step-")) for path in whole), default=0)
    if newest:
        kept = state(run)  # its arrays are filled
        dcp.load(kept, checkpoint_id=folder / f"step-{newest}")
        set_state_dict(run.model, run.optimizer, model_state_dict=kept["model"],
                       optim_state_dict=kept["optimizer"])  # fmt: skip
        run.order, run.used = kept["order"], kept["used"]
        run.generator.set_state(kept["generator"])
    return newest
