"""All of wgpu-py that is used here: an adapter, buffers, pipelines, submissions, time stamps."""

from __future__ import annotations

import os
import sys
import time
from functools import cached_property
from typing import Any

from .values import Refused

BATCH = 64  # launches of one submission
SOON = 65_535  # turns after which Mesa's software driver ends a thread's loops, unasked
NOTHING = "@compute @workgroup_size(1) fn main() {}"


def binding() -> Any:
    """wgpu-py, or in a browser what stands for it. ImportError without either."""
    if sys.platform == "emscripten":
        from . import browser

        return browser
    import wgpu

    return wgpu


class Native:
    """One GPU. Work is encoded in order, and submitted when somebody waits, or there is much.

    Raises ImportError without wgpu and RuntimeError without an adapter. OpenGL's are none: they
    lack much of WebGPU. WARPLENS_ADAPTER chooses one by a part of its name.
    """

    def __init__(self) -> None:
        self.wgpu, wanted = binding(), os.environ.get("WARPLENS_ADAPTER", "").lower()
        there = [each for each in self.wgpu.gpu.enumerate_adapters_sync() if wanted in
                 each.info["device"].lower() and each.info["backend_type"] != "OpenGL"]  # fmt: skip
        if not there:
            raise RuntimeError("no GPU that WebGPU reaches: it takes Vulkan, Metal or DirectX 12")
        kinds = {"DiscreteGPU": 0, "CPU": 2}  # the first is the best
        adapter = min(there, key=lambda each: kinds.get(each.info["adapter_type"], 1))
        self.name = adapter.info["device"] or adapter.info["description"]
        self.software = adapter.info["adapter_type"] == "CPU"
        features = {"timestamp-query"} & set(adapter.features)
        prefixes = ("max-storage-buffer", "max-buffer", "max-compute")
        limits = {k: v for k, v in adapter.limits.items() if k.startswith(prefixes)}
        self.device = adapter.request_device_sync(
            required_features=sorted(features), required_limits=limits
        )
        self.limits = limits = self.device.limits
        self.stamping = bool(features)
        self.threads = min(limits["max-compute-workgroup-size-x"],
                           limits["max-compute-invocations-per-workgroup"])  # fmt: skip
        self.buffers = limits["max-storage-buffers-per-shader-stage"]
        self.shared = limits["max-compute-workgroup-storage-size"]
        self.encoder: Any = None
        self.encoded = 0

    def buffer(self, nbytes: int) -> Any:
        most = min(self.limits["max-buffer-size"], self.limits["max-storage-buffer-binding-size"])
        if nbytes > most:
            raise Refused(f"an array of {nbytes:,} bytes, where this GPU takes {most:,}")
        usage = self.wgpu.BufferUsage
        usage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        return self.device.create_buffer(size=max(4, nbytes), usage=usage)

    def parameters(self, data: bytes) -> Any:
        """Their buffer, whose size is a multiple of 16 bytes."""
        data += b"\0" * (-len(data) % 16)
        return self.device.create_buffer_with_data(data=data, usage=self.wgpu.BufferUsage.UNIFORM)

    def write(self, buffer: Any, data: Any) -> None:
        """data: bytes, or an array that lies in one piece."""
        self.flush()
        self.device.queue.write_buffer(buffer, 0, data)

    def read(self, buffer: Any) -> Any:
        self.flush()
        return self.device.queue.read_buffer(buffer)

    def pipeline(self, text: str) -> Any:
        try:
            stage = {"module": self.device.create_shader_module(code=text), "entry_point": "main"}
            return self.device.create_compute_pipeline(layout="auto", compute=stage)
        except self.wgpu.GPUError as trouble:
            raise Refused(f"this GPU's compiler says: {str(trouble).strip()}") from None

    def dispatch(self, pipeline: Any, buffers: list, groups: int = 1, stamps: Any = None) -> None:
        """Run it by so many groups; WebGPU takes no more than 65,535 along an axis."""
        if self.encoder is None:
            self.encoder = self.device.create_command_encoder()
        work = self.encoder.begin_compute_pass(timestamp_writes=stamps)
        work.set_pipeline(pipeline)
        if buffers:
            layout = pipeline.get_bind_group_layout(0)
            entries = [{"binding": n, "resource": {"buffer": b}} for n, b in enumerate(buffers)]
            group = self.device.create_bind_group(layout=layout, entries=entries)
            work.set_bind_group(0, group)
        work.dispatch_workgroups(min(groups, 65_535), -(-groups // 65_535))
        work.end()
        self.encoded += 1
        if self.encoded >= BATCH:
            self.flush()

    def flush(self) -> None:
        if self.encoder is not None:
            encoder, self.encoder, self.encoded = self.encoder, None, 0
            self.device.queue.submit([encoder.finish()])

    @cached_property
    def faults(self) -> Any:
        """The word in which a kernel says what it found out about itself."""
        word = self.buffer(4)
        self.write(word, bytes(4))
        return word

    def wait(self) -> int:
        """Until all is done; back comes the word of faults, which is 0 again."""
        said = number(self.read(self.faults))
        if said:
            self.write(self.faults, bytes(4))
        return said

    @property
    def most_turns(self) -> int:
        """How many turns a thread's loops may take where a driver may end them; else 0."""
        return SOON - 100 if self.software else 0

    # Time

    def mark(self) -> Stamp | int:
        """A moment in the stream of work: a stamp of the GPU's, else the caller's clock."""
        if self.clock_of_its_own:
            return Stamp(self)
        self.wait()
        return time.perf_counter_ns()

    def seconds(self, start: Stamp | int, stop: Stamp | int) -> float:
        if isinstance(start, Stamp) and isinstance(stop, Stamp):
            return (stop.ticks - start.ticks) * self.period * 1e-9
        assert isinstance(start, int) and isinstance(stop, int)
        return (stop - start) * 1e-9

    @cached_property
    def nothing(self) -> Any:
        """A kernel that does nothing: on Metal an empty pass leaves no stamp."""
        return self.pipeline(NOTHING)

    @cached_property
    def period(self) -> float:
        """Nanoseconds of a tick, which wgpu-native tells and wgpu-py does not."""
        if hasattr(self.wgpu, "TICK"):
            return self.wgpu.TICK
        from wgpu.backends import wgpu_native

        return float(wgpu_native.lib.wgpuQueueGetTimestampPeriod(self.device.queue._internal))

    @cached_property
    def clock_of_its_own(self) -> bool:
        """Are stamps there, rising, and do they agree with the caller's clock? On some systems all
        are 0, without an error. A known stretch of work has to take a time that can be."""
        if not self.stamping:
            return False
        try:
            began = time.perf_counter_ns()
            a, b, c = (mark.ticks for mark in [Stamp(self) for _ in range(3)])
            took = time.perf_counter_ns() - began
            return 0 < a < b < c and 0 < (c - a) * self.period <= 1.1 * took
        except Exception:  # whatever a driver may say to it
            return False


class Stamp:
    """A pass that does nothing, and the GPU's clock at its end."""

    def __init__(self, gpu: Native) -> None:
        self.gpu = gpu
        self.queries = gpu.device.create_query_set(type="timestamp", count=2)
        writes = {"query_set": self.queries, "beginning_of_pass_write_index": 0,
                  "end_of_pass_write_index": 1}  # fmt: skip
        gpu.dispatch(gpu.nothing, [], stamps=writes)

    @cached_property
    def ticks(self) -> int:
        """Asked for in a submission of its own, after the work is done: in the same one, some
        drivers answer 0."""
        gpu, usage = self.gpu, self.gpu.wgpu.BufferUsage
        gpu.read(gpu.faults)
        room = gpu.device.create_buffer(size=16, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        asking = gpu.device.create_command_encoder()
        asking.resolve_query_set(self.queries, 0, 2, room, 0)
        gpu.device.queue.submit([asking.finish()])
        return number(gpu.device.queue.read_buffer(room)[8:16])


def number(data: Any) -> int:
    """What bytes say, the lowest first."""
    return int.from_bytes(data, "little")
