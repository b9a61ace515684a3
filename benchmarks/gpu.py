"""What `make gpu` runs on a machine with an NVIDIA GPU: check, measure and record, in ten minutes.

    python benchmarks/gpu.py --out DIR

It needs numpy, numba, numba-cuda and torch, nbclient and ipykernel for the pages, and no network.
Times are modelled from the machine code where nvdisasm is found (in a CUDA toolkit, too), else from
the source alone, which the file says. Into DIR it writes

    machine.json     the card of the machine, with its ceilings
    checks.txt       every CUDA and torch-GPU version in the edge cases, against float64
    ratios.json      the GPU rows of the targets
    profiler.txt     the microscope's counts against those of NVIDIA's profiler; also as .json
    recording.json   every op, measured: put it into gpulessons/measure/recordings to ship it
    found.jsonl      what the pages found about the claims' statements: add it to claims/found.csv
    modelled.csv     every CUDA version, modelled beside measured
    log.txt          all that was printed

Each step runs in a process of its own, with its share of the time: a kernel that hangs, or takes
the GPU's context down with it, ends its own step and no other. The step "modelled" goes on in
another process after such an error, and where it ended when it is run again (`--step modelled`).
The exit status is 0; 1 when a check or a step failed; 2 when the command was wrong; 3 without a
GPU.
"""

import argparse
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import monotonic

import confirm
import ratios
from ncu import compare_with_profiler

import gpulessons
from gpulessons.backends import gpu
from gpulessons.claims import kept
from gpulessons.comparing import compare
from gpulessons.hardware import machine, why_no_gpu
from gpulessons.measure.problem import Problem
from gpulessons.measure.recordings import Recording, joined, save
from gpulessons.measure.rounds import Run
from gpulessons.operation import Op

ROOT = Path(__file__).parents[1]
SECONDS = 530  # for all the steps
GRACE = 20  # more for a step that does not end when its time is up
LEAST = 0.02  # seconds to time one version at one size: with fewer there is nothing to record
ASIDE = 10.0  # seconds that an op takes besides, for compiling and checking: a first guess


def every_op():
    """Every op of the course, in its order."""
    homes = (names for home, names in gpulessons.HOMES.items() if home.startswith("ops."))
    found = (getattr(gpulessons, name) for names in homes for name in names.split())
    return [value for value in found if isinstance(value, Op)]


# -- The steps: each is told where to write and when to end, and returns an exit status.


def write_machine(out, end):
    (out / "machine.json").write_text(machine().to_json())
    print(machine())
    return 0


def check_versions(out, end):
    """Check every version that runs on a GPU; what fails is reported and the others go on."""
    failed = 0
    with open(out / "checks.txt", "w") as report:
        for verdict in verdicts(every_op(), ("gpu", "torch_gpu"), end):
            failed += verdict.startswith("FAILED")
            print(verdict, flush=True)
            print(verdict, file=report, flush=True)
        print(f"{failed or 'none'} failed", file=report)
    return int(failed > 0)


def measure_ratios(out, end):
    rows = [row for row in ratios.ROWS if row.where.startswith("GPU")]
    return ratios.measure(rows, out / "ratios.json")


def record(out, end):
    """Compare op after op in the time there is, and save after each.

    Four times the largest size comes too: a GPU is only busy there.
    """
    ops, kept, failed, aside = every_op(), Recording(machine(), ()), 0, ASIDE
    for done, op in enumerate(ops):
        sizes = [*op.sizes, 4 * op.sizes[-1]]
        began, cells = monotonic(), len(op.versions) * len(sizes)
        budget = min(1.0, ((end - began) / (len(ops) - done) - aside) / cells)
        print(f"[{done + 1}/{len(ops)}] {op.name}", flush=True)
        try:
            if budget < LEAST:
                raise TimeoutError("no time was left for it")
            kept = joined(kept, compare(op, sizes, budget=budget, recorded=()))
            save(kept, out / "recording.json")
            aside = max(aside, monotonic() - began - budget * cells)
        except Exception as trouble:
            print(f"FAILED {op.name}: {sentence(trouble)}")
            failed += 1
    return int(failed > 0)


def run_pages(out, end):
    """Run page after page while there is time; what they find is in found.jsonl."""
    try:
        import nbformat
        from nbclient import NotebookClient
    except ImportError as trouble:
        print(f"no page is run: {trouble}")
        return 0
    failed = 0
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        if monotonic() > end:
            print(f"no time was left for {path.stem} and those after it")
            return 1
        page, env = nbformat.read(path, 4), {**os.environ, kept.NAME: str(out / "found.jsonl")}
        try:
            NotebookClient(page, timeout=max(1, end - monotonic())).execute(env=env)
        except Exception as trouble:
            print(f"FAILED {path.stem}: {sentence(trouble)}", flush=True)
            failed += 1
    return int(failed > 0)


def judge_model(out, end):
    """Model every kernel and measure it; after an error that took the GPU down, in a new process.

    Each leaves at least one kernel behind it, so that they come to an end.
    """
    status = confirm.judge(every_op(), out, end)
    if status != confirm.LOST:
        return status
    print("an error took the GPU down: the rest is measured in another process", flush=True)
    return subprocess.call(command("modelled", out, max(0, end - monotonic())))


# Each step's share of the time that is left when it begins.
STEPS = {
    "machine": (write_machine, 0.1),
    "checks": (check_versions, 0.35),
    "ratios": (measure_ratios, 0.4),
    "profiler": (compare_with_profiler, 0.3),
    "pages": (run_pages, 0.35),
    "modelled": (judge_model, 0.4),
    "recording": (record, 1.0),
}


# -- Checking.


def sizes_to_check(op):
    """The edge cases, and one over the largest size compared."""
    return [n for n in sorted(op.edge_cases) if n < op.sizes[-1]] + [op.sizes[-1] + 1]


def verdicts(ops, backends, end):
    """Yield a line for every version on these backends: "right …", or "FAILED …" and why."""
    for op in ops:
        problems = [Problem(op, size) for size in sizes_to_check(op)]
        sizes = ", ".join(str(problem.size) for problem in problems)
        for version in op.versions.values():
            if version.backend.name not in backends:
                continue
            failures = list(failures_of(version, problems, end))
            yield from failures or [f"right  {title(version)}, at {sizes}"]
            if failures and lost(version.backend):
                yield "FAILED what follows: an error took the GPU down, nothing more was checked"
                return


def failures_of(version, problems, end):
    """Yield a line for every size at which a version is wrong, or raises, or had no time."""
    for problem in problems:
        try:
            if monotonic() > end:
                raise TimeoutError("no time was left to check it")
            check_wrong_answers(version, problem)
        except Exception as trouble:
            yield f"FAILED {title(version)}, at {problem.size}: {sentence(trouble)}"


def check_wrong_answers(version, problem):
    """Raise unless it answers right on two sets of inputs, and again when they are changed."""
    if why := version.backend.why_not():
        raise RuntimeError(why)
    run = Run(problem, version)
    run.begin()
    run.recheck()


def lost(backend):
    """Did an error (an address that is not there, say) end this process's use of the GPU?"""
    try:
        backend.sync()
    except Exception:
        return True
    return False


def title(version):
    return f"{version.op.name}: {version.name}"


def sentence(trouble):
    """An exception on one line: a driver's message may have many."""
    return " ".join(f"{type(trouble).__name__}: {trouble}".split())


# -- The command.


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check, measure and record on this machine's GPU.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="write files here")
    parser.add_argument("--step", choices=STEPS, help="run one step alone, in this process")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the time for it all")
    options = parser.parse_args(arguments)
    if why := why_no_gpu() or gpu.why_not():
        print(f"Nothing to measure. {why}", file=sys.stderr)
        return 3
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.step:
            return alone(options.step, options.out, options.seconds)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and the step ends with us
        return everything(options.out, monotonic() + options.seconds)
    except OSError as trouble:
        print(f"Cannot write into {options.out}: {trouble}. Choose another.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Interrupted; what was finished is in {options.out}.", file=sys.stderr)
        return 130


def alone(name, out, seconds):
    step, _ = STEPS[name]
    return step(out, monotonic() + seconds)


def everything(out, end):
    """Run every step in a process of its own; 0 when all went well."""
    began, failed = monotonic(), []
    (out / confirm.NAME).unlink(missing_ok=True)  # the step would go on where an earlier run ended
    with open(out / "log.txt", "w") as log:

        def say(line):
            print(line, flush=True)
            print(line, file=log, flush=True)

        for name, (_, share) in STEPS.items():
            seconds = share * max(0, end - monotonic())
            say(f"== {name}, at most {seconds:.0f} s")
            if status := run(name, out, seconds, say):
                failed.append(name)
                why = "it would not end" if status == -signal.SIGKILL else f"exit status {status}"
                say(f"== {name} failed: {why}")
        say(f"== {', '.join(failed) or 'nothing'} failed; {monotonic() - began:.0f} s; see {out}")
    return int(bool(failed))


def run(name, out, seconds, say):
    """Run one step in its own process, saying what it prints; killed if it will not end."""
    # Bars are for terminals; a compiler's helpers would outlive the step that started them.
    env = {**os.environ, "TQDM_DISABLE": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    with subprocess.Popen(
        command(name, out, seconds), env=env, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        alarm = Timer(seconds + GRACE, kill, [process])
        alarm.start()
        try:
            for line in process.stdout:
                say(line.rstrip())
        except BaseException:
            kill(process)
            raise
        finally:
            alarm.cancel()
    return process.returncode


def command(name, out, seconds):
    step = [sys.executable, "-u", __file__, "--out", out, "--step", name, "--seconds", seconds]
    return list(map(str, step))


def kill(process):
    """End a step and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
