"""A learner's file of predictions for the tests that want one, and kernels that know nothing."""

import pytest

from gpulessons.notebook.controls import kept, predictions


@pytest.fixture
def another_kernel():
    """A function after which this process has forgotten all, as one that starts knows nothing."""

    def forget():
        kept.unsaved.clear()
        predictions.remembered.clear()

    return forget


@pytest.fixture
def path(tmp_path, monkeypatch, another_kernel):
    """The learner's file, in a folder that is not there yet."""
    path = tmp_path / "data" / "mine.jsonl"
    monkeypatch.setenv(kept.NAME, str(path))
    another_kernel()
    yield path
    another_kernel()
