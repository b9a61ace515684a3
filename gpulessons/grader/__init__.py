"""Grading: an op or exercise and an attempt come in; a verdict in words goes out.

Read `check` first. `diagnosis` finds the words for a wrong answer, `waste` those for one that is
right and costs too much, `answers` compares plain functions, and `ownership` tells the learner's
work from the course's and from a stub.
"""

SAVED = "application/vnd.gpulessons.verdict+json"  # a Verdict among the kinds of a cell's output
