"""All that the next step depends on: a checkpoint, and putting it back, judged by going on."""

from io import BytesIO
from random import randrange

import torch

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch
from gpulessons.workers.restarts import Run

text = '''\
def my_checkpoint(run, kept=None):
    """Without `kept`: a dictionary of all that the run's next step depends on. With one, as it
    comes back from a disk: put everything back into `run`, which has just begun anew.
    """
    ### BEGIN SOLUTION
    if kept is None:
        return {"model": run.model.state_dict(), "optimizer": run.optimizer.state_dict(),
                "order": run.order, "used": run.used, "dice": run.generator.get_state()}
    run.model.load_state_dict(kept["model"])
    run.optimizer.load_state_dict(kept["optimizer"])
    run.order, run.used = kept["order"], kept["used"]
    run.generator.set_state(kept["dice"])
    ### STUB
    if kept is None:
        return {"model": run.model.state_dict()}
    run.model.load_state_dict(kept["model"])  # Your turn: is that all of it?
    ### END SOLUTION
'''

AFTER = 30  # steps of the second life; an epoch has 22
HINT = "what Run's __init__ makes, line by line: which of it changes as it learns?"


def judge(attempt):
    """Die after some steps, go on for 30 more: are the weights those of as many in a row?"""
    first, anew, died = Run(), Run(seed=1), randrange(31, 42)  # nobody knows when
    steps(first, died)
    kept = run(attempt, (first,), {})
    disk = BytesIO()
    torch.save(kept, disk)
    disk.seek(0)
    steps(first)  # it lives on, and must not be what a checkpoint changes with
    run(attempt, (anew, torch.load(disk, weights_only=False)), {})
    before = Run()
    steps(before, died)
    steps(anew)
    steps(again := Run(), died + AFTER)
    if (anew.weights() == again.weights()).all():
        return (f"Resumed after step {died} it is, 30 later, as an unbroken run, to the last bit: "
                f"{len(disk.getvalue()) / 1e3:.0f} kB. (The examples are on a disk already.)")
    back = Run(seed=1)
    disk.seek(0)
    run(attempt, (back, torch.load(disk, weights_only=False)), {})
    raise Mismatch(f"It runs on, and learns something else. {missing(back, before)}", HINT)


def steps(some, count=AFTER):
    for _ in range(count):
        some.step()


def missing(back, before):
    """The first part of a run that has not come back."""
    ours, theirs = (each.optimizer.state_dict()["state"] for each in (back, before))
    if (back.weights() != before.weights()).any():
        return "The weights are not those that were saved."
    if len(ours) < len(theirs) or any((ours[i]["exp_avg"] != theirs[i]["exp_avg"]).any()
                                      for i in theirs):  # fmt: skip
        return "Adam begins without its means: its first steps are those of a beginner."
    if back.used != before.used or (back.order != before.order).any():
        return "It begins the examples anew: some are seen twice in this epoch, some not at all."
    return "The generator throws other dice: other pixels are left out, and the next order differs."


hints = (
    "Four things change as a run learns: weights, what Adam keeps, where it stands among the "
    "examples, and the generator that shuffles them and leaves out pixels.",
    'run.optimizer.load_state_dict(kept["optimizer"])',
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
