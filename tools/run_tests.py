"""Run what CI runs: ruff, mypy, then the tests, side by side; with --all the nightly ones, too.

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

STATIC = ["ruff check .", "mypy"]
WORKERS = ["-n", "logical", "--maxprocesses", "8", "--dist", "loadfile", "--no-loadscope-reorder"]


def run(*words):
    """Run a module of this Python with these words; return its exit status."""
    env = {"HYPOTHESIS_PROFILE": "ci", **os.environ}
    return subprocess.run([sys.executable, "-m", *words], env=env).returncode


def tested(folder):
    """Run the tests; return (pytest's exit status, what `outcomes` tells)."""
    report = Path(folder) / "report.xml"
    chosen = [] if "--all" in sys.argv[1:] else ["-m", "not nightly"]
    status = run("pytest", "-q", f"--junitxml={report}", *WORKERS, *chosen)
    return status, list(outcomes(report)) if report.exists() else []


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
    results = [("failed", check) for check in STATIC if run(*check.split())]
    with tempfile.TemporaryDirectory() as folder:
        status, found = tested(folder)
    for outcome, where in dict.fromkeys(results := results + found):
        if outcome in ("failed", "errors"):
            print(f"{outcome.upper().rstrip('S')} {where}")
    counts = Counter(outcome for outcome, _ in results)
    kinds = [kind for kind in ("failed", "passed", "skipped", "errors") if counts[kind]]
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in kinds) or "no tests ran"
    print(f" {summary} in {monotonic() - started:.2f}s ".center(80, "="))
    sys.exit(bool(status or counts["failed"]))


if __name__ == "__main__":
    main()
