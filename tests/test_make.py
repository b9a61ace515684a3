"""make: what it lists, and what it says where something is missing."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from checkout import copies, fake_python

MAKE = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


def make(folder, *words):
    """Run our Makefile in a folder of its own; return the finished process, its output as text."""
    copies(folder, "Makefile", "pyproject.toml", "constraints.txt")
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    pipe = {"capture_output": True, "encoding": "utf-8"}
    return subprocess.run(["make", *words], cwd=folder, env=env, **pipe)


@MAKE
def test_make_alone_lists_each_command_with_a_line_of_explanation(tmp_path):
    lines = make(tmp_path).stdout.splitlines()
    named = {line.split()[1] for line in lines if len(line.split()) > 3}
    assert named == {
        "help", "lab", "test", "test-all", "notebooks", "disturbed", "bench", "machines", "judge",
        "gpu", "nvidia", "colab", "newest", "offline", "site", "lite", "clean",
    }  # fmt: skip


@MAKE
@pytest.mark.parametrize(
    ("body", "says"),
    [
        # An old Python: the real one, made to think that it is.
        (
            'exec {python} -c "import sys; sys.version_info = (3, 10); exec(sys.argv[1])" "$2"',
            "Python 3.11 or newer and",
        ),
        ('case "$2" in *ensurepip*) exit 1;; esac', "sudo apt install python3-venv"),
    ],
    ids=["old", "without venv"],
)
def test_make_says_what_is_wrong_with_a_python_that_will_not_do(tmp_path, body, says):
    python = fake_python(tmp_path, body.replace("{python}", sys.executable))
    done = make(tmp_path, "lab", f"PYTHON={python}")
    assert done.returncode != 0
    assert says in done.stdout
    assert not (tmp_path / ".venv").exists()


@MAKE
def test_a_second_make_installs_nothing_until_the_versions_change(tmp_path):
    python = fake_python(tmp_path, "exit 1")
    ready = tmp_path / ".venv" / ".ready"
    ready.parent.mkdir()
    ready.touch()
    later = time.time() + 60
    os.utime(ready, (later, later))
    assert make(tmp_path, ".venv/.ready", f"PYTHON={python}").returncode == 0
    os.utime(ready, (1, 1))
    assert make(tmp_path, ".venv/.ready", f"PYTHON={python}").returncode != 0


@MAKE
def test_make_gpu_needs_no_environment_of_ours(tmp_path):
    python = fake_python(tmp_path, 'echo "$PYTHONPATH" "$@"')
    done = make(tmp_path, "gpu", f"PYTHON={python}", "OUT=report here")
    assert done.stdout.split()[0].split(":")[0] == str(tmp_path)
    assert done.stdout.endswith("benchmarks/gpu.py --out report here\n")
    assert not (tmp_path / ".venv").exists()
