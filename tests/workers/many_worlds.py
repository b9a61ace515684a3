"""A program for the tests: other programs, one after the other, among the first 1, 2, … workers."""

import os
from importlib import import_module

import torch.distributed as dist

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # these worlds are joined by gloo


def main(worker, worlds, jobs):
    """jobs: [(program, options)]. Returns {world: [result of each job]} of this worker."""
    found, everyone = {}, worker.world_size
    dist.destroy_process_group()
    for world in worlds:
        if worker.rank < world:
            meet(worker, world, f"world-{world}")
            found[world] = []
            for name, options in jobs:
                found[world].append(import_module(name).main(worker, **options))
                worker.progress(len(found[world]), len(jobs), name)  # a word for the patient
            dist.barrier()
            dist.destroy_process_group()
    meet(worker, everyone, "all")  # the harness takes leave of everybody
    return found


def meet(worker, world, name):
    store = dist.FileStore(str(worker.folder / name), world)
    dist.init_process_group("gloo", store=store, rank=worker.rank, world_size=world)
    worker.world_size = world
