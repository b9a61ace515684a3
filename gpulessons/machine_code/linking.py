"""PTX becomes machine code: one link by nvJitLink gives the code and the assembler's log."""

Capability = tuple[int, int]
INSTALL = "This needs NVIDIA's compiler, but no GPU: pip install 'numba-cuda[cu13]'."


class CannotCompile(RuntimeError):
    """No compiler here, or the kernel is one that it refuses; the text says which."""


def linked(ptx: str, capability: Capability) -> tuple[bytes, str]:
    """(the machine code as a cubin file's bytes, what the assembler said while it made it)."""
    try:
        from cuda.bindings import nvjitlink
    except ImportError as missing:
        raise CannotCompile(INSTALL) from missing
    options = [f"-arch=sm_{capability[0]}{capability[1]}", "-lineinfo", "-Xptxas=-v"]
    handle = nvjitlink.create(len(options), options)
    try:
        text = ptx.encode()
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text, len(text), "kernel")
        nvjitlink.complete(handle)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
    except nvjitlink.nvJitLinkError as trouble:
        raise CannotCompile(f"NVIDIA's assembler refuses this kernel: {trouble}") from trouble
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin), log.decode()
