"""A file that a person cares about is written whole, or stays as it was."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpulessons.hardware import files

# A disk that is full after a thousand bytes, as far as this process can tell.
FULL = """
import resource, signal, sys
from gpulessons.hardware import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write(sys.argv[1], "x" * 100_000)
except OSError as trouble:
    print("no room")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_full_disk_leaves_the_earlier_file_and_no_other(tmp_path, before):
    path = tmp_path / "a.txt"
    if before:
        path.write_text(before)
    command = [sys.executable, "-c", FULL, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "no room\n", done.stderr
    found = [(file, file.read_text()) for file in tmp_path.iterdir()]
    assert found == ([(path, before)] if before else [])


def test_writers_at_the_same_time_have_a_file_aside_each(tmp_path, monkeypatch):
    """Another writes the same file while this one is writing: both files are whole."""
    path, really, asides = tmp_path / "a", Path.write_bytes, []

    def write_bytes(aside, content):
        asides.append(aside)
        if len(asides) == 1:
            files.write(path, "the other's")
            assert path.read_text() == "the other's"
        return really(aside, content)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    files.write(path, "mine")
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]
    assert len(set(asides)) == 2 and all(aside.parent == tmp_path for aside in asides)


def test_text_keeps_its_line_ends_and_bytes_are_bytes(tmp_path):
    assert files.write(tmp_path / "a", "α\n").read_bytes() == "α\n".encode()
    assert files.write(tmp_path / "a", b"\r\n").read_bytes() == b"\r\n"


