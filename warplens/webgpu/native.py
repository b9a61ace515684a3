"""All of wgpu-py that is used here: an adapter, buffers, pipelines, submissions, time stamps."""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import Any

import numpy as np

from .values import Refused

KINDS = ["DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU"]  # the best first
BATCH = 64  # launches of one submission
SOON = 65_535  # turns after which Mesa's software driver ends a thread's loops, unasked


class Native:
    """One GPU. Work is encoded in order, and submitted when somebody waits, or there is much.

    Raises ImportError without wgpu and RuntimeError without an adapter. OpenGL's are none: they
    lack much of WebGPU. WARPLENS_ADAPTER chooses one by a part of its name.
    """

    def __init__(self) -> None:
        import wgpu

        self.wgpu = wgpu
        wanted = os.environ.get("WARPLENS_ADAPTER", "").lower()
        there = [a for a in wgpu.gpu.enumerate_adapters_sync() if usable(a, wanted)]
        if not there:
            raise RuntimeError("no GPU that WebGPU reaches: it takes Vulkan, Metal or DirectX 12")
        self.adapter = min(there, key=lambda a: rank(a.info["adapter_type"]))
        self.name = self.adapter.info["device"] or self.adapter.info["description"]
        self.software = self.adapter.info["adapter_type"] == "CPU"
        features = {"timestamp-query"} & set(self.adapter.features)
        prefixes = ("max-storage-buffer", "max-buffer", "max-compute")
        limits = {k: v for k, v in self.adapter.limits.items() if k.startswith(prefixes)}
        self.device = self.adapter.request_device_sync(
            required_features=sorted(features), required_limits=limits
        )
        self.limits = self.device.limits
        self.stamping = bool(features)
        self.encoder: Any = None
        self.encoded = 0

    @property
    def threads(self) -> int:
        """The threads that a workgroup may have."""
        sizes = self.limits["max-compute-workgroup-size-x"]
        return min(sizes, self.limits["max-compute-invocations-per-workgroup"])

    @property
    def buffers(self) -> int:
        return self.limits["max-storage-buffers-per-shader-stage"]

    @property
    def shared(self) -> int:
        return self.limits["max-compute-workgroup-storage-size"]

    def buffer(self, nbytes: int) -> Any:
        most = min(self.limits["max-buffer-size"], self.limits["max-storage-buffer-binding-size"])
        if nbytes > most:
            raise Refused(f"an array of {nbytes:,} bytes, where this GPU takes {most:,}")
        usage = self.wgpu.BufferUsage
        usage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        return self.device.create_buffer(size=max(4, nbytes), usage=usage)

    def parameters(self, data: bytes) -> Any:
        return self.device.create_buffer_with_data(data=data, usage=self.wgpu.BufferUsage.UNIFORM)

    def write(self, buffer: Any, data: np.ndarray) -> None:
        self.flush()
        self.device.queue.write_buffer(buffer, 0, np.ascontiguousarray(data))

    def read(self, buffer: Any) -> Any:
        self.flush()
        return self.device.queue.read_buffer(buffer)

    def pipeline(self, text: str, arrays: int) -> Any:
        """(the pipeline, the layout of its bindings): the parameters, and so many arrays."""
        kinds = [
            self.wgpu.BufferBindingType.uniform,
            *[self.wgpu.BufferBindingType.storage] * arrays,
        ]
        compute = self.wgpu.ShaderStage.COMPUTE
        entries = [
            {"binding": n, "visibility": compute, "buffer": {"type": kind}}
            for n, kind in enumerate(kinds)
        ]
        try:
            module = self.device.create_shader_module(code=text)
            layout = self.device.create_bind_group_layout(entries=entries)
            whole = self.device.create_pipeline_layout(bind_group_layouts=[layout])
            stage = {"module": module, "entry_point": "main"}
            return self.device.create_compute_pipeline(layout=whole, compute=stage), layout
        except self.wgpu.GPUError as trouble:
            raise Refused(f"this GPU's compiler says: {str(trouble).strip()}") from None

    def dispatch(self, pipeline: Any, buffers: list, groups: int) -> None:
        entries = [
            {"binding": n, "resource": {"buffer": b, "offset": 0, "size": b.size}}
            for n, b in enumerate(buffers)
        ]
        group = self.device.create_bind_group(layout=pipeline[1], entries=entries)
        self.pass_of(pipeline[0], group, min(groups, 65_535), -(-groups // 65_535))

    def pass_of(self, pipeline: Any, group: Any, x: int, y: int, stamps: Any = None) -> None:
        if self.encoder is None:
            self.encoder = self.device.create_command_encoder()
        work = self.encoder.begin_compute_pass(timestamp_writes=stamps)
        work.set_pipeline(pipeline)
        if group is not None:
            work.set_bind_group(0, group)
        work.dispatch_workgroups(x, y)
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
        self.write(word, np.zeros(1, np.uint32))
        return word

    def wait(self) -> int:
        """Until all is done; back comes the word of faults, which is 0 again."""
        said = int(np.frombuffer(self.read(self.faults), np.uint32)[0])
        if said:
            self.write(self.faults, np.zeros(1, np.uint32))
        return said

    # Time

    @cached_property
    def nothing(self) -> Any:
        """A kernel that does nothing: on Metal an empty pass leaves no stamp."""
        module = self.device.create_shader_module(code="@compute @workgroup_size(1) fn main() {}")
        stage = {"module": module, "entry_point": "main"}
        return self.device.create_compute_pipeline(layout="auto", compute=stage)

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
    def period(self) -> float:
        """Nanoseconds of a tick, which wgpu-native tells and wgpu-py does not."""
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
            marks = [Stamp(self) for _ in range(3)]
            ticks = [mark.ticks for mark in marks]
            took = time.perf_counter_ns() - began
            return 0 < ticks[0] < ticks[1] < ticks[2] and (
                0 < (ticks[2] - ticks[0]) * self.period <= 1.1 * took
            )
        except Exception:  # whatever a driver may say to it
            return False

    @cached_property
    def most_turns(self) -> int:
        """How many turns a thread's loops may take, where a driver ends them; else 0."""
        if not self.software:
            return 0
        out = self.buffer(4)
        code = (
            "@group(0) @binding(0) var<uniform> P: vec4<u32>;\n"
            "@group(0) @binding(1) var<storage, read_write> o: array<u32>;\n"
            "@compute @workgroup_size(1) fn main() { let n = 70000u + P.x; var c = 0u; "
            "loop { if (c >= n) { break; } c += 1u; } o[0] = c; }"
        )
        self.write(out, np.zeros(1, np.uint32))
        self.dispatch(self.pipeline(code, 1), [self.parameters(bytes(16)), out], 1)
        counted = int(np.frombuffer(self.read(out), np.uint32)[0])
        return 0 if counted == 70_000 else SOON - 100


class Stamp:
    """A pass that does nothing, and the GPU's clock at its end."""

    def __init__(self, gpu: Native) -> None:
        self.gpu = gpu
        self.queries = gpu.device.create_query_set(type="timestamp", count=2)
        writes = {
            "query_set": self.queries,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }
        gpu.pass_of(gpu.nothing, None, 1, 1, writes)

    @cached_property
    def ticks(self) -> int:
        """Asked for in a submission of its own, after the work is done: in the same one, some
        drivers answer 0."""
        gpu, usage = self.gpu, self.gpu.wgpu.BufferUsage
        gpu.flush()
        gpu.read(gpu.faults)
        flags = usage.QUERY_RESOLVE | usage.COPY_SRC
        room = gpu.device.create_buffer(size=16, usage=flags)
        asking = gpu.device.create_command_encoder()
        asking.resolve_query_set(self.queries, 0, 2, room, 0)
        gpu.device.queue.submit([asking.finish()])
        return int(np.frombuffer(gpu.device.queue.read_buffer(room), np.uint64)[1])


def usable(adapter: Any, wanted: str) -> bool:
    info = adapter.info
    return info["backend_type"] != "OpenGL" and wanted in info["device"].lower()


def rank(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else KINDS.index("Unknown")
