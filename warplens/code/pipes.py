"""Which part of a multiprocessor carries an instruction out, and what it moves: by its name.

A multiprocessor has a unit ("pipe") for each kind of work. FFMA and IMAD are multiply-adds of
floats and of integers; "sfu" is the special function unit with its sines, roots and conversions.
Conversions from and to 64-bit types are no faster than double precision, which most GPUs ration:
the CUDA C++ Programming Guide's table gives both the same rate there (4 a clock on 5.x and 6.1).
"""

PIPES = {
    "fp32": "FADD FMUL FFMA FADD32I FMUL32I FFMA32I FADD2 FMUL2 FFMA2 FSWZADD FHADD FHFMA "
    "HADD2 HMUL2 HFMA2 HADD2_32I HMUL2_32I HFMA2_32I",
    "imad": "IMAD IDP IMUL",
    "alu": "IADD3 IADD IADD32I VIADD LOP3 LOP LOP32I PLOP3 LEA SHF SHL SHR ISETP FSETP PSETP "
    "HSETP2 HSET2 FSET SEL FSEL MNMX FMNMX FMNMX3 IMNMX VIMNMX VIMNMX3 VIADDMNMX VABSDIFF "
    "VABSDIFF4 HMNMX2 VHMNMX MOV MOV32I PRMT BMSK SGXT IABS FCHK CS2R P2R R2P VOTE I2FP F2FP I2IP "
    "F2IP LEPC ISCADD",
    "fp64": "DADD DMUL DFMA DSETP DMNMX",
    "sfu": "MUFU I2F F2I F2F FRND POPC FLO BREV I2I",
    "load/store": "LDG STG LDS STS LDL STL LD ST LDC LDSM STSM MOVM ATOM ATOMS ATOMG RED REDG "
    "REDAS LDGSTS SHFL MATCH CCTL CCTLL LDGDEPBAR SYNCS STAS REDUX CREDUX",
    "control": "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BSSY BSYNC BREAK BMOV BAR B2R NOP "
    "WARPSYNC WARPSYNC_COLLECTIVE YIELD NANOSLEEP DEPBAR MEMBAR ERRBAR RPCMOV KILL BPT PREEXIT "
    "ACQBULK ELECT ENDCOLLECTIVE CGAERRBAR FENCE PMTRIG RTT",
    "uniform": "S2UR R2UR LDCU VOTEU",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA WARPGROUP",
    "other": "S2R",
}
PIPE = {name: pipe for pipe, names in PIPES.items() for name in names.split()}
SPACES = {
    "global": "LDG STG ATOMG RED REDG LD ST ATOM LDGSTS",  # LD and ST may go anywhere
    "shared": "LDS STS ATOMS LDSM STSM",
    "local": "LDL STL",
    "constant": "LDC LDCU ULDC",
}
SPACE = {name: space for space, names in SPACES.items() for name in names.split()}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "F64": 8, "128": 16, "256": 32}


CONVERSIONS = "I2F", "F2I", "F2F", "FRND"


def pipe_of(opcode: str) -> str:
    """The pipe of an instruction; those on registers that a whole warp shares begin with U."""
    base, *modifiers = opcode.split(".")
    if base in CONVERSIONS and not {"F64", "S64", "U64"}.isdisjoint(modifiers):
        return "fp64"
    return PIPE.get(base, "uniform" if base.startswith("U") else "other")


def space_of(opcode: str) -> str:
    return SPACE.get(opcode.split(".")[0], "")


def access_of(opcode: str) -> str:
    """ "read", "write", "atomic", or "" where no memory is used."""
    base = opcode.split(".")[0]
    if base not in SPACE:
        return ""
    if base.startswith(("ATOM", "RED")):
        return "atomic"
    return "write" if base.startswith("ST") else "read"


def bytes_of(opcode: str) -> int:
    """What each thread moves: 4 bytes where no modifier says otherwise; 0 if it moves none."""
    base, *modifiers = opcode.split(".")
    if base not in SPACE:
        return 0
    if base in ("LDSM", "STSM"):  # an 8 × 8 matrix of 16 bits is four bytes a thread
        return 4 * int(modifiers[-1]) if modifiers[-1] in "24" else 4
    return next((WIDTHS[one] for one in modifiers if one in WIDTHS), 4)
