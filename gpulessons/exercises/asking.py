"""What most exercises ask for: a plain function, or a kernel with its launcher."""

import linecache
from functools import partial

import numpy as np
from numba import cuda

import warplens
from gpulessons.backends import gpu
from gpulessons.grader.answers import check_answers, plain
from gpulessons.grader.check import Exercise, call, check_op, is_cuda
from gpulessons.grader.diagnosis import Mismatch, Wasteful
from gpulessons.grader.waste import check_sectors, check_threads, total
from gpulessons.operation import EDGES, op


def a_function(module, text, cases, hint, praise, mistakes=(), hints=(), forbidden=(), near=1e-5):
    """A function that answers every case as the solution does; praise may have {0}, its first."""

    def judge(attempt):
        check_like(text, attempt, cases, hint, mistakes, near)
        return praise.format(*(plain(solved(text)(*case)) for case in cases))

    return Exercise(module, text, judge=judge, hints=hints, forbidden=forbidden)


def a_kernel(
    module, text, problem, hint="", mistakes=(), hints=(), inspect=None, launcher=None, most=4
):
    """A launcher that computes what the problem, an op, says, or the kernel of launcher(kernel)."""
    known = partial(named_kernels, text, problem, hint, mistakes)
    look = partial(check_threads, most=most, first=inspect)
    if not launcher:
        return Exercise(module, text, gpu, problem, look, mistakes=known(), hints=hints)

    def judge(kernel):
        if not is_cuda(kernel):
            raise Mismatch("This is no function for CUDA.", "its first line: @cuda.jit.")
        return check_op(problem, launcher(kernel), gpu, look, known(launcher))

    return Exercise(module, text, judge=judge, hints=hints)


def check_like(text, attempt, cases, hint, mistakes=(), near=1e-5):
    """Mismatch unless the attempt answers every case as the solution does."""
    check_answers(attempt, solved(text), cases, hint, named(text, hint, mistakes), near)


def coalesced(hint):
    """An inspect: right is not enough, for four sectors hold the 32 numbers of a warp."""
    return partial(check_sectors, hint=hint)


def few_loads(launches, most, hint):
    """Wasteful where kernels load more than so many numbers for each that they write."""
    loads, results = total(launches, "read"), total(launches, "write")
    if loads > most * results:
        raise Wasteful(f"{loads / results:.3g} loads for each result, where {most:.3g} would do.",
                       hint)  # fmt: skip


def named(text, hint, mistakes):
    """(sentence, hint, function) of each (sentence, what, instead).

    Whoever makes the mistake writes the solution with `instead` of `what`.
    """
    return [(sentence, hint, solved(text, *edit)) for sentence, *edit in mistakes]


def named_kernels(text, problem, hint, mistakes, launcher=lambda function: function):
    """The same for kernels, which run in the microscope; launcher(function) launches them."""

    def traced(function):
        def results(*inputs):
            with warplens.tracing():
                return call(problem, launcher(function), inputs, gpu)

        return results

    return [(said, hint, traced(mistaken)) for said, _, mistaken in named(text, hint, mistakes)]


def solved(text, what="", instead=""):
    """The last function of a text's solution, as it is or with `instead` of `what`."""
    solution = Exercise("", text).solution
    if what not in solution:
        raise ValueError(f"There is no {what!r} in the solution.")
    solution = solution.replace(what, instead) if what else solution
    file = f"<solution {hash(solution)}>"
    linecache.cache[file] = len(solution), None, solution.splitlines(keepends=True), file
    names = {"__name__": __name__, "np": np, "cuda": cuda}
    exec(compile(solution, file, "exec"), names)
    return list(names.values())[-1]


def problem(inputs, specification, rtol=2e-6, edge_cases=EDGES):
    """An op that is only judged by, and never timed: nobody has to count its operations."""
    made = op(inputs=inputs, flops=None, sizes=(), rtol=rtol, edge_cases=edge_cases)
    return made(specification)


def normal(shapes):
    """Inputs for a problem: float32 arrays of these shapes(size), standard normal."""

    def inputs(size, rng):
        return tuple(rng.standard_normal(shape, np.float32) for shape in shapes(size))

    return inputs
