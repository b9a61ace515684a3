"""Answers to `break_even_calls`: its solution with one edit each."""

wrong = [
    ("(eager - compiled))", "compiled)", "What counts is what a call saves"),
    ("(eager - compiled))", "eager)", "the compiled ones take time too"),
    ("ceil(compiling / (eager - compiled))", "compiling // (eager - compiled)", "round up"),
    ("ceil(compiling / (eager - compiled))", "compiling / (eager - compiled)", "a fraction of"),
    ("(eager - compiled))", "(eager - compiled)) + 1", "one call too many"),
    ("    if compiled >= eager:\n        return None\n", "", "equal times, so it never pays"),
    ("if compiled >= eager:\n        return None", "len(compiling)", "It raised TypeError"),
    (">= eager", "== eager", "never pays"),
    (">= eager", "> eager", "equal times, so it never pays"),
    ("return None", "return 0", "never pays"),
    ("return ceil(compiling / (eager - compiled))", "pass", "the answer was None"),
    ("ceil(compiling / (eager - compiled))", "str(compiling)", "not a number of calls"),
    ("ceil(compiling / (eager - compiled))", "24_000", "is due"),
]
right = [
    ("return None", 'return float("inf")'),
    ("ceil(compiling / (eager - compiled))", "-(compiling // (compiled - eager))"),
    ("    if compiled >= eager:\n        return None\n    return ceil(compiling / "
     "(eager - compiled))",
     "    gain = eager - compiled\n    return ceil(compiling / gain) if gain > 0 else None"),
]  # fmt: skip
