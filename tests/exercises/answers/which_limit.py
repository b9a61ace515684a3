"""Answers to `which_limit`: its solution with one edit each."""

DRAM = "32 * sectors / (gpu.dram_rate * gpu.dram_share)"
PATH = "32 * requests / (gpu.lsu_lanes * clocks)"
BOTH = "return bounds[name], name"

wrong = [
    (BOTH, "return sum(bounds.values()), name", "it adds them"),
    (BOTH, "return sum(t**3 for t in bounds.values()) ** (1 / 3), name", "it mixes them"),
    ("max(bounds", "min(bounds", "the smallest"),
    (BOTH, "return max(bounds.values()), 'FP32'", "the time of DRAM and the name of FP32"),
    (BOTH, "return bounds['FP32'], name", "the time of FP32 and the name of DRAM"),
    (BOTH, "return sorted(bounds.values())[1], sorted(bounds, key=bounds.get)[1]", "left out"),
    (DRAM, DRAM.replace("32", "4"), "4 bytes a sector"),
    (DRAM, DRAM.replace("32 *", ""), "sectors, not bytes"),
    (DRAM, DRAM.replace("32", "128"), "128 bytes a sector"),
    (DRAM, DRAM.replace(" * gpu.dram_share", ""), "the data sheet's"),
    (DRAM, DRAM.replace("dram_share", "dram_share * gpu.multiprocessors"), "one memory for all"),
    ("flops / 2", "flops", "counts as two"),
    (" * gpu.fp32_share", "", "not all lanes"),
    (PATH, PATH.replace("32 *", ""), "a request is of 32 threads"),
    (PATH, "requests / clocks", "a request a clock"),
    (PATH, PATH.replace("gpu.lsu_lanes * ", ""), "several threads a clock"),
    (PATH, PATH.replace("lsu_lanes", "fp32_lanes"), "the lanes of FP32"),
    (PATH, PATH.replace("lsu_lanes", "lsu_lanes * gpu.fp32_share"), "of the FP32 lanes"),
    ("gpu.boost * gpu.multiprocessors", "gpu.boost", "one multiprocessor alone"),
    ("gpu.boost *", "gpu.base *", "the base clock"),
    ("gpu.boost * gpu.multiprocessors", "1", "not seconds"),
    ("gpu.boost * gpu.multiprocessors", "gpu.multiprocessors", "clocks, not seconds"),
    ('"load/store path"', '"LSU"', "none of the three bounds"),
    (BOTH, "return name", "two things are due"),
    (BOTH, "return name, bounds[name]", "no time in seconds"),
    (BOTH, "return bounds[name] if gpu.name != 'yours' else 1e-3, name", "is the largest, and"),
    (BOTH, "pass", "two things are due"),
]
right = [
    (BOTH, "return [bounds[name], name]"),
    ("    name = max(bounds, key=bounds.get)\n    return bounds[name], name",
     "    return max((seconds, name) for name, seconds in bounds.items())"),
    (DRAM, "sectors / gpu.dram_rate / gpu.dram_share * 32"),
]  # fmt: skip
