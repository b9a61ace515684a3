"""A browser's WebGPU under wgpu-py's names, the only ones that `native` knows: Python in a page.

JavaScript's methods are the same in camelCase, with one dictionary for keyword arguments. What they
promise Pyodide's `run_sync` waits for, where the browser can switch stacks (JSPI).
"""

from __future__ import annotations

import re
from typing import Any

import js
from pyodide.ffi import JsException, JsProxy, can_run_sync, run_sync, to_js

READ = 1  # GPUMapMode
TICK = 1.0  # nanoseconds: stamps are in these


class GPUError(Exception):
    """What a browser's compiler refuses."""


class BufferUsage:
    COPY_SRC, COPY_DST, UNIFORM, STORAGE, QUERY_RESOLVE = 4, 8, 64, 128, 512


def camel(name: str) -> str:
    return re.sub(r"[-_](\w)", lambda letter: letter[1].upper(), name)


def plain(value: Any) -> Any:
    """A value as JavaScript takes it."""
    if isinstance(value, Thing):
        return value.js
    if isinstance(value, dict):
        return {camel(name): plain(each) for name, each in value.items() if each is not None}
    return [plain(each) for each in value] if isinstance(value, list) else value


def given(value: Any) -> Any:
    return to_js(plain(value), dict_converter=js.Object.fromEntries)


class Thing:
    """One of WebGPU's objects."""

    def __init__(self, js_object: Any) -> None:
        self.js = js_object

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.js, camel(name))
        if not callable(found):
            return Thing(found) if isinstance(found, JsProxy) else found

        def method(*positional: Any, **options: Any) -> Any:
            result = found(*map(given, positional), *([given(options)] if options else []))
            return Thing(result) if isinstance(result, JsProxy) else result

        return method


class Adapter(Thing):
    def __init__(self, js_object: Any) -> None:
        super().__init__(js_object)
        about = js_object.info
        name = about.description or f"{about.vendor} {about.architecture}".strip() or "a GPU"
        software = getattr(about, "isFallbackAdapter", False)
        self.info = {"device": name, "description": name, "backend_type": "WebGPU",
                     "adapter_type": "CPU" if software else "Unknown"}  # fmt: skip
        self.features = set(js_object.features)
        self.limits = limits_of(js_object)

    def request_device_sync(self, **wishes: Any) -> Device:
        return Device(run_sync(self.js.requestDevice(given(wishes))))


def limits_of(js_object: Any) -> dict[str, int]:
    """{"max-buffer-size": …}, as wgpu-py spells them."""
    limits = js_object.limits
    named = js.Object.getOwnPropertyDescriptors(js.Object.getPrototypeOf(limits))
    names = [name for name in js.Object.keys(named) if name != "constructor"]
    return {re.sub("([A-Z])", r"-\1", name).lower(): int(getattr(limits, name)) for name in names}


class Device(Thing):
    def __init__(self, js_object: Any) -> None:
        super().__init__(js_object)
        self.limits, self.queue = limits_of(js_object), Queue(js_object)

    def create_buffer_with_data(self, *, data: bytes, usage: int) -> Thing:
        made = self.create_buffer(size=len(data), usage=usage | BufferUsage.COPY_DST)
        self.queue.write_buffer(made, 0, data)
        return made

    def create_shader_module(self, code: str) -> Thing:
        made = self.js.createShaderModule(given({"code": code}))
        for said in run_sync(made.getCompilationInfo()).messages:
            if said.type == "error":
                raise GPUError(f"{said.message} (line {said.lineNum})")
        return Thing(made)

    def create_compute_pipeline(self, **parts: Any) -> Thing:
        try:
            return Thing(run_sync(self.js.createComputePipelineAsync(given(parts))))
        except JsException as trouble:
            raise GPUError(str(trouble)) from None


class Queue(Thing):
    def __init__(self, device: Any) -> None:
        super().__init__(device.queue)
        self.device = device

    def write_buffer(self, buffer: Thing, start: int, data: Any) -> None:
        self.js.writeBuffer(buffer.js, start, to_js(memoryview(data).cast("B")))

    def read_buffer(self, buffer: Thing) -> bytes:
        """Its bytes, once all that was submitted is done."""
        size = buffer.js.size
        usage = READ | BufferUsage.COPY_DST
        there = self.device.createBuffer(given({"size": size, "usage": usage}))
        copying = self.device.createCommandEncoder()
        copying.copyBufferToBuffer(buffer.js, 0, there, 0, size)
        self.js.submit(given([Thing(copying.finish())]))
        run_sync(there.mapAsync(READ))
        found = there.getMappedRange().to_bytes()
        there.destroy()
        return found


class gpu:
    @staticmethod
    def enumerate_adapters_sync() -> list[Adapter]:
        """The one that a page is given, if any."""
        there = getattr(js.navigator, "gpu", None)
        if there is None:
            return []
        if not can_run_sync():
            raise RuntimeError("this browser cannot wait for its GPU inside Python (JSPI)")
        found = run_sync(there.requestAdapter(given({"power_preference": "high-performance"})))
        return [Adapter(found)] if found else []

