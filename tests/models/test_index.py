"""An index in a file, and what a forest buys: kept whole, refused by name, measured in turns."""

import numpy as np
import pytest

from gpulessons.hardware import budget
from gpulessons.models import index
from gpulessons.models.index import digest, frontier, load, save
from gpulessons.ops.forest_growth import grow
from gpulessons.ops.neighbours import clustered

POINTS = clustered(300, 8, seed=1)


@pytest.fixture
def saved(tmp_path):
    return save(grow(POINTS, trees=2), POINTS, tmp_path / "flowers.npz")


def test_a_forest_comes_back_as_it_was(saved):
    forest, again = grow(POINTS, trees=2), load(saved, POINTS)
    assert type(again) is type(forest)
    for one, other in zip(forest, again, strict=True):
        assert np.array_equal(one, other) and one.dtype == other.dtype


@pytest.mark.parametrize("others", [
    POINTS + 1, POINTS[:-1], POINTS.astype(np.float64), POINTS.reshape(600, 4), POINTS[::-1],
], ids=["moved", "fewer", "wider", "reshaped", "turned round"])  # fmt: skip
def test_an_index_of_other_points_is_refused_by_name(saved, others):
    with pytest.raises(ValueError, match=r"flowers\.npz is an index of other points"):
        load(saved, others)


def test_an_index_of_another_format_is_refused_with_its_version(saved, monkeypatch):
    monkeypatch.setattr(index, "FORMAT", 2)
    with pytest.raises(ValueError, match=r"flowers\.npz has format 1, written by version \d"):
        load(saved, POINTS)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", b"\x93NUMPY"])
def test_what_is_no_index_is_refused_by_name(tmp_path, content):
    path = tmp_path / "letter.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"letter\.npz is no index"):
        load(path, POINTS)


def test_another_archive_and_a_single_array_are_no_index(tmp_path):
    np.savez(tmp_path / "a.npz", x=POINTS)
    np.save(tmp_path / "b.npy", POINTS)
    for name in ("a.npz", "b.npy"):
        with pytest.raises(ValueError, match=f"{name} is no index"):
            load(tmp_path / name, POINTS)


def test_half_an_index_is_none(saved):
    saved.write_bytes(saved.read_bytes()[:2000])
    with pytest.raises(ValueError, match="is no index"):
        load(saved, POINTS)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.npz", POINTS)


def test_what_cannot_be_written_leaves_the_earlier_index(saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save(grow(POINTS, trees=3), POINTS, saved)
    assert saved.read_bytes() == before and len(list(saved.parent.iterdir())) == 1


def test_points_in_another_order_of_memory_are_the_same_points():
    assert digest(np.asfortranarray(POINTS)) == digest(POINTS)


def test_the_frontier_has_a_row_for_each_number_of_cells_and_brute_force(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.01")
    told = []
    both = clustered(2100, 16, seed=2)
    rows = frontier(
        both[:2000], both[2000:], leaves=(1, 50), trees=3, tell=lambda *x: told.append(x)
    )
    assert [row.name for row in rows] == ["brute force", "1 cell", "50 cells"]
    assert rows[0].recall == 1 and rows[1].recall < rows[2].recall <= 1
    assert all(row.rate > 0 for row in rows)
    assert all(budget.NAME in row.note for row in rows)
    assert {words for *_, words in told} == {row.name for row in rows}
    assert all(done <= total == 0.01 for done, total, _ in told)
