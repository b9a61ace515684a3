"""Kept times: of today's kernels or of none, found for taught versions alone; who writes them."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import model_kernels
from gpulessons import attention, dense, gpu, relu, shade
from warplens.model import kept, versions
from warplens.model.devices import GPUS, named
from warplens.model.modelling import CannotModel
from warplens.model.value import Modelled
from warplens.model.versions import modelled_version

GRID = "CUDA, grid-stride"
INVENTED = {
    "seconds": 2e-3, "low": 1e-3, "high": 4e-3, "bounds": {"DRAM": 2e-3, "launch": 0.0},
    "occupancy": 1.0, "occupancy_limiter": "warps", "waves": 3.0, "counted_from": "machine code",
    "why_at_least": "",
}  # fmt: skip


def entry(op, version, gpu="T4", **more):
    return {"op": op, "version": version, "gpu": gpu, **INVENTED, **more}


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """A function that makes results the kept ones, of today's sources unless told."""

    def put(*results, **sources):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        today = model_kernels.sources() | sources
        file.write_text(json.dumps({"sources": today, "results": results}))
        monkeypatch.setattr(kept, "FILE", file)
        return file

    return put


@pytest.fixture
def engine(monkeypatch):
    """The model, replaced: what it was asked for."""
    asked = []

    def anew(version, size, *gpus):
        asked.extend((version.name, size, gpu.name) for gpu in gpus)
        if version.name.endswith("cores"):
            raise CannotModel("tensor cores are left out")
        told = INVENTED | {"seconds": 2.34567e-3}
        return [Modelled(version.name, gpu.name, **told) for gpu in gpus]

    monkeypatch.setattr(versions, "modelled_anew", anew)
    monkeypatch.setattr(model_kernels, "modelled_anew", anew)
    monkeypatch.setattr(model_kernels, "ProcessPoolExecutor", ThreadPoolExecutor)
    return asked


# -- What ships.


def test_the_kept_times_are_those_of_todays_kernels_and_of_todays_model():
    about = kept.contents(kept.FILE)
    ops = {op for op, *_ in about["results"]}
    files = {name: op.function.__code__.co_filename for name, op in model_kernels.taught().items()}
    assert not [why for op in sorted(ops) if (why := kept.stale(about, op, files[op]))]


def test_every_kept_time_is_of_a_version_that_there_is_and_holds_its_own_interval():
    ops = model_kernels.taught()
    for op, version, _, gpu_name in kept.contents(kept.FILE)["results"]:
        assert ops[op].versions[version].backend is gpu and gpu_name in GPUS
    for each in kept.contents(kept.FILE)["results"].values():
        if "why" not in each:
            assert each["low"] <= each["seconds"] <= (each["high"] or each["seconds"])
            assert each["counted_from"] == "machine code"


def test_reading_what_is_kept_loads_no_compiler():
    code = "import sys; from warplens.model import kept; kept.contents(kept.FILE); "
    code += "print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- Who finds what.


def test_a_kept_time_is_found_by_its_size_and_the_model_is_not_asked(keep, engine):
    keep(entry("relu", GRID, size=1000))
    found = modelled_version(relu.versions[GRID], 1000, "T4")
    assert (found.kernel, found.gpu, found.seconds, found.limiter) == (GRID, "T4", 2e-3, "DRAM")
    assert not engine
    assert modelled_version(relu.versions[GRID], 1001, "T4").seconds == 2.34567e-3
    assert modelled_version(relu.versions[GRID], 1000, "A100").gpu == "A100"
    assert engine == [(GRID, 1001, "T4"), (GRID, 1000, "A100")]


def test_a_kept_reason_is_told_again(keep, engine):
    keep({"op": "relu", "version": GRID, "size": 1000, "gpu": "T4", "why": "it is shy"})
    with pytest.raises(CannotModel, match="it is shy"):
        modelled_version(relu.versions[GRID], 1000, "T4")


@pytest.mark.parametrize("changed", ["relu", kept.MODEL])
def test_a_time_of_a_kernel_or_a_model_that_has_changed_is_not_used(keep, changed):
    keep(entry("relu", GRID, size=1000), **{changed: "of yesterday"})
    assert kept.result_of(relu.versions[GRID], 1000, "T4") is None
    about, file = kept.contents(kept.FILE), relu.function.__code__.co_filename
    assert kept.stale(about, "relu", file) == (
        f"{changed} has changed since its times were modelled: run python tools/model_kernels.py"
    )


def test_a_gpu_of_ones_own_has_no_kept_times(keep, engine):
    keep(entry("relu", GRID, size=1000, gpu="mine"))
    mine = named("T4").but("mine", dram_rate=1e12)
    assert modelled_version(relu.versions[GRID], 1000, mine).seconds == 2.34567e-3


def test_a_learners_version_has_none_whatever_its_name(keep):
    keep(entry("relu", GRID, size=1000))
    mine = relu.like()
    mine.version(GRID, on=gpu)(lambda x, out: None)
    assert kept.result_of(mine.versions[GRID], 1000, "T4") is None
    assert kept.result_of(relu.like().versions[GRID], 1000, "T4").seconds == 2e-3


def test_an_op_of_other_inputs_finds_its_times_by_their_shapes(keep):
    wide = dense.like(lambda size, rng: dense.make_inputs(2 * size, rng))
    fused = "CUDA, fused"
    keep(entry("dense", fused, size=64, shapes=kept.shapes_of(dense, 64)))
    assert kept.result_of(wide.versions[fused], 32, "T4").seconds == 2e-3
    assert kept.result_of(wide.versions[fused], 64, "T4") is None
    assert kept.result_of(dense.versions[fused], 64, "T4").seconds == 2e-3


def test_plain_numbers_among_the_inputs_tell_shapes_apart():
    causal = attention.like(lambda size, rng: (*attention.make_inputs(size, rng)[:3], True))
    assert kept.shapes_of(attention, 64).endswith("float32[4, 64, 64] False")
    assert kept.shapes_of(causal, 64).endswith("float32[4, 64, 64] True")


# -- Fingerprints.


@pytest.fixture
def folder(tmp_path):
    op = '"""Words."""\nfrom .parts import f\n\n\ndef g():\n    return f()\n'
    (tmp_path / "op.py").write_text(op)
    (tmp_path / "parts.py").write_text("from . import deep\n\n\ndef f():\n    return deep.x\n")
    (tmp_path / "deep.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("y = 1\n")
    return tmp_path


def after(folder, file, old, new):
    """The fingerprint of op.py once a file is edited."""
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    kept.fingerprint.cache_clear()
    return kept.fingerprint(str(folder / "op.py"))


@pytest.mark.parametrize(
    "file, old, new, same",
    [
        ("op.py", "return f()", "return 2 * f()", False),
        ("parts.py", "deep.x", "deep.x + 1", False),
        ("deep.py", "x = 1", "x = 2", False),
        ("op.py", "    return f()", "    if f():\n        return 1", False),
        ("deep.py", "x = 1", "x = '# 1'", False),
        ("op.py", "Words", "Other words", True),
        ("deep.py", "x = 1", "\n# why\nx = 1  # because", True),
        ("op.py", "def g():\n", 'def g():\n    """Words.\n\n    More.\n    """\n', True),
        ("other.py", "y = 1", "y = 2", True),
    ],
)
def test_a_fingerprint_is_of_code_and_of_all_that_it_imports(folder, file, old, new, same):
    before = kept.fingerprint(str(folder / "op.py"))
    assert (after(folder, file, old, new) == before) is same


# -- Who writes them.


def test_the_tool_keeps_what_the_model_says_on_every_gpu_and_does_not_ask_twice(
    tmp_path, engine, monkeypatch, capsys
):
    file = tmp_path / "modelled.json"
    model_kernels.main(("copy_offset",), file)
    sizes = list(map(str, (1_000, 100_000, 10_000_000)))
    assert {(each[1], each[2]) for each in engine} == {
        (int(size), name) for size in sizes for name in ("T4", "RTX 3090", "A100")
    }
    monkeypatch.setattr(kept, "FILE", file)
    found = kept.result_of(model_kernels.taught()["copy_offset"].versions[engine[0][0]], 1000, "T4")
    assert found.seconds == 2.346e-3, "four digits"
    told = json.loads(file.read_text())
    assert told["compilers"]["numba-cuda"] and told["gpulessons"] and told["date"]
    asked = len(engine)
    model_kernels.main(("copy_offset",), file)
    assert len(engine) == asked


def test_the_tool_models_anew_what_has_changed_and_leaves_the_rest(tmp_path, engine):
    file = tmp_path / "modelled.json"
    model_kernels.main(("copy_offset", "dot"), file)
    told = json.loads(file.read_text())
    told["sources"]["dot"] = "of yesterday"
    file.write_text(json.dumps(told))
    engine.clear()
    model_kernels.main(("copy_offset", "dot"), file)
    assert {name for name, *_ in engine} == {"CUDA, warp shuffles"}
    assert json.loads(file.read_text())["sources"]["dot"] != "of yesterday"


def test_where_the_oldest_gpu_refuses_each_of_the_others_gives_its_own_answer(
    tmp_path, engine, monkeypatch
):
    def anew(version, size, *gpus):
        if min(gpu.capability for gpu in gpus) < (8, 0):
            raise CannotModel("it needs a newer one")
        return [Modelled(version.name, gpu.name, **INVENTED) for gpu in gpus]

    monkeypatch.setattr(model_kernels, "modelled_anew", anew)
    file = tmp_path / "modelled.json"
    model_kernels.main(("copy_offset",), file)
    results = json.loads(file.read_text())["results"]
    assert {(each["gpu"], each.get("why", "")) for each in results} == {
        ("T4", "it needs a newer one"), ("RTX 3090", ""), ("A100", ""),
    }  # fmt: skip


def test_the_tool_keeps_no_times_that_are_counted_from_source(monkeypatch):
    found = Modelled("k", "T4", **INVENTED | {"counted_from": "source"})
    with pytest.raises(SystemExit, match="install nvidia-cuda-nvdisasm"):
        model_kernels.fields(found)


def test_what_depends_on_values_has_no_shapes_and_the_notebooks_inputs_have_no_size():
    grid = relu.versions[GRID]
    assert model_kernels.labels(relu, grid, 1000, own=True) == {
        "op": "relu", "version": GRID, "size": 1000, "shapes": "float32[1000]",
    }  # fmt: skip
    (by_pixel,) = (v for v in shade.versions.values() if v.backend is gpu)
    assert "shapes" not in model_kernels.labels(shade, by_pixel, 1000, own=True)
    for op, sizes in model_kernels.others():
        version = SimpleNamespace(name="fast")
        assert "size" not in model_kernels.labels(op, version, sizes[0], own=False)


def test_every_cuda_version_of_the_course_is_a_job():
    there = {(op.function.__name__, version.name) for op, version, *_ in model_kernels.jobs()}
    ours = {
        (name, version.name)
        for name, op in model_kernels.taught().items()
        for version in op.versions.values() if version.backend is gpu
    }  # fmt: skip
    assert there == ours and len(ours) > 70


def test_an_interrupted_run_leaves_a_file_that_can_be_read(tmp_path, engine, monkeypatch):
    file = tmp_path / "modelled.json"
    monkeypatch.setattr(model_kernels, "modelled", lambda place, names: 1 / 0)
    model_kernels.main(("copy_offset",), file)
    assert json.loads(file.read_text())["results"] == []


def test_what_counts_for_the_model_in_other_rooms_makes_kept_times_stale(monkeypatch, tmp_path):
    names = {path.name for path in kept.COUNTING}
    assert {"log.py", "flow.py", "counts.py", "writer.py", "sass.py", "pipes.py"} <= names
    other = tmp_path / "sass.py"
    other.write_text("changed = True\n")
    before = kept.fingerprint(str(kept.ENGINE))
    kept.fingerprint.cache_clear()
    monkeypatch.setattr(kept, "COUNTING", (*kept.COUNTING, other))
    assert kept.fingerprint(str(kept.ENGINE)) != before
    kept.fingerprint.cache_clear()


def test_what_depends_on_its_data_block_by_block_is_not_modelled_by_a_few_blocks():
    names = ("shade",)
    told = model_kernels.modelled(0, names)
    assert all("a few blocks do not stand for all" in each["why"] for each in told)
