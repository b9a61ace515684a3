"""NVIDIA's own tests of Numba-CUDA, run under the microscope without a GPU: `make nvidia`.

    python benchmarks/numba_cuda_tests.py                       every test that is chosen
    python benchmarks/numba_cuda_tests.py test_math test_atom   of the modules with such names
    python benchmarks/numba_cuda_tests.py --json FILE           and keep what became of each
    python benchmarks/numba_cuda_tests.py --simulator           and under Numba's simulator
    python benchmarks/numba_cuda_tests.py --left-out            which tests are not chosen, and why

numba-cuda's wheel brings its tests along. Chosen are those of FOLDERS that launch kernels written
in Python and check what they compute: all modules but LEFT_OUT, all tests but those whose source
holds one of ABOUT_OTHER_THINGS. Every one is a whole program inside `tracing()`. It may

    pass       be refused (by a sentence of the microscope's own, whatever the exception's class)
    be wrong (an assertion failed)                leak (another Python error came out)
    need a driver                                 time out (after LIMIT seconds)

Every module has a process of its own. The exit status is 0, whatever the tests say; 1 when none
could be run.
"""

import argparse
import importlib
import inspect
import json
import linecache
import os
import re
import signal
import subprocess
import sys
import traceback
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

FOLDERS = "cudapy", "doc_examples", "cudasim"
LIMIT = 30  # seconds a test may take
VERDICTS = "passed", "refused", "wrong", "leaked", "driver", "time"
LEFT_OUT = {
    "the compiler's own parts, no kernel": "analysis byteflow compiler copy_propagate ir ir_utils "
    "tracing typeconv typeinfer",
    "the text of compiled code": "cache_hints debuginfo debuginfo_types fastmath inspect lineinfo "
    "optimization mandel",
    "caches, processes, threads, several GPUs": "caching ipc launch_config_sensitive multigpu "
    "multiprocessing multithreads serialize stream_api",
    "another library's device memory": "cuda_array_interface cupy_bfloat16_interop",
    "extensions of the compiler": "extending extending_types numba_interop overload",
    "functions in C or C++, linked": "bfloat16_bindings cffi cpointer ffi fp8_bindings",
    "kernels that Numba writes itself": "gufunc gufunc_scalar gufunc_scheduling ufunc vectorize "
    "vectorize_complex vectorize_decor vectorize_device vectorize_scalar_arg",
    "warnings about how a program is tuned": "warning",
}
WHY_LEFT_OUT = {f"test_{name}": why for why, names in LEFT_OUT.items() for name in names.split()}
ABOUT_OTHER_THINGS = re.compile(
    r"inspect_|FileCheck|compile\w*\(|\bptx|get_(?:regs|shared|const|local|max)\w*\(|overloads"
    r"|link=|cudadrv|current_context|cuda\.select_device|pickle|subprocess|vectorize\("
    r"|threading\.|ALWAYS_WARN"
)


# -- The tests of one module, in a process of its own.


def tests_of(module):
    """(the tests of a module that are chosen, the names of those that are not)"""
    found = list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))
    other = [test for test in found if ABOUT_OTHER_THINGS.search(source(test))]
    return [test for test in found if test not in other], [name(test) for test in other]


def flat(suite):
    for test in suite:
        yield from flat(test) if isinstance(test, unittest.TestSuite) else [test]


def source(test):
    """The text of a test, and of the methods of its own class that it calls."""
    methods, wanted = {}, [test._testMethodName]
    while wanted:
        called = wanted.pop()
        if called not in methods and called in vars(type(test)):
            methods[called] = inspect.getsource(inspect.unwrap(getattr(type(test), called)))
            wanted += re.findall(r"self\.(\w+)\(", methods[called])
    return "".join(methods.values())


def name(test):
    return test.id().removeprefix("numba.cuda.tests.")


class TimedOut(BaseException):
    """No test may catch it as an Exception."""


def stop(*_):
    raise TimedOut


class Result(unittest.TestResult):
    """What became of one test: a verdict, and the reason if it did not pass."""

    found = "passed", ""

    def addSkip(self, test, reason):
        self.found = "skipped", reason

    def addError(self, test, trouble):
        if self.found[0] == "passed":
            self.found = verdict(trouble[1])

    addFailure = addError

    def addSubTest(self, test, part, trouble):
        if trouble is not None:
            self.addError(test, trouble)


def verdict(trouble):
    """(verdict, one line that says why) of what a test ended with."""
    text = " ".join(f"{type(trouble).__name__}: {trouble}".split())
    frames = traceback.extract_tb(trouble.__traceback__)
    last = frames[-1]
    if type(trouble).__name__ == "Skipped":  # by pytest's own function
        return "skipped", text
    if isinstance(trouble, TimedOut):
        return "time", f"{last.filename}:{last.lineno}"
    ours = "warplens" in last.filename
    said = linecache.getline(last.filename, last.lineno).lstrip().startswith("raise ")
    if ours and said and "does not follow this line (" not in text:
        return "refused", text
    if isinstance(trouble, AssertionError) and not ours:
        return "wrong", text
    if any("numba/cuda/cudadrv" in frame.filename for frame in frames):
        return "driver", text
    return "leaked", f"{text} ({Path(last.filename).name}:{last.lineno})"


@contextmanager
def device_asked_for():
    """While they are imported, some modules ask which compute capability there is."""
    from numba import cuda
    from numba.cuda.cudadrv import devices

    context = SimpleNamespace(device=cuda.get_current_device())
    with patch.object(devices, "get_context", lambda *_: context):
        yield


def run_module(path, begin, simulated):
    """Print a line of JSON for each test of a module, from test number `begin` on."""
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the tests print is not ours
    for part in ("", ".matcher", ".options", ".parser", ".finput"):  # only texts are checked by it
        sys.modules.setdefault(f"filecheck{part}", MagicMock())
    from warplens import tracing

    inside, asked = (nullcontext, nullcontext) if simulated else (tracing, device_asked_for)
    with inside(), asked():
        tests, other = tests_of(importlib.import_module(path))
    say = partial(print, file=report)
    say(json.dumps([len(tests), other]))
    signal.signal(signal.SIGALRM, stop)
    for test in tests[begin:]:
        result = Result()
        signal.alarm(LIMIT)
        try:
            with inside():
                unittest.TestSuite([test]).run(result)
        except BaseException as trouble:
            result.found = verdict(trouble)
        finally:
            signal.alarm(0)
        say(json.dumps([name(test), *result.found]))


# -- All modules, and what is said about them.


def modules(names):
    """The dotted names of the modules whose names hold one of these (all: none given)."""
    from numba.cuda import tests

    root = Path(tests.__file__).parent
    files = [file for folder in FOLDERS for file in sorted((root / folder).glob("test_*.py"))]
    chosen = [f for f in files if not names or any(part in f.stem for part in names)]
    return [f"numba.cuda.tests.{file.parent.name}.{file.stem}" for file in chosen]


def outcomes(path, simulated=False):
    """{test: (verdict, why)} of a module, and the names of its tests that are not chosen."""
    found, other, total = {}, [], None
    while total is None or len(found) < total:
        command = [sys.executable, __file__, "--module", path, "--begin", str(len(found))]
        env = {**os.environ, "NUMBA_ENABLE_CUDASIM": str(int(simulated))}
        env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path[1:]])
        rest = (total or 50) - len(found)
        child = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, err = child.communicate(timeout=60 + LIMIT * rest)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
        lines = [json.loads(line) for line in out.splitlines()]
        if not lines:
            return {path: ("skipped", (err.strip().splitlines() or ["no word"])[-1])}, []
        total, other = lines[0]
        found |= {name: (verdict, why) for name, verdict, why in lines[1:]}
        if len(found) < total and len(lines) - 1 < rest:  # it died of the next one
            last = (err.strip().splitlines() or ["without a word"])[-1]
            found[f"{path}, test {len(found) + 1}"] = "leaked", f"the process ended: {last}"
    return found, other


def summary(table):
    """What became of the tests, in a few lines."""
    counts = Counter(verdict for verdict, _ in table.values())
    total = sum(counts[v] for v in VERDICTS)
    of = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    return f"{total} tests: {of} ({counts['skipped']} skipped themselves)"


def kind_of(why):
    """A sentence without the names and numbers of one test's."""
    why = re.sub(r"^.*?: warplens does not follow ", "", why)
    return re.sub(r"\d+", "N", why)[:110]


def chosen(names):
    """Those modules of `modules` whose tests are run."""
    return [path for path in modules(names) if path.split(".")[-1] not in WHY_LEFT_OUT]


def all_outcomes(paths, jobs, simulated=False):
    """The same as `outcomes` of many modules."""
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(partial(outcomes, simulated=simulated), paths))
    table = {test: end for ends, _ in results for test, end in ends.items()}
    return table, [test for _, tests in results for test in tests]


def report(table):
    """Print what did not pass, and why."""
    for test, (end, why) in table.items():
        if end not in ("passed", "skipped"):
            print(f"{end:<8} {test}: {why[:240]}")
    kinds = Counter(kind_of(why) for end, why in table.values() if end == "refused")
    print("\nThe commonest refusals:")
    print(*(f"{count:5}  {kind}" for kind, count in kinds.most_common(20)), sep="\n")
    print(f"\nThe microscope: {summary(table)}.")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="NVIDIA's tests of Numba-CUDA, without a GPU.")
    parser.add_argument("names", nargs="*", metavar="name", help="modules to run (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what became of each test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--simulator", action="store_true", help="Numba's simulator beside it")
    parser.add_argument("--left-out", action="store_true", help="list the tests not chosen, too")
    parser.add_argument("--module", help=argparse.SUPPRESS)
    parser.add_argument("--begin", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.module:
        run_module(options.module, options.begin, os.environ["NUMBA_ENABLE_CUDASIM"] == "1")
        return 0
    paths = chosen(options.names)
    table, other = all_outcomes(paths, options.jobs)
    if options.left_out:
        print(*(f"{path}: {WHY_LEFT_OUT[path.split('.')[-1]]}" for path in modules(options.names)
                if path not in paths), *other, "", sep="\n")  # fmt: skip
    report(table)
    rows = [{"test": test, "verdict": end, "why": why} for test, (end, why) in table.items()]
    if options.simulator:
        beside, _ = all_outcomes(paths, options.jobs, simulated=True)
        beside = {test: beside.get(test, ("skipped", "")) for test in table}
        print(f"Numba's simulator: {summary(beside)}.")
        rows = [row | {"simulator": beside[row["test"]][0]} for row in rows]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return int(not table)


if __name__ == "__main__":
    sys.exit(main())
