"""Grading: an op or exercise and an attempt come in; a verdict in words goes out.

Read `check` first; `ownership` tells the learner's work from the course's and from a stub,
`diagnosis` finds the words for what is wrong, and `counted_products` and `taken_apart` are arrays
that tell which products were made of them, and who goes through them one element at a time.
"""

SAVED = "application/vnd.gpulessons.verdict+json"  # a Verdict among the kinds of a cell's output
