"""A program for the tests that cannot even be imported."""

broken = 1 / 0
