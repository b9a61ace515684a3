"""The README's first program is one, and says what stands below it."""

import os
import re
import subprocess
import sys

from checkout import ROOT


def test_the_kernel_that_forgets_a_barrier_is_found_as_the_readme_says(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.search(r"```python\n(.*?)```\n\n```\n(.*?)…\n```", readme, re.DOTALL)
    program, said = blocks.groups()
    file = tmp_path / "total.py"
    file.write_text(program)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=env)
    assert done.stdout.startswith(said), done.stderr
