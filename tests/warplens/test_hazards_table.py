"""The page of hazards is honest: a row for every kind, and every test that it names exists."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "hazards.md"

# Every kind in NVIDIA's manual of Compute Sanitizer (docs.nvidia.com/compute-sanitizer), by tool:
# "Supported Error Detection", "Understanding Memcheck Errors", "What are Hazards?", "Racecheck …
# detection", "Initcheck Tool", "Understanding Synccheck Reports", "Synccheck support for …".
KINDS = {
    "memcheck": {
        "Out of bounds access to global memory",
        "Out of bounds access to shared memory",
        "Out of bounds access to local memory",
        "Out of bounds global atomic",
        "Misaligned access",
        "Hardware exception",
        "Double free",
        "Invalid pointer to free",
        "Heap corruption",
        "Device side allocation failure",
        "CUDA API error",
        "cudaMalloc memory leak",
        "Device heap memory leak",
        "Use-before-alloc race",
        "Use-after-free race",
        "Tensor Core MMA error",
    },
    "racecheck": {
        "Write-After-Write hazard",
        "Write-After-Read hazard",
        "Read-After-Write hazard",
        "Invalid memcpy_async synchronization",
        "Cluster late entry race",
        "Cluster early exit race",
        "Deadlock in cuda::barrier",
    },
    "initcheck": {
        "Uninitialized global memory read",
        "Uninitialized shared memory read",
        "Unused shared memory",
        "Unused global memory",
    },
    "synccheck": {
        "Divergent thread(s) in block",
        "Divergent thread(s) in warp",
        "Invalid arguments",
        "cuda::barrier error",
        "Warpgroup MMA sequence error",
    },
}


def rows(width: int) -> list[list[str]]:
    """The cells of the page's tables with so many columns, heads left out."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    tables = [row for row in cells if len(row) == width and not row[0].startswith("---")]
    return [row for row in tables if row[0] not in ("tool", "kind")]


GONE = "caught: `Trace.unused()`"  # rows of the page that wait to be rewritten


def functions_in(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def named(cell: str) -> list[list[str]]:
    return [name.split("::") for name in re.findall(r"`(test_\w+\.py::test_\w+)`", cell)]


def test_every_kind_has_a_row():
    found = [(tool, kind) for tool, kind, *_ in rows(4)]
    assert len(found) == len(set(found))
    assert set(found) == {(tool, kind) for tool, kinds in KINDS.items() for kind in kinds}


def test_what_is_caught_is_planted_by_a_test_and_what_is_not_has_a_reason():
    for *_, here, last in [*rows(4), *rows(3)]:
        assert here.startswith("caught: ") or here == "not applicable"
        assert bool(named(last)) == here.startswith("caught: "), last
        assert last
        for file, name in named(last) if here != GONE else ():
            assert name in functions_in(file), f"{file} has no {name}"
