"""CUDA C++ to machine code, with NVIDIA's run-time compiler (NVRTC): no GPU, no nvcc."""

from functools import cache
from typing import Any

from warplens.code.cuda import complaint
from warplens.code.linking import INSTALL, CannotCompile

NO_ERROR = 0
SHOWN = 3  # lines of a compiler's complaint


@cache
def compiled(
    text: str,
    where: tuple[str, int],
    constants: tuple[tuple[str, int | str], ...],
    capability: tuple[int, int],
) -> bytes:
    """A cubin with line numbers; kept for as long as the process lives.

    where: the file and line that the text's first line is to be known by. constants: names in the
    text and what stands for them. Raises CannotCompile with the compiler's first lines.
    """
    path, line = where
    major, minor = capability
    defined = "".join(f"#define {name} {value}\n" for name, value in constants)
    code = f'{defined}#line {line} "{path}"\n{text}'
    return cubin_of(code, path, [f"-arch=sm_{major}{minor}", "-lineinfo"])


def cubin_of(code: str, path: str, options: list[str]) -> bytes:
    """What the compiler makes of a whole text; CannotCompile where it refuses."""
    nvrtc = library()
    error, program = nvrtc.nvrtcCreateProgram(code.encode(), path.encode(), 0, [], [])
    if error != NO_ERROR:
        raise CannotCompile(f"NVIDIA's compiler did not start: {error}.")
    try:
        encoded = [option.encode() for option in options]
        (error,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        if error != NO_ERROR:
            raise CannotCompile(trouble(nvrtc, program) or str(error))
        cubin = bytearray(nvrtc.nvrtcGetCUBINSize(program)[1])
        nvrtc.nvrtcGetCUBIN(program, cubin)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return bytes(cubin)


def library() -> Any:
    """cuda.bindings' door to the compiler. CannotCompile where one or the other is missing."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as missing:  # a missing library says so at the first call, in its own way
        raise CannotCompile(f"{INSTALL} ({complaint(missing)})") from missing
    return nvrtc


def trouble(nvrtc: Any, program: Any) -> str:
    """What the compiler says first, on one line."""
    log = bytearray(nvrtc.nvrtcGetProgramLogSize(program)[1])
    nvrtc.nvrtcGetProgramLog(program, log)
    lines = [line.strip() for line in log.decode().strip("\0").splitlines() if line.strip()]
    return " | ".join(lines[:SHOWN])
