"""Run a lesson's cells as a browser would, and tell what became of each: one JSON object a line.

    python -S lite_cells.py NOTEBOOK [--survey]

Here, and in a browser, there are NumPy, Matplotlib and IPython, and no Numba, PyTorch, thread or
process: what a browser refuses is refused. With --survey no cell is known to be unable, and what
raises is told with what it needs. Nothing but `lite.py` and tests starts this.
"""

import ast
import builtins
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import process_time

from IPython.core.interactiveshell import InteractiveShell

SECONDS = 15  # of a processor for one cell here: in a browser it takes some times as long
SAYS = {  # the words of an error -> what the cell needs
    "no module named 'torch": "PyTorch", "'torch'": "PyTorch", "pytorch": "PyTorch",
    "support processes": "processes", "start new thread": "threads",
}  # fmt: skip


class Minutes(BaseException):
    """A cell took too long."""


def refuse_as_a_browser_does():
    def no_thread(self):
        raise RuntimeError("can't start new thread")

    def no_process(self, *_, **__):
        raise OSError(138, "emscripten does not support processes.")

    def over(*_):
        raise Minutes

    threading.Thread.start, subprocess.Popen.__init__ = no_thread, no_process
    signal.signal(signal.SIGPROF, over)
    os.cpu_count = lambda: 1
    if hasattr(os, "sched_getaffinity"):
        del os.sched_getaffinity


def ran(shell, text, most=0):
    """Run a cell, for so many seconds of a processor at most if any are said; (the error that it
    ended in or None, its seconds)."""
    start = process_time()
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = shell.run_cell(text, store_history=False)
        error = result.error_before_exec or result.error_in_exec
    except Minutes as over:
        error = over
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return error, process_time() - start


def imported(text):
    """{name: the statement that imports it} of a cell's text."""
    kinds = ast.Import, ast.ImportFrom
    lines = [line for line in ast.parse(text).body if isinstance(line, kinds)]
    return {name.asname or name.name: ast.unparse(line) for line in lines for name in line.names}


def need(error, unbound, statements):
    """What a cell that ended in this error needs.

    unbound: names that no cell has bound -> why; statements: names -> what was to import them.
    """
    if isinstance(error, NameError) and error.name in statements:
        try:
            exec(statements[error.name], {})
        except ImportError as missing:
            return "processes" if missing.name == "psutil" else "PyTorch"
    if isinstance(error, Minutes):
        return "minutes"
    words = str(error).lower()
    if isinstance(error, NameError) and error.name in unbound:
        return unbound[error.name]
    return next((what for said, what in SAYS.items() if said in words), "Numba")


def names_in(text):
    return compile(text, "cell", "exec", 0x2000).co_names  # top-level await is allowed


def main(path, survey):
    """Print what became of each cell."""
    refuse_as_a_browser_does()
    import gpulessons_browser as browser

    browser.notebooks = lambda: Path(path).parent
    if survey:
        browser.LIST = Path(os.devnull)
    shell, said, statements = InteractiveShell.instance(), [], {}
    unbound = {"sys": "processes"}  # which the usual first cell imports, to start one
    told = browser.say
    browser.say = lambda *words: (said.append(words[0]), told(*words))
    with contextlib.redirect_stdout(io.StringIO()) as summary:
        browser.begin(Path(path).stem)
    shell.set_custom_exc((), None)  # an error that the list does not foresee is told as one
    print(json.dumps({"summary": summary.getvalue().strip()}))
    for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or cell["id"] == "setup":
            continue
        text, before = "".join(cell["source"]), len(said)
        statements |= imported(text)
        error, seconds = ran(shell, text, SECONDS if survey else 0)
        line = {"cell": cell["id"], "seconds": round(seconds, 1), "said": len(said) > before}
        if error:
            line["error"] = f"{type(error).__name__}: {error}"[:200]
            line["needs"] = need(error, unbound, statements)
            known = {*shell.user_ns, *vars(builtins)}
            unbound |= dict.fromkeys({*names_in(text)} - known, line["needs"])
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], "--survey" in sys.argv)
