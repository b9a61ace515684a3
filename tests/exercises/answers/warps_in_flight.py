"""Answers to `warps_in_flight`: its solution with one edit each."""

RETURN = "ceil(in_flight / gpu.multiprocessors / bytes_of_a_warp)"
REACHED = "gpu.dram_rate * gpu.dram_share"
IN_FLIGHT = f"{REACHED} * gpu.dram_latency / gpu.boost"

wrong = [
    (" / gpu.multiprocessors", "", "so many warps does the whole GPU need"),
    (" / gpu.boost", "", "in clocks, for seconds"),
    (" / gpu.boost", " / 1e9", "nanoseconds"),
    ("gpu.boost", "gpu.base", "the base clock"),
    (RETURN, RETURN.replace("ceil", "int"), "DRAM still waits"),
    (RETURN, RETURN.replace("ceil", "round"), "DRAM still waits"),
    (RETURN, RETURN.replace("ceil", ""), "no number of warps"),
    (RETURN, f"32 * {RETURN}", "so many threads"),
    (RETURN, RETURN.replace("ceil(", "ceil(32 * "), "so many threads"),
    (RETURN, RETURN.replace("bytes", "32 / bytes"), "already is a whole warp's"),
    (" / bytes_of_a_warp", "", "so many bytes, and no warps"),
    (" / bytes_of_a_warp", " / 4", "or numbers of 4 bytes"),
    (" / gpu.multiprocessors / bytes_of_a_warp", "", "so many bytes does the whole GPU"),
    (RETURN, "in_flight * gpu.boost", "no warps yet"),
    (" * gpu.dram_share", "", "the data sheet's"),
    ("gpu.dram_latency", "gpu.l2_latency", "how long L2 takes"),
    (REACHED, "gpu.l2_rate", "as L2 gives"),
    (f"{REACHED} * gpu.dram_latency", "gpu.l2_rate * gpu.l2_latency", "keep L2 busy"),
    (RETURN, "12", "for every GPU"),
    (RETURN, "41 if gpu.name == 'A100' else 12", "is due"),
    (RETURN, RETURN.replace("bytes_of_a_warp", "128"), "that is for 128 bytes"),
    (IN_FLIGHT, "320e9 * 0.69 * 434 / 1.59e9", "is due"),
    (f"return {RETURN}", "pass", "None is not a number"),
    (RETURN, f"str({RETURN})", "is not a number"),
]
right = [
    (RETURN, f"float({RETURN})"),
    (RETURN, "-int(-in_flight // gpu.multiprocessors // bytes_of_a_warp)"),
    (IN_FLIGHT, f"gpu.dram_latency / gpu.boost * {REACHED}"),
    (RETURN, f"np.{RETURN}"),
]
