"""Answers to `judge_a_claim`: its solution with one edit each."""

wrong = [
    (' if kind in ("live", "recorded")]', "]", "stands beside"),
    ('kind in ("live", "recorded")', 'kind == "live"', "may decide"),
    ('kind in ("live", "recorded")', 'kind != "published"', "a model is no measurement"),
    ('    if not faster:\n        return "not testable here"\n', "", "nothing is known"),
    ('return "not testable here"', 'return "refuted"', "nothing is known"),
    ("    if all(faster):", "    if faster[0]:", "it is true of some"),
    ("    if all(faster):", "    if faster[-1]:", "the order of the figures says nothing"),
    ('"holds with limits" if any(faster) else "refuted"', '"refuted"', "it is true of some"),
    ('"holds with limits" if any(faster) else "refuted"', '"holds with limits"', "none is faster"),
    ("gpu < cpu", "gpu <= cpu", "a tie is not faster"),
    ("gpu < cpu", "gpu > cpu", "both networks are faster"),
    ('"holds with limits" if', '"partly" if', "none of the four words"),
    ("    if all(faster):", "    if all(fast):", "NameError"),
]
right = [
    ('kind in ("live", "recorded")', 'kind not in ("published", "modelled")'),
    ("    if all(faster):", "    if sum(faster) == len(faster):"),
    ("    if not faster:", "    if len(faster) == 0:"),
]
