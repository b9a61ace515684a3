"""What really runs when PyTorch runs: a step comes in, a Profile of one typical step goes out.

Read in this order: `recorder` (a step under torch.profiler), `spans` (what the profiler saw, as
bars with a beginning and an end), `split` (every instant of the step belongs to one of four kinds),
`owners` (whose code an operator or a kernel is), `result` (the Profile),
`timeline` (its picture). Beside them `libraries` hears from oneDNN and MKL what they ran, and
`calls` measures what it costs to ask anybody for next to nothing. A `listing` is a table whose rows
have values.
"""
