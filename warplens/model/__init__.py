"""How long a kernel would take on a GPU that is not here: modelled, with an interval and a reason.

    modelled(kernel, on="A100")[grid, block](x, y)

Time is the largest of a few bounds: what must be issued, computed, moved, waited for. Each is a
count (from the microscope, and from the machine code that NVIDIA's own compiler makes of the
kernel) over a rate (from a data sheet or a microbenchmark). Where to read on:

    devices      the GPUs; devices.toml: each of their figures beside its source
    occupancy    how many blocks a multiprocessor holds, and what limits them
    sampling     three blocks of a large grid, traced; what neighbors share
    rounds       how often each machine instruction runs;  costs: what a warp costs each unit
    waiting      one warp walked through its instructions: latency
    bounds       counts over rates, in seconds
    modelling    all of it: `modelled`;  value: what it answers
    published    what others measured, and how far the model is from that
"""
