"""`make test` in a small project: each step alone can fail it, and none hides another."""

import pytest

import run_tests

FILES = {
    "pyproject.toml": '[tool.mypy]\nfiles = ["sums.py"]\n',
    "sums.py": "def twice(n: int) -> int:\n    return 2 * n\n",
    "test_sums.py": "from sums import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
}
FAULTS = {
    "ruff check .": ("sums.py", "def twice", "import os\n\n\ndef twice"),
    "mypy": ("sums.py", "-> int", "-> bytes"),  # longer: mypy looks at the size first
    "test_sums.py::test_twice": ("sums.py", "2 * n", "3 * n"),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture
def run(tmp_path, monkeypatch, capfd, cache):
    """run(*names of faults): (the exit status, what was printed) of a run with these faults."""
    monkeypatch.setattr(run_tests, "WORKERS", ["-p", "no:cacheprovider"])
    monkeypatch.setenv("MYPY_CACHE_DIR", str(cache))  # its own library is read once for all runs
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer than all else
    monkeypatch.chdir(tmp_path)

    def run(*faults):
        for name, text in FILES.items():
            for file, before, after in map(FAULTS.get, faults):
                text = text.replace(before, after) if name == file else text
            (tmp_path / name).write_text(text)
        with pytest.raises(SystemExit) as end:
            run_tests.main()
        return int(end.value.code), capfd.readouterr().out.splitlines()

    return run


def test_where_nothing_is_wrong_it_passes_and_counts_the_tests(run):
    status, said = run()
    assert (status, said[-1].strip("= ").partition(" in ")[0]) == (0, "1 passed")


@pytest.mark.parametrize("fault", FAULTS)
def test_each_step_alone_fails_the_run_and_is_named(run, fault):
    status, said = run(fault)
    assert status == 1
    assert [line for line in said if line.startswith("FAILED ")][-1] == f"FAILED {fault}"
    assert "1 failed" in said[-1]


def test_every_step_runs_whatever_became_of_the_one_before(run):
    status, said = run(*FAULTS)
    assert (status, said[-1].strip("= ").partition(" in ")[0]) == (1, "3 failed")
