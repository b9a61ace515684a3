"""Run what CI runs: ruff, most tests side by side, those that measure time alone. One summary.

Each step runs whatever became of the one before; the exit status is 0 only if all passed.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic
from xml.etree import ElementTree

WORKERS = ["-n", "logical", "--maxprocesses", "8", "--dist", "loadfile"]
HALVES = {
    "side by side": ["-m", "not alone", *WORKERS],
    "alone": ["-m", "alone"],
}
NO_TESTS = 5  # pytest's exit status when it selected none: an empty half is no failure


def run(name, options, report):
    """Run one half of the tests, its results written to the file `report`; return the status."""
    print(f"Tests that run {name}:", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *options]
    return subprocess.run(command, env={"HYPOTHESIS_PROFILE": "ci", **os.environ}).returncode


def outcomes(report):
    """Yield (what became of it, where it stands) for each test in a JUnit file."""
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        home = case.get("classname").replace(".", "/")  # empty where a file could not be imported
        where = f"{home}.py::{case.get('name')}" if home else case.get("name")
        names = {"failure": "failed", "error": "errors", "skipped": "skipped"}
        yield names[min(kinds)] if kinds else "passed", where


def main():
    """Run every step and end on a line in pytest's own words."""
    started = monotonic()
    untidy = subprocess.run([sys.executable, "-m", "ruff", "check", "."]).returncode
    with tempfile.TemporaryDirectory() as folder:
        reports = {name: Path(folder) / f"{name}.xml" for name in HALVES}
        status = [run(name, options, reports[name]) for name, options in HALVES.items()]
        results = [each for file in reports.values() if file.exists() for each in outcomes(file)]
    results += [("failed", "ruff check .")] * bool(untidy)
    for outcome, where in dict.fromkeys(results):
        if outcome in ("failed", "errors"):
            print(f"{outcome.upper().rstrip('S')} {where}")
    counts = Counter(outcome for outcome, _ in results)
    kinds = [kind for kind in ("failed", "passed", "skipped", "errors") if counts[kind]]
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in kinds) or "no tests ran"
    print(f" {summary} in {monotonic() - started:.2f}s ".center(80, "="))
    broken = any(code not in (0, NO_TESTS) for code in status)
    sys.exit(bool(untidy or broken or not counts["passed"]))


if __name__ == "__main__":
    main()
