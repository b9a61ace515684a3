"""The card always comes, says "unknown" for what a system hides, and its ceilings are honest."""

import ctypes
import json
import os
import platform
import subprocess
import sys
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
    system,
    timer,
)
from gpulessons.hardware.ceilings import Rate

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
    monkeypatch.setattr(ceilings, "host", lambda nbytes: measures)
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

def test_a_real_card_has_every_host_ceiling_and_is_made_once(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.02")
    card.this_machine.clear()
    here = hardware.machine()
    assert hardware.machine() is here
    assert set(card.HOST_CEILINGS) <= set(here.ceilings)
    assert all(np.isfinite(rate) and rate > 1e6 for rate in here.ceilings.values())
    assert set(here.ceiling_threads.values()) <= set(hardware.thread_choices())
    card.this_machine.clear()


def test_a_card_survives_json_exactly(quick, monkeypatch):
    plug_in(monkeypatch, FakeDriver(), fake_nvml())
    monkeypatch.setattr(ceilings, "gpu", lambda: {"gpu copy": 3e12})
    here = hardware.machine()
    assert here.gpu and Machine.from_json(here.to_json()) == here


def test_another_json_is_refused_in_a_sentence():
    for text in ('{"cpu": "x"}', "[]", "[{}]", "3", "torn {"):
        with pytest.raises(ValueError, match="not a machine of this version"):
            Machine.from_json(text)


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
    monkeypatch.setattr(system, "caches", lambda: {"L3": 2**25})  # wherever this is

    def measures(nbytes):
        done.append(nbytes)
        return dict.fromkeys(card.HOST_CEILINGS, lambda n: Rate(1e9 * n + len(done), n))

    monkeypatch.setattr(ceilings, "host", measures)
    return done


def next_start(again=False):
    """The card of the process that starts next."""
    card.this_machine.clear()
    return hardware.machine(again)


def test_ceilings_are_measured_once_and_kept_with_their_date(whole, file):
    first = hardware.machine()
    (entry,) = json.loads(file.read_text())
    entry["when"] = "2026-01-02T03:04:05+00:00"
    file.write_text(json.dumps([entry]))
    second = next_start()
    assert len(whole) == 1
    assert second.ceilings == first.ceilings and second.ceiling_threads == first.ceiling_threads
    assert row(first, "ceilings") == f"measured {first.date[:16].replace('T', ' ')}, with this card"
    assert row(second, "ceilings") == (
        "measured 2026-01-02 03:04, and kept; machine(again=True) measures again"
    )


def test_another_machine_or_library_has_ceilings_of_its_own(whole, file, monkeypatch):
    first = hardware.machine()
    for room, name, other in (
        (system, "cpu_name", lambda: "Another CPU"), (system, "cores", lambda: 77),
        (nvidia, "gpu", lambda: {"name": "A GPU"}), (system, "libraries", lambda: {"numpy": "9"}),
    ):  # fmt: skip
        with monkeypatch.context() as changed:
            changed.setattr(room, name, other)
            assert next_start().ceilings != first.ceilings, name
    assert next_start().ceilings == first.ceilings, "all are kept"
    assert len(whole) == 5


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


def test_threads_that_had_to_share_their_cores_rate_nothing_for_long(whole, file, monkeypatch):
    shared = dict.fromkeys(card.HOST_CEILINGS, lambda threads: Rate(1e9 * threads, 0.7 * threads))
    monkeypatch.setattr(ceilings, "host", lambda nbytes: shared)
    here = hardware.machine()
    assert "something disturbed host float32, host float64" in here.note
    assert "host float32, host float64" in here.disturbed
    calm = dict.fromkeys(card.HOST_CEILINGS, lambda threads: Rate(2e9 * threads, threads))
    monkeypatch.setattr(ceilings, "host", lambda nbytes: calm)
    assert next_start().ceilings == here.ceilings, "for an hour nobody measures again"
    entries = json.loads(file.read_text())
    entries[0]["when"] = "2026-01-02T03:04:05+00:00"
    file.write_text(json.dumps(entries))
    later = next_start()
    assert later.ceilings != here.ceilings and not later.disturbed
    monkeypatch.setattr(ceilings, "host", lambda nbytes: shared)
    assert next_start(again=True).disturbed
    assert next_start().ceilings == later.ceilings, "the better ones stay"


def test_ctrl_c_leaves_a_card_with_what_was_measured(whole, file, monkeypatch):
    def stops(threads):
        raise KeyboardInterrupt

    measures = {"host float32": lambda threads: Rate(1e9, threads), "host copy": stops}
    with monkeypatch.context() as busy:
        busy.setattr(ceilings, "host", lambda nbytes: measures)
        here = hardware.machine()
        assert here.interrupted and list(here.ceilings) == ["host float32"]
        assert not file.exists()
        stopped = compare(relu, 8, "NumPy", recorded=(), modelled=())
        assert stopped.interrupted and not stopped.entries
    assert not hardware.machine().interrupted and len(hardware.machine().ceilings) == 5


def test_a_damaged_file_costs_a_sentence_and_a_measurement(whole, file):
    file.parent.mkdir()
    for damaged in (
        b"torn [", b"\xff\xfe", b"3", b'["x"]', b'[{"of": {}, "when": null, "found": {}}]'
    ):
        file.write_bytes(damaged)
        with pytest.warns(UserWarning, match="cannot be read from .*machine.json.* measured again"):
            first = next_start()
        assert next_start().ceilings == first.ceilings
    assert len(whole) == 5


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


def test_a_ceiling_that_fails_is_unknown_and_the_reason_is_told(quick, monkeypatch):
    def broken(threads):
        raise MemoryError("no room for arrays")

    monkeypatch.setattr(
        ceilings, "host", lambda _: {"host copy": broken, "host triad": lambda n: Rate(2e9, n)}
    )
    with pytest.warns(UserWarning, match="no room for arrays"):
        here = hardware.machine()
    assert here.ceilings == {"host triad": 2e9}
    assert row(here, "host copy, measured") == "unknown"
    assert row(here, "host triad, measured").startswith("2 GB/s")


# Cores

def test_a_cgroup_v2_quota_limits_the_cores(files, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    files["/proc/self/cgroup"] = "0::/pod/box"
    for limit, cores in (("250000 100000", 2), ("50000 100000", 1), ("max 100000", 8), ("", 8)):
        files["/sys/fs/cgroup/pod/box/cpu.max"] = limit
        assert hardware.cores() == cores


# Processor, caches, memory


def test_caches_come_from_sysfs_and_instructions_are_left_out(files):
    entries = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K"),
               ("3", "Unified", "32768K")]
    for index, values in enumerate(entries):
        for name, value in zip(("level", "type", "size"), values, strict=True):
            files[f"{CACHE}/index{index}/{name}"] = value
    assert system.caches() == {"L1d": 48 * 2**10, "L2": 2**21, "L3": 2**25}


def test_what_a_cgroup_has_left_is_free_and_not_what_the_host_has(files, monkeypatch):
    """2 GiB, of which 1.5 are used, 0.25 by files."""
    monkeypatch.setattr(system, "of_memory", lambda what: 64 * 2**30)
    files["/proc/self/cgroup"] = "0::/pod/box"
    files["/sys/fs/cgroup/pod/box/memory.max"] = str(2 * 2**30)
    files["/sys/fs/cgroup/pod/box/memory.current"] = str(3 * 2**29)
    files["/sys/fs/cgroup/pod/box/memory.stat"] = f"anon 7\ninactive_file {2**28}\nfile 3"
    assert hardware.free_memory() == 2**29 + 2**28


# GPU presence

def test_no_driver_is_no_gpu_and_says_what_to_do(monkeypatch):
    plug_in(monkeypatch, None)
    assert hardware.gpu_count() == 0 and nvidia.gpu() is None
    assert "libcuda.so.1" in hardware.why_no_gpu() or "nvcuda.dll" in hardware.why_no_gpu()
    assert "install it" in hardware.why_no_gpu()


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


def test_copy_and_triad_count_as_stream_does_and_reach_every_element(one_second):
    n, threads = 1_000_003, 3
    out, a, b = np.zeros(n, np.float32), np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    assert ceilings.streamed(np.copyto, [out, a], threads).each_second == 2 * 4 * n
    assert np.array_equal(out, a)
    assert ceilings.streamed(ceilings.triad, [out, a, b], threads).each_second == 3 * 4 * n
    assert np.array_equal(out, a + np.float32(3))
    assert ceilings.streamed(ceilings.read, [a], threads).each_second == 4 * n


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


def test_what_is_copied_outgrows_the_cache_and_leaves_most_of_the_memory():
    for caches, free, nbytes in (
        ({"L2": 2**20, "L3": 2**25}, 2**36, 2**27),  # four times the last cache
        ({"L3": 480 * 2**20}, 2**36, 2**29),  # what a host of many shows is nobody's alone
        ({}, 2**36, 2**28),
        ({"L3": 2**28}, 2**31, 2**28),  # never more than an eighth of the memory that is free
    ):
        assert card.beyond(caches, free) == nbytes


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

def test_who_imports_the_course_has_the_process_as_it_was():
    code = (
        "import os, sys; before = list(sys.meta_path), dict(os.environ); "
        "import gpulessons; assert (sys.meta_path, dict(os.environ)) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_hardware_imports_nothing_heavy():
    code = (
        "import sys, gpulessons.hardware, gpulessons.units; "
        "print([m for m in ('numba', 'torch', 'psutil', 'cpuinfo', 'pynvml', "
        "'threadpoolctl', 'matplotlib', 'ipywidgets') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
