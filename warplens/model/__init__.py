"""How long a kernel would take on a GPU that is not here: modelled, with an interval and a reason.

    modelled(kernel, on="A100")[grid, block](x, y)

Time is the largest of a few bounds: what must be issued, computed, moved, waited for. Each is a
count (from the microscope, and from the machine code that NVIDIA's own compiler makes of the
kernel) over a rate (from a data sheet or a microbenchmark). Where to read on:

    devices      the GPUs, and where each of their figures comes from
    occupancy    how many blocks a multiprocessor holds, and what limits them
    sampling     three blocks of a large grid, traced; what neighbors share
    rounds       how often each machine instruction runs;  costs: what a warp costs each unit
    waiting      one warp walked through its instructions: latency
    bounds       counts over rates, in seconds
    modelling    all of it: `modelled`;  value: what it answers;  versions: of an op
    kept         what the taught kernels' answers were, for pages that cannot wait
    advice       what a profiler would advise, from counts alone
    published    what others measured, and how far the model is from that
    confirming   how wrong it all was where a GPU could be asked;  present: which GPU that was
"""
