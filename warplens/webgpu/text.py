"""WGSL that many kernels need: what a module calls of the library is written into it."""

import re
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).with_name("library.wgsl").read_text(encoding="utf-8")
FUNCTION = r"(?ms)^(?:var[^\n]*\n|@[^\n]*\n)*fn (\w+)\(.*?^}\n"
PIECES = {found[1]: found[0] for found in re.finditer(FUNCTION, LIBRARY)}


def filled(text: str, words: dict[str, Any]) -> str:
    """The text with these words in it replaced."""
    for word, instead in words.items():
        text = text.replace(word, str(instead))
    return text


def completed(code: str, words: dict[str, Any]) -> str:
    """A kernel's functions with the entry point and all that they call of the library."""
    found = {"main": filled(PIECES["main"], words)}
    more = code
    while more:
        called = [n for n in PIECES if n not in found and re.search(rf"\b{n}\(", more)]
        found |= {name: filled(PIECES[name], words) for name in called}
        more = "".join(found[name] for name in called)
    return "\n".join([*found.values(), code])


SOURCES = {  # of a shuffle: the lane it reads
    "shfl_sync": "STEP",
    "shfl_xor_sync": "((lin & 31) ^ STEP)",
    "shfl_up_sync": "select((lin & 31) - STEP, lin & 31, (lin & 31) < STEP)",
    "shfl_down_sync": "select((lin & 31) + STEP, lin & 31, (lin & 31) + STEP > 31)",
}
VOTES = {
    "ballot_sync": "votes_of(lin, MINE)",
    "any_sync": "(votes_of(lin, MINE) != 0u)",
    "all_sync": "(votes_of(lin, MINE) == whole(lin))",
}
FLOAT_ATOMIC = """fn NAME(at: i32, v: f32) -> f32 {
    var old = atomicLoad(&ROOT[at]);
    loop {
        let a = bitcast<f32>(old);
        let done = atomicCompareExchangeWeak(&ROOT[at], old, bitcast<u32>(CHANGE));
        if (done.exchanged) { break; }
        old = done.old_value;
    }
    return bitcast<f32>(old);
}"""
FLOAT_CHANGES = {"add": "a + v", "sub": "a - v", "max": "max(a, v)", "min": "min(a, v)"}
BITS = {"popc": "countOneBits(X)", "ffs": "(i32(firstTrailingBit(u32(X))) + 1)"}
ATOMICS = {"add": "Add", "sub": "Sub", "max": "Max", "min": "Min", "and_": "And", "or_": "Or",
           "xor": "Xor"}  # fmt: skip
