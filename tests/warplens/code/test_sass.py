"""Machine code, read: every CUDA kernel of some ops, for six generations of GPU; single lines."""

import numpy as np
import pytest
from numba import cuda, typeof

import gpulessons
from gpulessons import gpu
from warplens.code import pipes, sass
from warplens.code.cuda import pretended
from warplens.code.mix import hot_loop
from warplens.code.operands import flow
from warplens.code.sass import machine_code

GENERATIONS = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (12, 0))
OPS = ("transpose", "total", "softmax", "bias_gelu", "matmul")


def compiled(function, arguments, capability):
    types = tuple(typeof(getattr(value, "memory", value)) for value in arguments)
    function = getattr(function, "py_func", function)
    with pretended(cuda, capability):
        ptx, _ = cuda.compile(
            function, types, cc=capability, device=False, abi="numba", lineinfo=True
        )
    return machine_code(ptx, capability)


def known(opcode):
    return opcode.split(".")[0] in pipes.PIPE or opcode.startswith("U")


def check_kernels(traces, generations):
    """Every instruction of what was launched is known, and comes from a line."""
    kernels = {one.launch.function: one.launch.arguments for one in traces}
    for function, arguments in kernels.items():
        for capability in generations:
            code = compiled(function, arguments, capability)
            assert code.capability == capability
            assert code.registers > 0 and code.local == code.spills == 0
            assert [one.opcode for one in code.instructions if not known(one.opcode)] == []
            assert all(one.line for one in code.instructions)
            assert all(one.target is not None for one in code.instructions if "BRA" in one.opcode)


def test_every_instruction_of_a_transpose_is_known_and_has_a_line(launches_of):
    check_kernels(launches_of(gpulessons.transpose.versions["CUDA, padded tile"]), ((9, 0),))


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPS)
def test_every_instruction_is_known_on_every_generation(name, launches_of):
    for version in getattr(gpulessons, name).versions.values():
        if version.backend is gpu:
            needs = (8, 0) if "TF32" in version.name else (7, 5)
            check_kernels(launches_of(version), [each for each in GENERATIONS if each >= needs])


FLOWS = (
    ("FFMA R0, R1.reuse, -R2, |R3|", "R1 R2 R3", "R0"),
    ("LDG.E.128.CONSTANT R4, desc[UR6][R2.64+0x10]", "UR6 UR7 R2 R3", "R4 R5 R6 R7"),
    ("LDG.E.SYS R4, [R2]", "R2 R3", "R4"),
    ("LDG.E.SYS R4, [R2.U32+UR8]", "R2 UR8 UR9", "R4"),
    ("STG.E.64 desc[UR4][R2.64], R8", "UR4 UR5 R2 R3 R8 R9", ""),
    ("LDS.U.64 R8, [R2+UR4]", "R2 UR4", "R8 R9"),
    ("STS.U16 [R2.X4], R3", "R2 R3", ""),
    ("IMAD.WIDE.U32 R2, R4, 0x4, R6", "R4 R6 R7", "R2 R3"),
    ("IMAD.WIDE.U32 R2, P1, R4, R5, R6", "R4 R5 R6 R7", "R2 R3 P1"),
    ("IMAD.X R2, RZ, RZ, R3, P0", "R3 P0", "R2"),
    ("IADD3 R2, P0, P1, R4, R5, RZ", "R4 R5", "R2 P0 P1"),
    ("IADD3.X R2, R4, R5, RZ, P0, !PT", "R4 R5 P0", "R2"),
    ("ISETP.GE.OR.EX P0, PT, R3, UR4, P1, P0", "R3 UR4 P1 P0", "P0"),
    ("ISETP.GE.S64.AND P0, PT, R2, UR4, PT", "R2 R3 UR4 UR5", "P0"),
    ("LOP3.LUT P0, RZ, R2, 0x3, RZ, 0xc0, !PT", "R2", "P0"),
    ("SEL R2, R3, RZ, !P0", "R3 P0", "R2"),
    ("DFMA R2, R4, -R6, 1", "R4 R5 R6 R7", "R2 R3"),
    ("F2F.F64.F32 R2, R4", "R4", "R2 R3"),
    ("F2I.S64.TRUNC R2, R4", "R4", "R2 R3"),
    ("SHFL.BFLY PT, R2, R3, 0x10, 0x1f", "R3", "R2"),
    ("VOTE.ANY R2, PT, P0", "P0", "R2"),
    ("ATOMG.E.ADD.64.STRONG.GPU PT, R2, desc[UR4][R6.64], R8", "UR4 UR5 R6 R7 R8 R9", "R2 R3"),
    ("SHF.R.U64 R2, R3, 0x1, R4", "R3 R4", "R2"),
    ("CS2R R2, SRZ", "", "R2 R3"),
    ("BRA.U !UP0, `(.L_x_1)", "UP0", ""),
    ("MOV R2, c[0x0][0x28]", "", "R2"),
    ("R2UR UR4, R2", "R2", "UR4"),
)


def test_registers_are_named_one_by_one():
    for text, reads, writes in FLOWS:
        read, written = flow(*text.split(" ", 1))
        assert (" ".join(read), " ".join(written)) == (reads, writes), text


NAMES = (
    ("LDG.E.128.CONSTANT", ("load/store", "global", "read", 16)),
    ("LDG.E.U8", ("load/store", "global", "read", 1)),
    ("STS.64", ("load/store", "shared", "write", 8)),
    ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", ("load/store", "global", "atomic", 4)),
    ("LDSM.16.M88.4", ("load/store", "shared", "read", 16)),
    ("ULDC.64", ("uniform", "constant", "read", 8)),
    ("STL", ("load/store", "local", "write", 4)),
    ("FFMA.RM", ("fp32", "", "", 0)),
    ("IMAD.MOV.U32", ("imad", "", "", 0)),
    ("IADD3.X", ("alu", "", "", 0)),
    ("MUFU.RSQ", ("sfu", "", "", 0)),
    ("DSETP.GEU.AND", ("fp64", "", "", 0)),
    ("F2F.F64.F32", ("fp64", "", "", 0)),
    ("F2F.F32.F64", ("fp64", "", "", 0)),
    ("F2I.S64.TRUNC", ("fp64", "", "", 0)),
    ("I2F.RP", ("sfu", "", "", 0)),
    ("UIADD3", ("uniform", "", "", 0)),
    ("HMMA.1688.F32.TF32", ("tensor", "", "", 0)),
    ("BAR.SYNC.DEFER_BLOCKING", ("control", "", "", 0)),
)


def test_a_name_tells_the_pipe_and_what_is_moved():
    asked = pipes.pipe_of, pipes.space_of, pipes.access_of, pipes.bytes_of
    for opcode, answers in NAMES:
        assert tuple(ask(opcode) for ask in asked) == answers, opcode


@cuda.jit
def twice_around(x, out):
    for i in range(x.shape[0]):
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k]
        out[i] = total


def test_loops_are_found_with_those_inside_them():
    x = np.ones((4, 4), np.float32)
    code = compiled(twice_around, (x, x[0]), (8, 6))
    (inner,) = (loop for loop in code.loops if loop.depth == 2)  # beside one for empty rows
    (outer,) = (
        a for a in code.loops if a.first <= inner.first and inner.last <= a.last != inner.last
    )
    assert outer.depth == 1
    first = twice_around.py_func.__code__.co_firstlineno
    inside = code.instructions[inner.first : inner.last + 1]
    assert {one.line for one in inside if one.opcode == "FADD"} == {first + 5}
    assert not [one for one in inside if one.access == "write"]
    for loop in code.loops:
        end = code.instructions[loop.last]
        assert end.target == code.instructions[loop.first].address


def test_cubins_of_cuda_cpp_are_read_with_the_lines_of_inlined_functions():
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    source = """__device__ __forceinline__ float cube(float x) {
        return x * x * x;
    }
    extern "C" __global__ void a(float *x) {
        x[threadIdx.x] =
            cube(x[threadIdx.x]);
    }
    extern "C" __global__ void b(float *x) { x[0] = x[1] / x[2]; }"""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"cubes.cu", 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 2, [b"--gpu-architecture=sm_86", b"-lineinfo"])
    cubin = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, cubin)
    with pytest.raises(ValueError, match="Say which kernel: this machine code holds"):
        sass.disassembled(cubin)
    with pytest.raises(ValueError, match="No kernel is called 'c'"):
        sass.disassembled(cubin, "c")
    code = sass.disassembled(cubin, "a")
    assert {one.line for one in code.instructions if one.opcode == "FMUL"} == {2}
    assert {one.kernel_line for one in code.instructions if one.opcode == "FMUL"} == {6}
    assert all(one.file.endswith("cubes.cu") for one in code.instructions)
    called = [one for one in sass.disassembled(cubin, "b").instructions if one.function]
    assert called and {one.kernel_line for one in called} == {None}  # the slow way to divide


RARE = """
.L_x_0:
    /*0000*/    FADD R1, R1, R2 ;
    /*0010*/    @P0 BRA `(.L_x_1) ;
.L_x_2:
    /*0020*/    FADD R1, R1, R2 ;
    /*0030*/    @P1 BRA `(.L_x_0) ;
    /*0040*/    EXIT ;
.L_x_1:
    /*0050*/    MUFU.RCP R1, R1 ;
    /*0060*/    BRA `(.L_x_2) ;
"""
NESTED = """
.L_x_0:
    /*0000*/    MUFU.RCP R3, R1 ;
    /*0010*/    FADD R3, R3, R2 ;
.L_x_1:
    /*0020*/    FFMA R4, R3, R2, R4 ;
    /*0030*/    @P0 BRA `(.L_x_1) ;
    /*0040*/    @P1 BRA `(.L_x_0) ;
    /*0050*/    EXIT ;
"""


def code_of(listing):
    instructions, labels = sass.read(listing)
    return sass.Code("k", (8, 6), instructions, labels, 8, 0, 0, 0)


def test_a_jump_back_from_the_rare_case_is_no_loop():
    assert code_of(RARE).loops == (sass.Loop(0, 3, 1),)


def test_the_hot_loop_is_one_that_holds_no_other():
    code = code_of(NESTED)
    assert code.loops == (sass.Loop(0, 4, 1), sass.Loop(2, 3, 2))
    assert hot_loop(code) == sass.Loop(2, 3, 2)
