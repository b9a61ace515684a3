"""PTX becomes machine code: one link by nvJitLink gives the code and the assembler's log."""

import re
from collections.abc import Sequence
from typing import Any

from .driver import cuda_package

Capability = tuple[int, int]
INSTALL = f"This needs NVIDIA's compiler, but no GPU: pip install '{cuda_package()}'."


class CannotCompile(RuntimeError):
    """No compiler here, or the kernel is one that it refuses; the text says which."""


def linked(ptx: str | Sequence[str | bytes], capability: Capability) -> tuple[bytes, str]:
    """(the machine code as a cubin file's bytes, what the assembler said while it made it).

    Of several codes the first has the kernel, the others functions that it calls: PTX as text,
    LTO-IR, NVIDIA's form between C++ and PTX, as bytes.
    """
    try:
        from cuda.bindings import nvjitlink
    except ImportError as missing:
        raise CannotCompile(INSTALL) from missing
    codes = [ptx] if isinstance(ptx, str) else list(ptx)
    options = [f"-arch=sm_{capability[0]}{capability[1]}", "-lineinfo", "-Xptxas=-v"]
    options += ["-lto"] * any(isinstance(code, bytes) for code in codes)
    try:
        handle = nvjitlink.create(len(options), options)
    except nvjitlink.nvJitLinkError as trouble:
        name = ".".join(map(str, capability))
        raise CannotCompile(f"NVIDIA's assembler knows no compute capability {name}.") from trouble
    try:
        for code in codes:
            form = nvjitlink.InputType.PTX if isinstance(code, str) else nvjitlink.InputType.LTOIR
            code = code.encode() if isinstance(code, str) else code
            nvjitlink.add_data(handle, form, code, len(code), "kernel")
        nvjitlink.complete(handle)
        log = log_of(nvjitlink.get_info_log_size, nvjitlink.get_info_log, handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    except nvjitlink.nvJitLinkError as trouble:
        why = log_of(nvjitlink.get_error_log_size, nvjitlink.get_error_log, handle)
        raise CannotCompile(
            f"NVIDIA's assembler refuses this kernel: {first_complaint(why) or trouble}"
        ) from trouble
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin), log


def log_of(size: Any, log: Any, handle: int) -> str:
    text = bytearray(size(handle))
    log(handle, text)
    return text.decode(errors="replace").rstrip("\0")


def first_complaint(log: str) -> str:
    """The first error in an assembler's log, with its own names and numbers made readable."""
    found = re.search(r"^.*?\berror\b[\s:]*(.+)$", log, re.MULTILINE | re.IGNORECASE)
    text = re.sub(r"(Entry function )?'_Z\w+'", "it", found[1].strip() if found else "")
    return re.sub(r"\b0x[0-9a-f]+", lambda number: f"{int(number[0], 16):,}", text)
