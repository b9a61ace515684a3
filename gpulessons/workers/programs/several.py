"""A program: several trainings, one after the other, by the same workers."""

from . import data_parallel


def main(worker, runs):
    """runs: the options of data_parallel, for each. Returns [Trained]."""
    return [data_parallel.main(worker, **options) for options in runs]
