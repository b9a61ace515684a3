"""Grading: an op or exercise and an attempt come in; a verdict in words goes out.

Read `check` first; `diagnosis` finds the words for what is wrong, and `counted_products` are arrays
that tell which products were made of them.
"""
