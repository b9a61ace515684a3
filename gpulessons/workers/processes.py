"""Which processes belong to a launch, and how they end with it.

A launch names a folder in its environment. Every process that it starts inherits that mark, and so
does every one that those start. The mark holds when parents are dead and when a number that was a
process has become another: a list of process ids would not.
"""

import os
import shutil
import signal
import threading
import time
from contextlib import suppress

import psutil

REPORT = "GPULESSONS_REPORT"  # the folder of this launch
PARENT = "GPULESSONS_PARENT"  # the process that this one must not outlive
GRACE = 3.0  # seconds to end in peace


def marked(report):
    """The living processes of one launch, without the one that asks."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):  # it has just ended, or is somebody else's
            if process.pid != os.getpid() and process.environ().get(REPORT) == str(report):
                found.append(process)
    return found


def end_all(report):
    """Ask every process of a launch to end; then end those that are still there."""
    try:
        each(psutil.Process.terminate, report)
    finally:  # for those in a hurry, too: Ctrl-C, and Ctrl-C again
        each(psutil.Process.kill, report)


def each(end, report):
    found = marked(report)
    for process in found:
        with suppress(psutil.Error):
            end(process)
    psutil.wait_procs(found, GRACE)


def end_with_parent(clean=False):
    """End this process, and those it started, when its parent is gone, however that died.

    clean: end the whole launch, and remove its folder.
    """
    parent, report = int(os.environ[PARENT]), os.environ[REPORT]

    def watch():
        while os.getppid() == parent:
            time.sleep(0.2)
        if clean:
            end_all(report)
            shutil.rmtree(report, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
