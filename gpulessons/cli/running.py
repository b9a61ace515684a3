"""`gpulessons workers`: a program on several worker processes, here or on several hosts."""

import ast
import json
import os
import sys
from contextlib import suppress
from inspect import signature

from .terminal import Misspelled, say, seconds

SEVERAL_HOSTS = (
    "On several hosts: the same command on each, with its own --node-rank. The last four options "
    "are torchrun's, and are passed on to it."
)


def describe(parser):
    """Add what the command takes to its parser."""
    parser.epilog = SEVERAL_HOSTS
    parser.add_argument(
        "program", metavar="PROGRAM",
        help="hello, data_parallel, …, or any module with main(worker, **options)",
    )  # fmt: skip
    parser.add_argument("pairs", metavar="NAME=VALUE", nargs="*", default=(), help="its options")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="default: 2")
    parser.add_argument(
        "--timeout", metavar="S", type=seconds, help="seconds of silence that count as hanging"
    )
    parser.add_argument("--nnodes", metavar="N", type=int, help="how many hosts")
    parser.add_argument("--node-rank", metavar="R", type=int, help="which of them this is")
    parser.add_argument("--master-addr", metavar="A", help="the address of number 0")
    parser.add_argument("--master-port", metavar="P", type=int, help="a free port there")


def workers(options):
    """run a program on several processes through torchrun, on this host or on several"""
    from gpulessons.workers import WorkersFailed, launch

    given = dict(value_of(pair) for pair in options.pairs)
    if taken := given.keys() & signature(launch).parameters:
        raise Misspelled(f"{min(taken)} is no option of a program. Try: gpulessons workers --help")
    if options.timeout:
        given["timeout"] = options.timeout
    if not {"", os.getcwd()}.intersection(sys.path):
        sys.path.append(os.getcwd())  # a program may lie here; what is installed goes before
    try:
        results = launch(options.program, options.workers, hosts=hosts(options), **given)
    except WorkersFailed as trouble:
        return say(trouble, 1)
    first = options.workers * (options.node_rank or 0)
    for rank, result in enumerate(results, first):
        print(f"worker {rank} returned {result!r}")


def hosts(options):
    """torchrun's own options for more than this host, as they are passed on."""
    several = options.nnodes not in (None, 1)
    if several and (options.node_rank is None or options.master_addr is None):
        raise Misspelled(
            "Of several hosts each needs its own --node-rank, counted from 0, and all need the "
            "same --master-addr, at which they reach the one with --node-rank 0."
        )
    names = ("nnodes", "node_rank", "master_addr", "master_port")
    given = {name.replace("_", "-"): getattr(options, name) for name in names}
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def value_of(pair):
    """(name, value) of name=value: a number, a list, true, None; whatever else it is, a string."""
    name, _, text = pair.partition("=")
    if not name.isidentifier():
        raise Misspelled(f"A program's options are written name=value, not {pair!r}.")
    for read in (ast.literal_eval, json.loads):
        with suppress(ValueError, SyntaxError, TypeError):
            return name, read(text)
    return name, text
