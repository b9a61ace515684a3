"""Measuring: an op and its versions come in; timings that can be trusted go out.

Read in this order: `timings` (the harness, from above), `problem` (what is computed), `rounds` (how
one version is run, in turn with the others), `results` (what was measured, as values), `compare`
(all of it with a progress bar), `on_paper` (where no GPU was measured), `recordings` (the same from
other machines), `side_by_side` (several machines in one table), `peak_memory`. What is no op is
timed by `gpulessons.hardware.timer`, whose loop this one is built on.
"""
