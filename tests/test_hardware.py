"""The card always comes, says "unknown" for what a system hides, and its ceilings are honest."""

import ctypes
import json
import os
import platform
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons import compare, hardware, relu
from gpulessons.hardware import (
    Machine,
    budget,
    card,
    ceilings,
    kept,
    nvidia,
    pools,
    system,
    timer,
    vectors,
)
from gpulessons.hardware.ceilings import Rate
from gpulessons.notebook.briefly import BRIEFLY
from warplens.code import driver as cuda_driver

CPUINFO_X86 = "processor\t: 0\nmodel name\t: Fast CPU\nflags\t\t: sse2 avx avx2\n\nprocessor\t: 1\n"
CPUINFO_ARM = "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"
CACHE = "/sys/devices/system/cpu/cpu0/cache"


@pytest.fixture
def files(monkeypatch):
    """The system files that exist: none, until a test adds some."""
    present = {}
    monkeypatch.setattr(system, "read", lambda path: present.get(Path(path).as_posix(), ""))
    return present


@pytest.fixture
def py_cpuinfo(monkeypatch):
    """What py-cpuinfo answers: it raises, until a test sets an answer."""
    answer = {}

    def get_cpu_info():
        if not answer:
            raise RuntimeError("py-cpuinfo supports no such processor")
        return answer

    monkeypatch.setitem(sys.modules, "cpuinfo", SimpleNamespace(get_cpu_info=get_cpu_info))
    system.py_cpuinfo.cache_clear()
    yield answer
    system.py_cpuinfo.cache_clear()


@pytest.fixture
def quick(monkeypatch):
    """machine() without its two seconds, made anew for this test and forgotten after it."""
    measures = {"host copy": lambda threads: Rate(1e9 * threads, threads)}
    monkeypatch.setattr(card, "host_ceilings", lambda nbytes: measures)
    monkeypatch.setattr(system, "free_memory", lambda: 2**36)  # whatever else is running
    card.this_machine.clear()
    yield
    card.this_machine.clear()


class FakeDriver:
    """libcuda with one GPU: answers through pointers, as the driver does."""

    def __init__(self, init=0, count=1, **attributes):
        self.init, self.count = init, count
        known = {16: 132, 38: 50 * 2**20, 75: 9, 76: 0, 13: 1_980_000, 36: 2_619_000, 37: 5120}
        self.attributes = known | {int(name[1:]): value for name, value in attributes.items()}

    def cuInit(self, flags):
        return self.init

    def cuDeviceGetCount(self, count):
        count._obj.value = self.count
        return 0

    def cuDeviceGet(self, device, ordinal):
        device._obj.value = ordinal

    def cuDeviceGetName(self, name, length, device):
        name.value = b"NVIDIA Test 100"

    def cuDeviceTotalMem_v2(self, memory, device):
        memory._obj.value = 80 * 2**30

    def cuDeviceGetAttribute(self, value, number, device):
        value._obj.value = self.attributes[number]

    def cuDeviceGetPCIBusId(self, address, length, device):
        address.value = b"0000:3b:00.0"


def fake_nvml():
    return SimpleNamespace(nvmlInit=lambda: None, nvmlShutdown=lambda: None,
                           nvmlSystemGetDriverVersion=lambda: b"580.10")


def plug_in(monkeypatch, driver, nvml=None):
    real = ctypes.CDLL

    def load_library(name, *settings, **more):
        if "cuda" not in str(name):  # a BLAS, which is asked for its version
            return real(name, *settings, **more)
        if driver is None:
            raise OSError(name)
        return driver

    monkeypatch.setattr(ctypes, "CDLL", load_library)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)  # None makes the import fail


def row(here, label):
    """What the card says beside a label."""
    return dict(line.split("  ", 1) for line in repr(here).splitlines()[1:])[label].strip()


# The card

def test_a_real_card_has_every_host_ceiling_and_is_made_once():
    card.this_machine.clear()
    here = hardware.machine()
    assert hardware.machine() is here
    assert set(card.HOST_CEILINGS) <= set(here.ceilings)
    assert all(np.isfinite(rate) and rate > 1e6 for rate in here.ceilings.values())
    assert set(here.ceiling_threads.values()) <= set(hardware.thread_choices())
    card.this_machine.clear()
    assert hardware.machine() is not here


def test_a_card_survives_json_exactly(quick, monkeypatch):
    plug_in(monkeypatch, FakeDriver(), fake_nvml())
    monkeypatch.setattr(card, "gpu_ceilings", lambda: {"gpu copy": 3e12})
    here = hardware.machine()
    assert here.gpu and Machine.from_json(here.to_json()) == here


@pytest.mark.parametrize("text", ['{"cpu": "x"}', "[]", "[{}]", "3", "torn {"])
def test_another_json_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match="not a machine of this version"):
        Machine.from_json(text)


def test_the_card_shows_a_gpu_with_its_ceilings(quick, monkeypatch):
    plug_in(monkeypatch, FakeDriver(count=2), fake_nvml())
    monkeypatch.setattr(card, "gpu_ceilings", lambda: {"gpu copy": 3.9e12, "gpu float16": 650e12})
    here = hardware.machine()
    assert row(here, "GPU") == (
        "NVIDIA Test 100, 80 GiB, compute capability 9.0, 132 multiprocessors, driver 580.10 "
        "(one of 2)"
    )
    assert row(here, "gpu copy, measured") == "3.9 TB/s"
    assert row(here, "gpu float16, measured") == "650 TFLOP/s"
    assert row(here, "gpu tf32, measured") == "unknown"


# The ceilings, kept

@pytest.fixture
def file(monkeypatch, tmp_path):
    """The file in which this test's ceilings are kept."""
    path = tmp_path / "folder" / "machine.json"
    monkeypatch.setenv(kept.NAME, str(path))
    return path


@pytest.fixture
def whole(quick, monkeypatch):
    """Every ceiling is measured in no time, each time at another rate: their buffers' sizes."""
    done = []

    def measures(nbytes):
        done.append(nbytes)
        return dict.fromkeys(card.HOST_CEILINGS, lambda n: Rate(1e9 * n + len(done), n))

    monkeypatch.setattr(card, "host_ceilings", measures)
    return done


def next_start(again=False):
    """The card of the process that starts next."""
    card.this_machine.clear()
    return hardware.machine(again)


def test_ceilings_are_measured_once_and_kept_with_their_date(whole, file):
    first = hardware.machine()
    entries = json.loads(file.read_text())
    (entry,) = [each for each in entries if each["about"] == "ceilings"]
    entry["when"] = "2026-01-02T03:04:05+00:00"
    file.write_text(json.dumps(entries))
    second = next_start()
    assert len(whole) == 1
    assert second.ceilings == first.ceilings and second.ceiling_threads == first.ceiling_threads
    assert row(first, "ceilings") == f"measured {first.date[:16].replace('T', ' ')}, with this card"
    assert row(second, "ceilings") == (
        "measured 2026-01-02 03:04, and kept; machine(again=True) measures again"
    )


def test_again_measures_again_and_is_what_is_kept_from_then_on(whole, file):
    first, again = hardware.machine(), hardware.machine(again=True)
    assert len(whole) == 2 and again.ceilings != first.ceilings
    assert hardware.machine() is again and next_start().ceilings == again.ceilings
    assert row(again, "ceilings").endswith("with this card")
    assert len([each for each in kept.entries() if each["about"] == "ceilings"]) == 1


@pytest.mark.parametrize(
    "room, name, other",
    [
        (system, "cpu_name", lambda: "Another CPU"), (system, "cores", lambda: 77),
        (system, "caches", lambda: {"L2": 2**20}), (nvidia, "gpu", lambda: {"name": "A GPU"}),
        (system, "libraries", lambda: {"numpy": "9.9"}), (card, "METHOD", 99),
    ],
)  # fmt: skip
def test_another_machine_or_library_has_ceilings_of_its_own(
    whole, file, monkeypatch, room, name, other
):
    first = hardware.machine()
    with monkeypatch.context() as changed:
        changed.setattr(room, name, other)
        assert next_start().ceilings != first.ceilings
        assert len(whole) == 2 and next_start() and len(whole) == 2
    assert next_start().ceilings == first.ceilings, "both are kept"


def test_a_rough_card_keeps_nothing_and_uses_what_was_measured_with_care(whole, file, monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.02")
    assert "rough" in hardware.machine().note and not file.exists()
    monkeypatch.delenv(budget.NAME)
    careful = next_start()
    monkeypatch.setenv(budget.NAME, "0.02")
    assert next_start().ceilings == careful.ceilings and not next_start().note
    assert "rough" in next_start(again=True).note
    monkeypatch.delenv(budget.NAME)
    assert next_start().ceilings == careful.ceilings


def test_a_rate_that_never_comes_again_is_marked(whole, file, monkeypatch):
    rates = iter([100.0, 50.0, 80.0, 89.0])  # of one thread: each repetition is over 10 % off
    monkeypatch.setattr(pools, "cores", lambda: 1)
    jumping = {"host copy": lambda threads: Rate(next(rates), threads)}
    all_five = dict.fromkeys(card.HOST_CEILINGS, lambda threads: Rate(1e9, threads)) | jumping
    monkeypatch.setattr(card, "host_ceilings", lambda nbytes: all_five)
    here = hardware.machine()
    assert here.ceilings["host copy"] == 100.0 and here.disturbed == "host copy"
    words = "kept for an hour only, because something disturbed host copy"
    assert row(here, "ceilings").endswith(words)


def test_threads_that_had_to_share_their_cores_rate_nothing_for_long(whole, file, monkeypatch):
    shared = dict.fromkeys(card.HOST_CEILINGS, lambda threads: Rate(1e9 * threads, 0.7 * threads))
    monkeypatch.setattr(card, "host_ceilings", lambda nbytes: shared)
    here = hardware.machine()
    assert "something disturbed host float32, host float64" in here.note
    assert "host float32, host float64" in here.disturbed
    calm = dict.fromkeys(card.HOST_CEILINGS, lambda threads: Rate(2e9 * threads, threads))
    monkeypatch.setattr(card, "host_ceilings", lambda nbytes: calm)
    assert next_start().ceilings == here.ceilings, "for an hour nobody measures again"
    entries = json.loads(file.read_text())
    entries[0]["when"] = "2026-01-02T03:04:05+00:00"
    file.write_text(json.dumps(entries))
    later = next_start()
    assert later.ceilings != here.ceilings and not later.disturbed
    monkeypatch.setattr(card, "host_ceilings", lambda nbytes: shared)
    assert next_start(again=True).disturbed
    assert next_start().ceilings == later.ceilings, "the better ones stay"


def test_ctrl_c_leaves_a_card_with_what_was_measured(whole, file, monkeypatch):
    def stops(threads):
        raise KeyboardInterrupt

    measures = {"host float32": lambda threads: Rate(1e9, threads), "host copy": stops}
    with monkeypatch.context() as busy:
        busy.setattr(card, "host_ceilings", lambda nbytes: measures)
        here = hardware.machine()
        assert here.interrupted and list(here.ceilings) == ["host float32"]
        assert not file_of_ceilings(file)
        stopped = compare(relu, 8, "NumPy", recorded=(), modelled=())
        assert stopped.interrupted and not stopped.entries
    assert not hardware.machine().interrupted and len(hardware.machine().ceilings) == 5


def file_of_ceilings(file):
    return file.exists() and '"ceilings"' in file.read_text()


def test_a_small_memory_is_told_and_kept_until_there_is_room(whole, file, monkeypatch):
    monkeypatch.setattr(system, "caches", lambda: {"L3": 2**27})
    monkeypatch.setattr(system, "free_memory", lambda: 2**31)
    words = "memory was rated by 256 MiB, less than four times the last cache"
    assert hardware.machine().note == words
    assert next_start().note == words and whole == [2**28]
    monkeypatch.setattr(system, "free_memory", lambda: 2**36)
    assert next_start().note == "" and whole == [2**28, 2**29]
    monkeypatch.setattr(system, "free_memory", lambda: 2**31)
    assert next_start().note == "" and len(whole) == 2, "the better one stays"


@pytest.mark.parametrize(
    "damaged",
    [b"torn [", b"{}", b"\xff\xfe", b"[" * 99999,
     b'[{"about": "ceilings", "of": {}, "when": null, "found": {}}]'],
)
def test_a_damaged_file_costs_a_sentence_and_a_measurement(whole, file, damaged):
    file.parent.mkdir()
    file.write_bytes(damaged)
    with pytest.warns(UserWarning, match="cannot be read from .*machine.json.* measured again"):
        first = hardware.machine()
    assert next_start().ceilings == first.ceilings and len(whole) == 1


def test_a_file_that_cannot_be_written_costs_a_sentence(whole, file):
    file.parent.write_text("no folder")
    with pytest.warns(UserWarning, match=f"cannot be stored in .*{kept.NAME}=FILE"):
        assert hardware.machine().ceilings


# The width of Numba's vectors

@pytest.fixture
def avx512(monkeypatch, file):
    """A CPU with AVX-512 for which nobody has asked for its full width yet."""
    monkeypatch.setattr(os, "environ", {kept.NAME: str(file)})
    ours = {vectors.CPU: "fastcpu", vectors.FEATURES: "+avx512f,-prefer-256-bit"}
    monkeypatch.setattr(vectors, "full_width", lambda: ours)
    monkeypatch.setattr(vectors, "host_features", lambda: {"avx512f": True})
    monkeypatch.delitem(sys.modules, "numba.core.registry", raising=False)
    monkeypatch.delitem(sys.modules, "numba.core.config", raising=False)


def chosen():
    return {name: value for name, value in os.environ.items() if name.startswith("NUMBA")}


def numba_of(monkeypatch, **compiled):
    """A Numba that is imported; returns how often it was told to read its settings."""
    told = []
    registry = SimpleNamespace(cpu_target=SimpleNamespace(**compiled))
    monkeypatch.setitem(sys.modules, "numba.core.registry", registry)
    config = SimpleNamespace(reload_config=lambda: told.append(chosen()))
    monkeypatch.setitem(sys.modules, "numba.core.config", config)
    return told


def test_who_imports_the_course_has_the_process_as_it_was():
    code = (
        "import os, sys; before = list(sys.meta_path), dict(os.environ); "
        "import gpulessons; assert (sys.meta_path, dict(os.environ)) == before; "
        "from gpulessons.hardware import machine, ceilings; from gpulessons import relu; "
        "machine(); print([each for each in sys.meta_path if 'gpulessons' in type(each).__module__]"
        ", {k for k, v in os.environ.items() if k.startswith('NUMBA')})"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")} | BRIEFLY
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert out.stdout.strip() == "[] set()", out.stderr


def test_the_full_width_is_there_for_who_asks(avx512):
    assert vectors.in_words().startswith("as LLVM prefers: wide_vectors(), before")
    vectors.wide_vectors()
    assert chosen() == vectors.full_width()
    assert vectors.in_words() == "512 bits, by wide_vectors()"


@pytest.mark.parametrize("name", vectors.SETTINGS)
def test_what_the_reader_has_set_stays(avx512, name):
    os.environ[name] = "1"
    vectors.wide_vectors()
    assert chosen() == {name: "1"} and vectors.in_words() == f"as {name} says"


def test_numba_that_has_compiled_nothing_reads_its_settings_again(avx512, monkeypatch):
    told = numba_of(monkeypatch)
    vectors.wide_vectors()
    assert told == [vectors.full_width()] and vectors.in_words().startswith("512 bits")


@pytest.mark.skipif(not vectors.has_512(), reason="this CPU has no AVX-512")
def test_the_full_width_shows_in_the_machine_code():
    """Numba is imported first here, as a notebook's imports are sorted."""
    code = (
        "import numba, numpy; from gpulessons import wide_vectors; wide_vectors(); "
        "from gpulessons.hardware import ceilings, hot_loop; "
        "ceilings.read(numpy.ones(9, numpy.float32)); print(hot_loop.hot_loop(ceilings.read).lanes)"
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=own
    )
    assert out.stdout.strip() == "16"


# Things hidden

def test_a_system_that_hides_everything_still_gives_a_card(
    quick, files, py_cpuinfo, monkeypatch
):
    plug_in(monkeypatch, None)
    for module in ("psutil", "threadpoolctl", "torch"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.setattr(platform, "machine", lambda: "")
    monkeypatch.setattr(system.metadata, "version", lambda name: 1 / 0)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: 1 / 0)
    here = hardware.machine()
    assert (here.cpu, here.simd, here.memory, here.gpu, here.commit) == (None,) * 5
    assert (here.cores, here.gpus, here.caches, here.libraries) == (1, 0, {}, {})
    assert Machine.from_json(here.to_json()) == here
    for label in ("CPU", "SIMD", "caches", "memory", "libraries", "commit"):
        assert row(here, label) == "unknown"
    assert row(here, "cores") == "1 of unknown logical"
    assert "unknown" in here._repr_html_()


def test_a_ceiling_that_fails_is_unknown_and_the_reason_is_told(quick, monkeypatch):
    def broken(threads):
        raise MemoryError("no room for arrays")

    monkeypatch.setattr(
        card, "host_ceilings", lambda _: {"host copy": broken, "host triad": lambda n: Rate(2e9, n)}
    )
    with pytest.warns(UserWarning, match="no room for arrays"):
        here = hardware.machine()
    assert here.ceilings == {"host triad": 2e9}
    assert row(here, "host copy, measured") == "unknown"
    assert row(here, "host triad, measured").startswith("2 GB/s")


# Cores

@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)


@pytest.mark.parametrize(
    "limit, cores", [("250000 100000", 2), ("50000 100000", 1), ("max 100000", 8), ("", 8)]
)
def test_a_cgroup_v2_quota_limits_the_cores(eight_cores, files, limit, cores):
    files["/proc/self/cgroup"] = "0::/pod/box"
    files["/sys/fs/cgroup/pod/box/cpu.max"] = limit
    assert hardware.cores() == cores


# Processor, caches, memory

def test_without_proc_py_cpuinfo_answers(files, py_cpuinfo):
    py_cpuinfo.update(brand_raw="Other CPU", flags=["sse2", "avx512f"],
                      l1_data_cache_size=2**15, l2_cache_size="unclear", l3_cache_size=2**23)
    assert system.cpu_name() == "Other CPU"
    assert system.simd() == ("AVX-512", 512)
    assert system.caches() == {"L1d": 2**15, "L3": 2**23}


def test_caches_come_from_sysfs_and_instructions_are_left_out(files):
    entries = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K"),
               ("3", "Unified", "32768K")]
    for index, values in enumerate(entries):
        for name, value in zip(("level", "type", "size"), values, strict=True):
            files[f"{CACHE}/index{index}/{name}"] = value
    assert system.caches() == {"L1d": 48 * 2**10, "L2": 2**21, "L3": 2**25}


def test_a_cgroup_limits_memory(files, monkeypatch):
    monkeypatch.setattr(system, "total_memory", lambda: 64 * 2**30)
    assert system.memory() == 64 * 2**30
    files["/proc/self/cgroup"] = "4:memory:/box\n0::/"
    files["/sys/fs/cgroup/memory/box/memory.limit_in_bytes"] = str(2 * 2**30)
    files["/sys/fs/cgroup/memory.max"] = "max"
    assert system.memory() == 2 * 2**30


@pytest.fixture
def in_a_box(files, monkeypatch):
    """The memory files of a cgroup of version 2: 2 GiB, of which 1.5 are used, 0.25 by files."""
    monkeypatch.setattr(system, "available_memory", lambda: 64 * 2**30)
    files["/proc/self/cgroup"] = "0::/pod/box"
    files["/sys/fs/cgroup/pod/box/memory.max"] = str(2 * 2**30)
    files["/sys/fs/cgroup/pod/box/memory.current"] = str(3 * 2**29)
    files["/sys/fs/cgroup/pod/box/memory.stat"] = f"anon 7\ninactive_file {2**28}\nfile 3"
    return files


def test_what_a_cgroup_has_left_is_free_and_not_what_the_host_has(in_a_box):
    assert hardware.free_memory() == 2**29 + 2**28


# GPU presence

def test_no_driver_is_no_gpu_and_says_what_to_do(monkeypatch):
    plug_in(monkeypatch, None)
    assert hardware.gpu_count() == 0 and nvidia.gpu() is None
    assert "libcuda.so.1" in hardware.why_no_gpu() or "nvcuda.dll" in hardware.why_no_gpu()
    assert "install it" in hardware.why_no_gpu()


@pytest.mark.parametrize("driver", [FakeDriver(init=100), FakeDriver(count=0)])
def test_a_driver_without_a_gpu_says_so(monkeypatch, driver):
    plug_in(monkeypatch, driver)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert hardware.gpu_count() == 0 and nvidia.gpu() is None
    assert f"error {driver.init}" in hardware.why_no_gpu()
    assert "CUDA_VISIBLE_DEVICES, which is ''" in hardware.why_no_gpu()


def test_a_gpu_needs_no_excuse_and_is_described_without_nvml(monkeypatch):
    plug_in(monkeypatch, FakeDriver())
    assert hardware.gpu_count() == 1 and hardware.why_no_gpu() == ""
    assert nvidia.gpu() == {
        "name": "NVIDIA Test 100", "memory": 80 * 2**30, "compute_capability": "9.0",
        "multiprocessors": 132, "l2": 50 * 2**20, "driver": None,
    }


def test_the_compute_capability_is_the_drivers_and_none_without_a_gpu(monkeypatch):
    plug_in(monkeypatch, FakeDriver(_75=7, _76=5))
    assert hardware.compute_capability() == (7, 5)
    plug_in(monkeypatch, FakeDriver(count=0))
    assert hardware.compute_capability() is None


@pytest.mark.parametrize(("there", "extra"), [(True, "cu12"), (False, "cu13")])
def test_numbas_compiler_is_that_of_the_cuda_which_pytorch_brought(monkeypatch, there, extra):
    def version(name):
        if there and name == "nvidia-cuda-runtime-cu12":
            return "12.8.90"
        raise cuda_driver.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(cuda_driver.metadata, "version", version)
    assert hardware.cuda_package() == f"numba-cuda[{extra}]"


def test_nvml_adds_the_driver_s_version(monkeypatch):
    plug_in(monkeypatch, FakeDriver(), fake_nvml())
    assert nvidia.gpu()["driver"] == "580.10"


# Threads

def counts():
    import numba
    import torch
    from threadpoolctl import threadpool_info

    blas = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    return blas, numba.get_num_threads(), torch.get_num_threads()


def test_threads_sets_every_library_and_puts_it_back():
    before = counts()
    with hardware.threads(1):
        assert counts() == ({1}, 1, 1)
    assert counts() == before


# Ceilings: what is counted, and that it is done

@pytest.fixture
def one_second(monkeypatch):
    """Every pass runs once and takes one second, so that a rate is a count."""
    def best(call, *_, **__):
        call()
        return 1.0, 1.0

    monkeypatch.setattr(ceilings, "best", best)
    return best


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_copy_and_triad_count_as_stream_does_and_reach_every_element(one_second, threads):
    n = 1_000_003
    out, a, b = np.zeros(n, np.float32), np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    assert ceilings.streamed(np.copyto, [out, a], threads).each_second == 2 * 4 * n
    assert np.array_equal(out, a)
    assert ceilings.streamed(ceilings.triad, [out, a, b], threads).each_second == 3 * 4 * n
    assert np.array_equal(out, a + np.float32(3))
    assert ceilings.streamed(ceilings.read, [a], threads).each_second == 4 * n


def test_the_product_counts_a_multiply_and_an_add_per_step(one_second):
    assert ceilings.product(np.float32, n=64).each_second == 2 * 64**3


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when told to: clock(seconds)."""
    now = [0.0]
    monkeypatch.setattr(ceilings, "perf_counter", lambda: now[0])
    monkeypatch.setattr(timer, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def pass_by(seconds):
        now[0] += seconds
        return now[0]

    return pass_by


def test_a_ceiling_is_the_fastest_of_at_least_three_passes_after_a_warm_up(clock):
    passes = [0.5, 9.0, 3.0, 5.0]  # the first warms up, and does not count
    assert ceilings.best(lambda: clock(passes.pop(0)), budget=0)[0] == 3
    assert not passes


def test_the_cores_at_work_are_those_of_the_passes_alone(clock, monkeypatch):
    """Whatever comes before them, on one thread: here the first pass, of 9 seconds."""
    passes = [(9.0, 9.0), (1.0, 2.0), (1.0, 2.0), (1.0, 1.7)]  # seconds, and processor seconds
    worked = [0.0]
    monkeypatch.setattr(ceilings, "process_time", lambda: worked[0])

    def one():
        seconds, processor_seconds = passes.pop(0)
        worked[0] += processor_seconds
        clock(seconds)

    assert ceilings.best(one, budget=0) == pytest.approx((1.0, 5.7 / 3))


def test_the_thread_count_that_won_is_recorded(quick, monkeypatch):
    monkeypatch.setattr(pools, "cores", lambda: 2)
    slower_together = {1: Rate(5e9, 1), 2: Rate(1e9, 2)}
    monkeypatch.setattr(card, "host_ceilings", lambda _: {"host copy": slower_together.get})
    here = hardware.machine()
    assert here.ceilings["host copy"] == 5e9 and here.ceiling_threads["host copy"] == 1
    assert row(here, "host copy, measured") == "5 GB/s, 1 thread"


@pytest.mark.parametrize(
    "caches, free, nbytes",
    [
        ({"L2": 2**20, "L3": 2**25}, 2**36, 2**27),  # four times the last cache
        ({"L3": 480 * 2**20}, 2**36, 2**29),  # what a host of many shows is nobody's alone
        ({"L2": 2**26}, float("inf"), 2**28),  # the last there is
        ({}, 2**36, 2**28),
        ({"L3": 2**28}, 2**31, 2**28),  # never more than an eighth of the memory that is free
    ],
)
def test_what_is_copied_outgrows_the_cache_and_leaves_most_of_the_memory(
    caches, free, nbytes, monkeypatch
):
    monkeypatch.setattr(system, "caches", lambda: caches)
    monkeypatch.setattr(system, "free_memory", lambda: free)
    monkeypatch.setattr(card, "note", lambda: "")
    assert hardware.buffer_bytes() == nbytes
    monkeypatch.setattr(card, "note", lambda: "no time")
    assert hardware.buffer_bytes() == min(nbytes, 2**27)


def test_a_memory_s_bandwidth_is_the_best_of_its_streams(quick):
    rates = {"host read": 3e9, "host copy": 2e9, "gpu copy": 5e9, "gpu triad": 6e9}
    here = replace(hardware.machine(), ceilings=rates)
    assert [here.bandwidth(each) for each in ("host", "torch_cpu", "gpu")] == [3e9, 3e9, 6e9]
    assert replace(here, ceilings={}).bandwidth("host") is None


def test_the_ceilings_take_no_more_memory_than_they_were_given():
    one = np.ones(1, np.float32)
    ceilings.read(one), ceilings.triad(one, one, one)  # a compiler takes memory, too
    tracemalloc.start()
    try:
        measures = ceilings.host(2**24)
        for name in ("host read", "host copy", "host triad"):
            assert measures[name](2).each_second > 0
        held, most = tracemalloc.get_traced_memory()
        del measures
        assert tracemalloc.get_traced_memory()[0] < held - 2**23, "freed after use"
    finally:
        tracemalloc.stop()
    assert 2**24 <= most < 1.1 * 2**24


def test_a_gpu_is_rated_per_precision_and_torch_is_left_as_it_was(monkeypatch):
    import torch

    seen = []

    def best(call):
        call()
        seen.append(torch.get_float32_matmul_precision())
        return 1.0

    default = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")  # a learner's choice, which none of ours equals
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    rates = ceilings.torch_products(torch, "cpu", 32, best)
    assert rates == dict.fromkeys(("gpu float32", "gpu tf32", "gpu float16"), 2 * 32**3)
    assert seen == ["highest", "high", "highest"]
    assert torch.get_float32_matmul_precision() == "medium"
    torch.set_float32_matmul_precision(default)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    assert "gpu tf32" not in ceilings.torch_products(torch, "cpu", 32, best)
    assert ceilings.torch_memory(torch, "cpu", 1000, best) == {"gpu copy": 8e3, "gpu triad": 12e3}


def test_gpu_passes_are_timed_between_events_that_are_waited_for():
    """A pass takes what lies between its events in the queue, once the queue has got there."""
    queue = SimpleNamespace(end=0.0, done=0.0)

    class Event:
        def record(self):
            self.at = queue.end

        def synchronize(self):
            queue.done = max(queue.done, self.at)

        def elapsed_time(self, stop):
            assert queue.done >= stop.at, "read before the work was done"
            return stop.at - self.at

    def call():
        queue.end += passes.pop(0)

    passes = [1, 9, 2, 5]  # milliseconds; the first warms up
    assert ceilings.best_on_gpu(Event, call, budget=0) == 0.002
    assert not passes


# Lightness

def test_importing_hardware_imports_nothing_heavy():
    code = (
        "import sys, gpulessons.hardware, gpulessons.units; "
        "print([m for m in ('numba', 'torch', 'psutil', 'cpuinfo', 'pynvml', "
        "'threadpoolctl', 'matplotlib', 'ipywidgets') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
