"""The CPU's targets on every machine that measured them: kept here, shown in docs/machines.md.

    python benchmarks/machines.py                  every row of this CPU, and the page: some hours
    python benchmarks/machines.py matmul lstm      these rows; the others stay as they were
    python benchmarks/machines.py --page           nothing measured, the page written anew

Where a CPU has AVX-512, what competes in vectors is measured a second time with everybody, ours and
the libraries', held to AVX2. That shows what our text is worth with half as many numbers in half as
many registers. It is no older CPU: its caches and its clock stay what they are.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KEPT, PAGE = HERE / "machines", HERE.parent / "docs" / "machines.md"
# Numba, which by an older CPU's name alone is not held: it still uses all that this one has.
# Then OpenBLAS, MKL, oneDNN, and PyTorch's own kernels.
HELD = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma",
        "OPENBLAS_CORETYPE": "Haswell", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}  # fmt: skip
IN_VECTORS = ("relu-copy", "gelu", "bias-gelu", "adam", "matmul", "matmul-2048", "matmul-odd",
              "conv-direct", "conv-im2col", "im2col-cores", "softmax", "lstm")
HEAD = """# The targets, machine by machine

<!-- made by python benchmarks/machines.py from benchmarks/machines/*.json -->

How many times as fast as the library, or as what else a row names, the course's own code is: the
median over rounds in which both took their turn, and the middle half of those rounds. A row in
seconds tells how long something takes, and the fewer the better. "Firm" is what the course
promises, "aim" where the best would be. "Held to AVX2" is an emulation: the same CPU, where Numba
and every library use AVX2 only. `make machines` measures yours.
"""


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Measure this CPU's targets, and show all CPUs'.")
    parser.add_argument("names", nargs="*", metavar="name", help="rows to measure (default: all)")
    parser.add_argument("--page", action="store_true", help="write the page, and measure nothing")
    options, status = parser.parse_args(arguments), 0
    if not options.page:
        from gpulessons.hardware.system import simd

        held = [name for name in options.names or IN_VECTORS if name in IN_VECTORS]
        status = measured(options.names, {})
        if simd()[0] == "AVX-512" and held:
            status = measured(held, HELD) or status
    PAGE.write_text(page(), encoding="utf-8")
    return status


def measured(names, environment):
    """Measure rows in a process of their own, and keep them, also when interrupted; its status."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        words = [sys.executable, HERE / "ratios.py", "--json", file, *names]
        try:
            return subprocess.run(words, env=os.environ | environment).returncode
        finally:
            keep(json.loads(file.read_text(encoding="utf-8")) if file.exists() else [])


def keep(rows):
    """Add rows to those of their CPU: what was measured anew takes the old one's place."""
    for cpu in {row["cpu"] for row in rows}:
        file = KEPT / f"{re.sub(r'[^a-z0-9]+', '-', cpu.lower()).strip('-')}.json"
        old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        both = {row["name"]: row for row in [*old, *(row for row in rows if row["cpu"] == cpu)]}
        KEPT.mkdir(exist_ok=True)
        file.write_text(json.dumps([*both.values()], indent=1) + "\n", encoding="utf-8")


def page():
    """The Markdown: a table with a row for each target, a column for each machine."""
    from ratios import ROWS

    found, days = {}, {}
    for file in sorted(KEPT.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            found.setdefault(row["cpu"], {})[row["name"]] = row
            days.setdefault(row["cpu"], set()).add(row["day"])
    head = ["", "what", "firm", "aim", *found]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in ROWS:
        cells = [cell(row, rows.get(row.name)) for rows in found.values()]
        if any(cells):
            unit = " s" * (row.unit == "seconds")
            start = [row.name, row.about, f"{row.firm}{unit}", f"{row.aim}{unit}"]
            lines.append(f"| {' | '.join([*start, *(each or '–' for each in cells)])} |")
    when = [f"{cpu}: {', '.join(sorted(days[cpu]))}." for cpu in days]
    return "\n".join([HEAD, *lines, "", "Measured on:", "", *(f"- {each}" for each in when), ""])


def cell(row, kept):
    if not kept:
        return ""
    if row.unit == "seconds":
        return f"{kept['seconds']:.3g} s: {row.standing(kept['seconds'])}"
    word = "too noisy" if kept["noisy"] else row.standing(kept["ratio"])
    return f"{kept['ratio']:.2f} ({kept['low']:.2f}–{kept['high']:.2f}): {word}"


if __name__ == "__main__":
    sys.exit(main())
