"""In: the log of one launch. Out: a `Trace`, its counts and races as values, tables and
pictures."""
