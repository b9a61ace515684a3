"""Answers to `interleave`: its solution with one edit each."""

wrong = [
    ('"AAABBB", "BBBAAA"', '"AAABBB"', "One is missing"),
    ('"BBBAAA"', '"BBBAAA", "ABABAB"', "ABABAB: both read"),
    ('"BBBAAA"', '"BBBAAA", "AABABB"', "AABABB: both read"),
    ('"BBBAAA"', '"BBBAAA", "AABB"', "three turns each"),
    ('{"AAABBB", "BBBAAA"}', "2", "is no set of orders"),
    ('"AAABBB", "BBBAAA"', "...", "nothing in it"),
    ('"AAABBB", "BBBAAA"', '"aaabbb", "bbbaaa"', "is none of the 20"),
    ('{"AAABBB", "BBBAAA"}', '"AAABBB"', "is no set of orders"),
]
right = [
    ('{"AAABBB", "BBBAAA"}', '["BBBAAA", "AAABBB", "BBBAAA"]'),
    ('{"AAABBB", "BBBAAA"}', 'frozenset(["AAABBB", "BBBAAA"])'),
    ('{"AAABBB", "BBBAAA"}', 'dict.fromkeys(["AAABBB", "BBBAAA"]).keys()'),
]
